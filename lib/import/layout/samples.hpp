// What the search for a layout looks at: bytes of data files whose records are of one unknown
// layout, and what is known beside them. For import/layout. layout_method.md 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace msprof::layout {

// A layer as layer.info, and a file of shapes, tell it.
struct LayerFacts {
  std::int64_t id = 0;
  std::string type;  // "Convolution"; empty: unknown
  std::string name;
  // Of --model-info; absent: not known.
  std::optional<std::uint64_t> read_bytes;  // weights and inputs
  std::optional<std::uint64_t> written_bytes;
};

// Begin and end that a `.done` file gives, in a unit that is not known.
using DoneWindow = std::pair<std::uint64_t, std::uint64_t>;

// One data file.
struct Sample {
  std::string name;
  std::vector<std::byte> bytes;            // of a long file the beginning
  std::vector<std::byte> tail;             // and the last bytes
  std::uint64_t size_bytes = 0;            // of the file
  std::optional<std::uint64_t> whole_len;  // file_len of its `.done`
  std::optional<DoneWindow> window;        // of its own `.done`
  std::vector<DoneWindow> other_windows;   // of other files of the capture, which may enclose it
  std::vector<LayerFacts> layers;          // in their order; on the cores only, where that is known
  std::optional<std::int64_t> core_hz;     // of info.json
};

// Little-endian number of `width` bytes at `at`; the caller keeps it within the bytes.
inline std::uint64_t number_in(const std::vector<std::byte>& bytes, std::size_t at,
                               std::size_t width) {
  std::uint64_t value = 0;
  for (std::size_t i = width; i > 0; --i)
    value = value << 8 | std::to_integer<std::uint64_t>(bytes[at + i - 1]);
  return value;
}

inline std::uint64_t number_at(const Sample& sample, std::size_t at, std::size_t width) {
  return number_in(sample.bytes, at, width);
}

}  // namespace msprof::layout
