// RecordGrid: where the records of files lie, found by a number in them that runs through the
// layers of the model again and again. For layout_finder. layout_method.md 2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "import/layout/samples.hpp"

namespace msprof::layout {

// A number that tells records of one type from others; `shift` from the layer number.
struct TypeTag {
  std::ptrdiff_t shift = 0;
  std::size_t width = 4;
  std::uint64_t value = 0;
  std::size_t values = 0;  // that the number has in all records; few where it says nothing else
};

struct RecordGrid {
  std::size_t record_bytes = 0;
  std::size_t anchor = 0;       // byte of the first layer number in a file
  std::size_t layer_width = 4;  // bytes of the layer number
  std::optional<TypeTag> tag;
  std::vector<std::uint64_t> other_tags{};  // of records of other types that come again
  // Of the layer number in its record, where the length of the file tells it.
  std::optional<std::size_t> layer_offset{};
};

// A record of a layer: `at` is the byte of its layer number.
struct LayerRecord {
  const Sample* sample = nullptr;
  std::size_t at = 0;
  std::size_t layer = 0;      // place in Sample::layers
  std::size_t execution = 0;  // times that the layers were run through before, in this file
};

// Grids without a tag that fit `sample`, smallest record first.
std::vector<RecordGrid> plain_grids(const Sample& sample);

// Grids whose records are told by a tag; `record_bytes` 0: of any size.
std::vector<RecordGrid> tagged_grids(const Sample& sample, std::size_t record_bytes = 0);

// The layer records of all samples that the grid fits; empty when it does not fit the first.
std::vector<LayerRecord> records_of(const RecordGrid& grid, std::span<const Sample> samples);

// 32-bit numbers at `shift` from the layer number, one a record; false where that is outside.
bool read_lane(std::span<const LayerRecord> records, std::ptrdiff_t shift,
               std::vector<std::uint32_t>& values);

}  // namespace msprof::layout
