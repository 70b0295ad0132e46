// Frames: where the records of files start. Source: layout_method.md 2.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "import/layout/samples.hpp"

namespace msprof::layout {

// Executions that have a header: each has `header_bytes`, then its records. Their number is always
// `records`, or the number at `count_offset` of the header.
struct Blocks {
  std::size_t header_bytes = 0;
  std::size_t records = 0;
  std::size_t count_offset = 0;
  std::size_t count_width = 0;  // 0: always `records`
};

struct Frame {
  std::size_t record_bytes = 0;
  std::size_t header_bytes = 0;
  std::optional<Blocks> blocks;
  bool fits_length = false;  // the files end with a whole record
  double bits = 0;           // how likely the header is, by its size and its bytes
};

// Record sizes at which bytes repeat, the most promising first.
std::vector<std::size_t> record_sizes(const std::vector<FileSample>& samples, bool has_layers);

// Frames of plain records of this size, the most likely first. `has_typical_bytes`: later records
// look like the first one.
std::vector<Frame> plain_frames(const std::vector<FileSample>& samples, std::size_t record_bytes,
                                bool has_typical_bytes);

// Bits of a header of this size before its bytes are seen: most are multiples of 16, 8 or 4.
double header_bits(std::size_t header_bytes);

// Whole records within the bytes of the samples. `most`: stops after so many, the same number in
// every file.
Places places_of(const Frame& frame, const std::vector<FileSample>& samples,
                 std::size_t most = SIZE_MAX);

// Visits the records of a file until `visit` returns false. `place_at(at, bytes)` returns the place
// of bytes of the file, or nothing at its end.
template <typename PlaceAt, typename Visit>
void visit_records(const Frame& frame, const PlaceAt& place_at, const Visit& visit) {
  std::uint64_t at = frame.header_bytes;
  while (true) {
    std::uint64_t left = UINT64_MAX;
    if (frame.blocks) {
      const Blocks& blocks = *frame.blocks;
      const auto header = place_at(at, blocks.header_bytes);
      if (!header) return;
      left = blocks.count_width == 0 ? blocks.records
                                     : number_at(*header, blocks.count_offset, blocks.count_width);
      at += blocks.header_bytes;
    }
    for (; left > 0; --left) {
      const auto record = place_at(at, frame.record_bytes);
      if (!record || !visit(*record)) return;
      at += frame.record_bytes;
    }
  }
}

// Bytes at the end that are not part of a whole record.
std::size_t rest_of(const Frame& frame, const FileSample& sample);

}  // namespace msprof::layout
