// Columns of numbers at one offset of all records: those that name layers, those that are times,
// and those that divide the records into groups. Source: layout_method.md 3.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "import/layout/samples.hpp"

namespace msprof::layout {

// The number by which records name a layer: its id, its id + 1, the offset of its line in
// layer.info, or a hash of its name. With `order`, the first new number is that of the first layer
// of layer.info, the second one that of the second layer, and so on.
enum class LayerForm { id, from_one, info_offset, crc32, fnv1a, order };

// Maps numbers to positions in FileSample::layers. The samples must outlive it.
class LayerCodes {
 public:
  explicit LayerCodes(const std::vector<FileSample>& samples);
  // Returns -1 for a number that names no layer. Not for LayerForm::order.
  int index(const FileSample* sample, LayerForm form, std::uint64_t number) const;
  std::size_t layers() const { return layers_; }
  // Number of a layer of the first sample; nullopt if it has none.
  std::optional<std::uint64_t> number(LayerForm form, const LayerFacts& layer) const;

 private:
  struct Table {
    std::vector<int> small_ids;  // -1: none
    std::unordered_map<std::uint64_t, int> ids, offsets, crcs, fnvs;
  };
  const FileSample* first_ = nullptr;
  std::vector<Table> tables_;  // by sample
  std::size_t layers_ = 0;     // of the first sample
};

struct LayerColumn {
  std::size_t offset = 0;
  std::size_t width = 4;
  LayerForm form = LayerForm::id;
  std::vector<int> layers;           // one per place; -1: not a layer
  std::size_t valid = 0;             // places with a layer
  std::size_t distinct = 0;          // layers that occur
  double bits = 0;                   // per record: what the previous record tells about the layer
  double quality = 0;                // how many layers occur, in how plain an order
  bool is_counter = false;           // only counts the records of an execution
  bool is_ambiguous = false;         // ids that could also count from one
  std::vector<std::uint64_t> order;  // for LayerForm::order: numbers by layer
};

// The position of the layer that a record names; -1 if none. `sample`: of the record's file.
int layer_of(const LayerColumn& layer, const LayerCodes& codes, const FileSample* sample,
             const Place& place);

// Returns true if the byte differs between some records.
bool varies(const Places& places, std::size_t offset);

// `least_valid`: share of the places that must name a layer. `by_order`: with LayerForm::order.
std::vector<LayerColumn> find_layer_columns(const Places& places, std::size_t record_bytes,
                                            const LayerCodes& codes, double least_valid,
                                            bool by_order);

// Bytes with two to eight values, one group number per place. Bytes that divide the records in the
// same way are given once.
struct GroupColumn {
  std::size_t offset = 0;
  std::vector<std::uint8_t> groups;  // numbers of values in order of appearance
  std::vector<std::uint8_t> values;  // by group
  std::vector<std::size_t> counts;   // by group
};
std::vector<GroupColumn> find_group_columns(const Places& places, std::size_t record_bytes);

// For each place the previous place of the same file and group; none() if there is none.
struct Sequence {
  static constexpr std::size_t none() { return SIZE_MAX; }
  std::vector<std::size_t> previous;
  std::vector<bool> restarts;  // the layers start again at this place
};
Sequence make_sequence(const Places& places, const std::vector<int>& layers,
                       const GroupColumn* groups);

struct TimeColumn {
  std::size_t offset = 0;
  std::size_t width = 8;
  bool is_relative = false;  // starts again with every execution
  bool wraps = false;        // 32 bits, with a wraparound
};
// Columns that rise within every file and group. `may_fall`: half of the steps may go back, a
// little.
std::vector<TimeColumn> find_time_columns(const Places& places, std::size_t record_bytes,
                                          const Sequence& sequence, bool may_fall);

}  // namespace msprof::layout
