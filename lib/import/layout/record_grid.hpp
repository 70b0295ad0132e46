// RecordGrid: positions of records in files, found by a number that runs through the layers of the
// model repeatedly. Source: layout_method.md 2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "import/layout/samples.hpp"

namespace msprof::layout {

// A number that distinguishes record types. `shift` is relative to the layer number.
struct TypeTag {
  std::ptrdiff_t shift = 0;
  std::size_t width = 4;
  std::uint64_t value = 0;
  std::size_t values = 0;  // number of distinct values in all records; few if it is a pure tag
};

struct RecordGrid {
  std::size_t record_bytes = 0;
  std::size_t anchor = 0;  // offset of the first layer number in a file
  std::size_t layer_width = 4;
  std::optional<TypeTag> tag;
  std::vector<std::uint64_t> other_tags{};  // tags of other record types that occur repeatedly
  // Offset of the layer number in its record, if the file length determines it.
  std::optional<std::size_t> layer_offset{};
};

// A record of a layer. `at` is the offset of its layer number in the file.
struct LayerRecord {
  const FileSample* sample = nullptr;
  std::size_t at = 0;
  std::size_t layer = 0;      // index into FileSample::layers
  std::size_t execution = 0;  // number of previous executions in this file
};

// Grids without a tag that fit `sample`, smallest record first.
std::vector<RecordGrid> plain_grids(const FileSample& sample);

// Grids whose records are selected by a tag. `record_bytes` 0: any size.
std::vector<RecordGrid> tagged_grids(const FileSample& sample, std::size_t record_bytes = 0);

// Layer records of all samples that the grid fits; empty if it does not fit the first one.
std::vector<LayerRecord> list_records(const RecordGrid& grid, std::span<const FileSample> samples);

// Reads one 32-bit number per record, at `shift` from the layer number. Returns false if it is
// outside a file.
bool read_lane(std::span<const LayerRecord> records, std::ptrdiff_t shift,
               std::vector<std::uint32_t>& values);

}  // namespace msprof::layout
