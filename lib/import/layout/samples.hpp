// Input of the layout search: bytes of data files whose records have one unknown layout, and facts
// about them. Source: layout_method.md 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace msprof::layout {

// A layer as described by layer.info and a file of shapes.
struct LayerFacts {
  std::int64_t id = 0;
  std::string type;  // for example "Convolution"; empty if unknown
  std::string name;
  std::optional<std::uint64_t> info_offset;  // of its line in layer.info
  // From --model-info; absent if unknown.
  std::optional<std::uint64_t> read_bytes;  // weights and inputs
  std::optional<std::uint64_t> written_bytes;
};

// Start and end from a `.done` file, in an unknown unit.
using DoneWindow = std::pair<std::uint64_t, std::uint64_t>;

// One data file.
struct FileSample {
  std::string name;
  std::string path;
  std::vector<std::byte> bytes;            // the first bytes, if the file is long
  std::vector<std::byte> tail;             // the last bytes of a long file
  std::uint64_t size_bytes = 0;            // size of the whole file
  std::optional<std::uint64_t> whole_len;  // file_len in its `.done` file
  std::optional<DoneWindow> window;        // from its own `.done` file
  std::vector<DoneWindow> other_windows;   // from other files of the capture; these may enclose it
  std::vector<LayerFacts> layers;          // in execution order; without layers of other kinds
  std::optional<std::int64_t> core_hz;     // from info.json

  bool is_read_whole() const { return bytes.size() == size_bytes; }
};

// Reads a little-endian number of up to 8 bytes. The caller checks the bounds.
inline std::uint64_t number_in(const std::vector<std::byte>& bytes, std::size_t at,
                               std::size_t width) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + at, width);
  return value;
}

// A record in a file.
struct Place {
  const FileSample* sample = nullptr;
  std::size_t at = 0;
};
using Places = std::vector<Place>;

inline std::uint64_t number_at(const Place& place, std::size_t offset, std::size_t width) {
  return number_in(place.sample->bytes, place.at + offset, width);
}

}  // namespace msprof::layout
