// Input of the layout search: bytes of data files whose records have one unknown layout, and facts
// about them. Source: layout_method.md 1.
#pragma once

#include <cstddef>
#include <cstdint>
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
  // From --model-info; absent if unknown.
  std::optional<std::uint64_t> read_bytes;  // weights and inputs
  std::optional<std::uint64_t> written_bytes;
};

// Start and end from a `.done` file, in an unknown unit.
using DoneWindow = std::pair<std::uint64_t, std::uint64_t>;

// One data file.
struct FileSample {
  std::string name;
  std::vector<std::byte> bytes;            // the first bytes, if the file is long
  std::vector<std::byte> tail;             // the last bytes of a long file
  std::uint64_t size_bytes = 0;            // size of the whole file
  std::optional<std::uint64_t> whole_len;  // file_len in its `.done` file
  std::optional<DoneWindow> window;        // from its own `.done` file
  std::vector<DoneWindow> other_windows;   // from other files of the capture; these may enclose it
  std::vector<LayerFacts> layers;          // in execution order; without CPU layers, if known
  std::optional<std::int64_t> core_hz;     // from info.json
};

// Reads a little-endian number of `width` bytes. The caller checks the bounds.
inline std::uint64_t number_in(const std::vector<std::byte>& bytes, std::size_t at,
                               std::size_t width) {
  std::uint64_t value = 0;
  for (std::size_t i = width; i > 0; --i)
    value = value << 8 | std::to_integer<std::uint64_t>(bytes[at + i - 1]);
  return value;
}

inline std::uint64_t number_at(const FileSample& sample, std::size_t at, std::size_t width) {
  return number_in(sample.bytes, at, width);
}

}  // namespace msprof::layout
