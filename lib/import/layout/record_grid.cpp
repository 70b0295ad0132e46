#include "import/layout/record_grid.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

namespace msprof::layout {

namespace {

constexpr std::size_t kMinRecordBytes = 16;
constexpr std::size_t kMaxRecordBytes = 512;
constexpr std::size_t kMaxHeaderBytes = 256;
constexpr std::size_t kStepBytes = 4;   // step between record sizes
constexpr std::size_t kSearched = 400;  // number of records examined per grid
constexpr std::size_t kMaxRecords = 1 << 14;
constexpr std::size_t kMaxTagValues = 6;
constexpr std::size_t kMaxNumberBytes = 8;  // maximum width of a tag or a layer number
constexpr std::size_t kMaxGrids = 256;

// Checks whether a number runs through the ids of the layers.
class LayerCycle {
 public:
  explicit LayerCycle(const FileSample& sample) : sample_(sample) {
    for (std::size_t i = 0; i < sample.layers.size(); ++i) {
      places_.emplace(static_cast<std::uint64_t>(sample.layers[i].id), i);
    }
  }

  bool is_first(std::size_t at, std::size_t width) const {
    return number_at(sample_, at, width) == id(0);
  }
  // Returns true if the number at `at` is the id of layer number `turn`, counted over all
  // executions.
  bool is(std::size_t turn, std::size_t at, std::size_t width) const {
    return number_at(sample_, at, width) == id(turn % places_.size());
  }
  // Enough layers that their order is not a coincidence.
  bool is_usable() const { return places_.size() >= 2 && places_.size() == sample_.layers.size(); }

 private:
  std::uint64_t id(std::size_t place) const {
    return static_cast<std::uint64_t>(sample_.layers[place].id);
  }
  const FileSample& sample_;
  std::map<std::uint64_t, std::size_t> places_;
};

constexpr std::array<std::size_t, 2> kLayerWidths = {4, 2};

bool fits_plain(const FileSample& sample, const LayerCycle& cycle, std::size_t record_bytes,
                std::size_t anchor, std::size_t width) {
  std::size_t turn = 0;
  for (std::size_t at = anchor; at + width <= sample.bytes.size() && turn < kSearched;
       at += record_bytes, ++turn) {
    if (!cycle.is(turn, at, width)) return false;
  }
  // More than one full cycle is needed: any counter matches a single cycle.
  return turn > sample.layers.size();
}

// More than one full cycle, and at least a tenth of the records.
bool is_enough(const FileSample& sample, std::size_t turn, std::size_t seen) {
  return turn > sample.layers.size() && turn * 10 >= seen;
}

// Returns true if the records with the tag run through the layers. `common` is the greatest common
// divisor of the distances between them, in records.
bool fits_tagged(const FileSample& sample, const LayerCycle& cycle, const RecordGrid& grid,
                 std::size_t begin, std::size_t& first, std::size_t& common) {
  const TypeTag& tag = *grid.tag;
  std::size_t turn = 0;
  std::size_t last = 0;
  std::size_t seen = 0;
  common = 0;
  for (std::size_t at = begin;
       at + grid.record_bytes <= sample.bytes.size() + 4 && seen < kSearched;
       at += grid.record_bytes, ++seen) {
    const auto tag_at = static_cast<std::ptrdiff_t>(at) + tag.shift;
    if (tag_at < 0 || static_cast<std::size_t>(tag_at) + tag.width > sample.bytes.size() ||
        at + grid.layer_width > sample.bytes.size()) {
      if (tag_at < 0) continue;
      break;
    }
    if (number_at(sample, static_cast<std::size_t>(tag_at), tag.width) != tag.value) continue;
    if (!cycle.is(turn, at, grid.layer_width)) return false;
    if (turn == 0) {
      first = at;
    } else {
      common = std::gcd(common, seen - last);
    }
    last = seen;
    ++turn;
  }
  return is_enough(sample, turn, seen);
}

// Tries the first record, then positions after headers that look like a record of the type.
bool fits_somewhere(const FileSample& sample, const LayerCycle& cycle, RecordGrid& grid,
                    std::size_t& common) {
  const std::size_t from = grid.anchor;
  for (std::size_t begin = from; begin < from + kMaxHeaderBytes; begin += grid.record_bytes) {
    if (fits_tagged(sample, cycle, grid, begin, grid.anchor, common)) return true;
    // The search must not pass a position that may be the first record.
    const auto tag_at = static_cast<std::ptrdiff_t>(begin) + grid.tag->shift;
    if (tag_at < 0) continue;
    const auto place = static_cast<std::size_t>(tag_at);
    if (std::max(place, begin) + kMaxNumberBytes > sample.bytes.size()) return false;
    if (number_at(sample, place, grid.tag->width) == grid.tag->value &&
        cycle.is_first(begin, grid.layer_width)) {
      return false;
    }
  }
  return false;
}

std::map<std::uint64_t, std::size_t> count_values(const FileSample& sample,
                                                  std::size_t record_bytes, std::size_t from,
                                                  std::size_t width) {
  std::map<std::uint64_t, std::size_t> counts;
  std::size_t seen = 0;
  for (std::size_t at = from; at + width <= sample.bytes.size() && seen < kSearched;
       at += record_bytes, ++seen) {
    ++counts[number_at(sample, at, width)];
    // A header before the records may add one value.
    if (counts.size() > kMaxTagValues + 1) break;
  }
  return counts;
}

struct TagLane {
  std::size_t from = 0;
  std::size_t width = 4;
  std::size_t distinct = 0;
  std::map<std::uint64_t, std::size_t> counts;  // values that occur more than once
};

std::vector<TagLane> tag_lanes(const FileSample& sample, std::size_t record_bytes) {
  std::vector<TagLane> lanes;
  for (std::size_t from = 0; from < record_bytes; ++from) {
    for (const std::size_t width : {std::size_t{4}, std::size_t{2}, std::size_t{1}}) {
      if (from % width != 0) continue;
      auto counts = count_values(sample, record_bytes, from, width);
      const std::size_t distinct = counts.size();
      std::erase_if(counts, [](const auto& entry) { return entry.second < 2; });
      if (counts.size() < 2 || counts.size() > kMaxTagValues) continue;
      lanes.push_back({from, width, distinct, std::move(counts)});
    }
  }
  // A pure type tag has the fewest values.
  std::stable_sort(lanes.begin(), lanes.end(),
                   [](const TagLane& a, const TagLane& b) { return a.distinct < b.distinct; });
  return lanes;
}

struct LayerLane {
  std::size_t from = 0;
  std::size_t width = 4;
};

// Offsets whose numbers run through the layers if some records are ignored.
std::vector<LayerLane> layer_lanes(const FileSample& sample, const LayerCycle& cycle,
                                   std::size_t record_bytes) {
  std::vector<LayerLane> lanes;
  for (std::size_t from = 0; from < record_bytes; from += 2) {
    for (const std::size_t width : kLayerWidths) {
      std::size_t turn = 0;
      std::size_t seen = 0;
      for (std::size_t at = from; at + width <= sample.bytes.size() && seen < kSearched;
           at += record_bytes, ++seen) {
        if (cycle.is(turn, at, width)) ++turn;
      }
      if (is_enough(sample, turn, seen)) lanes.push_back({from, width});
    }
  }
  return lanes;
}

void add_tagged(const FileSample& sample, const LayerCycle& cycle, std::size_t record_bytes,
                bool is_given, std::vector<RecordGrid>& grids) {
  const auto layers = layer_lanes(sample, cycle, record_bytes);
  if (layers.empty()) return;
  const auto step = static_cast<std::ptrdiff_t>(record_bytes);
  for (const TagLane& lane : tag_lanes(sample, record_bytes)) {
    for (const LayerLane& layer : layers) {
      const auto shift =
          static_cast<std::ptrdiff_t>(lane.from) - static_cast<std::ptrdiff_t>(layer.from);
      for (const std::ptrdiff_t turned : {shift, shift < 0 ? shift + step : shift - step}) {
        for (const auto& [value, count] : lane.counts) {
          RecordGrid grid{record_bytes, layer.from, layer.width,
                          TypeTag{turned, lane.width, value}};
          std::size_t common = 0;
          if (!fits_somewhere(sample, cycle, grid, common)) continue;
          // If the distance is constant, longer records without a tag explain the data as well.
          if (common > 1 && !is_given) continue;
          grid.tag->values = lane.distinct;
          for (const auto& [other, times] : lane.counts)
            if (other != value) grid.other_tags.push_back(other);
          grids.push_back(std::move(grid));
          if (grids.size() >= kMaxGrids) return;
        }
      }
    }
  }
}

// Layer records of a file from `begin` on; empty if they do not run through the layers.
std::vector<LayerRecord> records_from(const RecordGrid& grid, const FileSample& sample,
                                      std::size_t begin) {
  std::vector<LayerRecord> records;
  const LayerCycle cycle(sample);
  if (!cycle.is_usable()) return records;
  const std::size_t layers = sample.layers.size();
  // Incomplete records are not used.
  const std::size_t behind = grid.record_bytes - grid.layer_offset.value_or(0);
  for (std::size_t at = begin; at + behind <= sample.bytes.size() && records.size() < kMaxRecords;
       at += grid.record_bytes) {
    if (grid.tag) {
      const auto tag_at = static_cast<std::ptrdiff_t>(at) + grid.tag->shift;
      if (tag_at < 0) continue;
      const auto place = static_cast<std::size_t>(tag_at);
      if (place + grid.tag->width > sample.bytes.size()) break;
      if (number_at(sample, place, grid.tag->width) != grid.tag->value) continue;
    }
    const std::size_t turn = records.size();
    if (!cycle.is(turn, at, grid.layer_width)) return {};
    records.push_back({&sample, at, turn % layers, turn / layers});
  }
  return records;
}

}  // namespace

std::vector<RecordGrid> plain_grids(const FileSample& sample) {
  std::vector<RecordGrid> grids;
  const LayerCycle cycle(sample);
  if (!cycle.is_usable()) return grids;
  for (std::size_t size = kMinRecordBytes; size <= kMaxRecordBytes; size += kStepBytes) {
    std::vector<bool> taken(size, false);  // a lane is found at its first record
    for (std::size_t at = 0; at < kMaxHeaderBytes + size; at += 2) {
      for (const std::size_t width : kLayerWidths) {
        if (at + width > sample.bytes.size() || taken[at % size]) continue;
        if (!cycle.is_first(at, width) || !fits_plain(sample, cycle, size, at, width)) continue;
        taken[at % size] = true;
        grids.push_back({size, at, width, std::nullopt});
      }
    }
    if (grids.size() >= kMaxGrids) break;
  }
  return grids;
}

std::vector<RecordGrid> tagged_grids(const FileSample& sample, std::size_t record_bytes) {
  std::vector<RecordGrid> grids;
  const LayerCycle cycle(sample);
  if (!cycle.is_usable()) return grids;
  if (record_bytes != 0) {
    add_tagged(sample, cycle, record_bytes, true, grids);
    return grids;
  }
  for (std::size_t size = kMinRecordBytes; size <= kMaxRecordBytes; size += kStepBytes) {
    add_tagged(sample, cycle, size, false, grids);
    if (grids.size() >= kMaxGrids) break;
  }
  return grids;
}

std::vector<LayerRecord> list_records(const RecordGrid& grid, std::span<const FileSample> samples) {
  std::vector<LayerRecord> records;
  for (std::size_t number = 0; number < samples.size(); ++number) {
    // In another file, records of other types may come first, so the position differs.
    std::size_t begin = grid.anchor;
    if (grid.tag && number > 0) begin %= grid.record_bytes;
    std::vector<LayerRecord> own;
    for (; own.empty() && begin <= grid.anchor; begin += grid.record_bytes)
      own = records_from(grid, samples[number], begin);
    if (own.empty() && number == 0) return {};
    records.insert(records.end(), own.begin(), own.end());
  }
  return records;
}

bool read_lane(std::span<const LayerRecord> records, std::ptrdiff_t shift,
               std::vector<std::uint32_t>& values) {
  values.clear();
  for (const LayerRecord& record : records) {
    const auto at = static_cast<std::ptrdiff_t>(record.at) + shift;
    if (at < 0 || static_cast<std::size_t>(at) + 4 > record.sample->bytes.size()) return false;
    values.push_back(
        static_cast<std::uint32_t>(number_at(*record.sample, static_cast<std::size_t>(at), 4)));
  }
  return true;
}

}  // namespace msprof::layout
