#include "import/layout/layout_finder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "import/layout/call_fields.hpp"
#include "import/layout/counter_fields.hpp"
#include "import/layout/record_grid.hpp"
#include "import/record_layout.hpp"

namespace msprof::layout {

namespace {

// A grid in which the fields start, end and cycles were found.
struct Framed {
  RecordGrid grid;
  std::vector<LayerRecord> records;
  SpanFields spans;
  bool is_doubtful = false;  // records may have several types
};

// First and last byte of the known fields of a record, relative to the layer number.
std::pair<std::ptrdiff_t, std::ptrdiff_t> known_extent(const RecordGrid& grid,
                                                       const SpanFields& spans) {
  std::ptrdiff_t low = 0;
  auto high = static_cast<std::ptrdiff_t>(grid.layer_width);
  const auto add = [&](std::ptrdiff_t shift, std::ptrdiff_t width) {
    low = std::min(low, shift);
    high = std::max(high, shift + width);
  };
  const std::ptrdiff_t time_width = spans.is_long ? 8 : 4;
  add(spans.start, time_width);
  add(spans.end, time_width);
  add(spans.total, 4);
  if (grid.tag) add(grid.tag->shift, static_cast<std::ptrdiff_t>(grid.tag->width));
  return {low, high};
}

// Offset of the layer number in a record, if the last record ends at the end of the file. Empty if
// the length is not known, or if the number or the tag would cross a record boundary.
std::optional<std::size_t> layer_offset(const RecordGrid& grid, const FileSample& sample) {
  if (!sample.whole_len || *sample.whole_len < grid.anchor) return std::nullopt;
  const std::size_t size = grid.record_bytes;
  const std::size_t header = static_cast<std::size_t>(*sample.whole_len % size);
  const std::size_t offset = (grid.anchor % size + size - header) % size;
  if (offset + grid.layer_width > size || offset > grid.anchor) return std::nullopt;
  if (grid.tag) {
    const auto tag = static_cast<std::ptrdiff_t>(offset) + grid.tag->shift;
    if (tag < 0 || static_cast<std::size_t>(tag) + grid.tag->width > size) return std::nullopt;
  }
  return offset;
}

// Range of words to search, relative to the layer number. If the start of the record is not known,
// it includes the previous and the next record.
std::pair<std::ptrdiff_t, std::ptrdiff_t> search_range(const RecordGrid& grid) {
  const auto size = static_cast<std::ptrdiff_t>(grid.record_bytes);
  if (!grid.layer_offset) return {4 - size, size};
  const auto offset = static_cast<std::ptrdiff_t>(*grid.layer_offset);
  return {-offset, size - offset};
}

struct Taken {
  RecordGrid grid;
  std::vector<LayerRecord> records;
};

bool is_same(const std::vector<LayerRecord>& some, const std::vector<LayerRecord>& others) {
  return std::equal(some.begin(), some.end(), others.begin(), others.end(),
                    [](const LayerRecord& a, const LayerRecord& b) {
                      return a.sample == b.sample && a.at == b.at;
                    });
}

// Returns true if the bytes may never have been written: all are equal; a single byte is 0 or 0xff.
bool is_filling(std::uint64_t value, std::size_t width) {
  const std::uint64_t byte = value & 0xff;
  for (std::size_t i = 1; i < width; ++i)
    if ((value >> (8 * i) & 0xff) != byte) return false;
  return byte == 0 || byte == 0xff || (width > 1 && byte != 0);
}

// Ranks tags that select the same records: prefers tags that are set in every record and have few
// values, then tags that are not zero.
int tag_rank(const RecordGrid& grid) {
  if (!grid.tag) return 0;
  const auto is_empty = [&](std::uint64_t value) { return is_filling(value, grid.tag->width); };
  const auto empty = std::count_if(grid.other_tags.begin(), grid.other_tags.end(), is_empty) +
                     (is_empty(grid.tag->value) ? 1 : 0);
  // A wide tag is better if its upper bytes are zero; otherwise they may be another number.
  const auto is_small = [](std::uint64_t value) { return value <= 0xff; };
  const bool are_small = is_small(grid.tag->value) &&
                         std::all_of(grid.other_tags.begin(), grid.other_tags.end(), is_small);
  const int width = static_cast<int>(grid.tag->width);
  return (grid.tag->value == 0 ? 0 : 8) + (are_small ? width : -width) -
         16 * static_cast<int>(grid.tag->values) - 1024 * static_cast<int>(empty);
}

// Returns true if the tag is part of a time or of the cycles; these have other values in other
// captures.
bool is_part_of_number(const RecordGrid& grid, const std::vector<LayerRecord>& records,
                       const SpanFields& spans) {
  // High word of another time.
  if (grid.tag->width == 4 && is_rising(records, grid.tag->shift - 4)) return true;
  const std::ptrdiff_t wide = spans.is_long ? 8 : 4;
  const std::ptrdiff_t from = grid.tag->shift;
  const std::ptrdiff_t to = from + static_cast<std::ptrdiff_t>(grid.tag->width);
  const auto meets = [&](std::ptrdiff_t at, std::ptrdiff_t width) {
    return from < at + width && at < to;
  };
  return meets(spans.start, wide) || meets(spans.end, wide) || meets(spans.total, 4) ||
         meets(0, static_cast<std::ptrdiff_t>(grid.layer_width));
}

// Sorts by record size, smallest first. Among tags, prefers the one that selects the most records:
// other tags select records of the type by chance.
std::vector<Taken> taken_by(const std::vector<RecordGrid>& grids,
                            const std::vector<FileSample>& samples, bool by_length) {
  std::vector<Taken> all;
  for (RecordGrid grid : grids) {
    if (by_length) {
      grid.layer_offset = layer_offset(grid, samples.front());
      if (!grid.layer_offset) continue;
    }
    auto records = list_records(grid, samples);
    if (!records.empty()) all.push_back({std::move(grid), std::move(records)});
  }
  std::stable_sort(all.begin(), all.end(), [](const Taken& a, const Taken& b) {
    if (a.grid.record_bytes != b.grid.record_bytes)
      return a.grid.record_bytes < b.grid.record_bytes;
    if (!a.grid.tag || a.records.size() == b.records.size())
      return tag_rank(a.grid) > tag_rank(b.grid);
    return a.records.size() > b.records.size();
  });
  return all;
}

// Returns true if a long file has no records on the grid; then the grid may be wrong.
bool leaves_out_file(const Taken& taken, const std::vector<FileSample>& samples) {
  return std::any_of(samples.begin(), samples.end(), [&](const FileSample& sample) {
    const bool is_long = sample.layers.size() >= 2 &&
                         sample.bytes.size() > 2 * sample.layers.size() * taken.grid.record_bytes;
    return is_long &&
           std::none_of(taken.records.begin(), taken.records.end(),
                        [&](const LayerRecord& record) { return record.sample == &sample; });
  });
}

std::optional<Framed> find_first_with_spans(const std::vector<RecordGrid>& grids,
                                            const std::vector<FileSample>& samples,
                                            bool by_length) {
  auto all = taken_by(grids, samples, by_length);
  const Taken* before = nullptr;
  std::optional<SpanFields> spans;
  std::optional<Framed> doubtful;
  for (Taken& taken : all) {
    const RecordGrid& grid = taken.grid;
    const bool is_known = before != nullptr && before->grid.record_bytes == grid.record_bytes &&
                          before->grid.layer_offset == grid.layer_offset &&
                          is_same(before->records, taken.records);
    if (!is_known) {
      const auto [low, high] = search_range(grid);
      spans = find_spans(taken.records, grid.record_bytes, low, high);
      before = &taken;
    }
    if (!spans) continue;
    // Longer than a record: the tag or the times belong to the next one.
    const auto [low, high] = known_extent(grid, *spans);
    if (high - low > static_cast<std::ptrdiff_t>(grid.record_bytes)) continue;
    if (doubtful && doubtful->records.size() > taken.records.size()) return doubtful;
    if (!grid.tag || !is_part_of_number(grid, taken.records, *spans)) {
      const bool is_doubtful = leaves_out_file(taken, samples);
      return Framed{grid, std::move(taken.records), *spans, is_doubtful};
    }
    if (!doubtful) doubtful = Framed{grid, taken.records, *spans, true};
  }
  return doubtful;
}

std::optional<Framed> find_first_with_spans(const std::vector<RecordGrid>& grids,
                                            const std::vector<FileSample>& samples) {
  if (samples.front().whole_len) {
    if (auto framed = find_first_with_spans(grids, samples, true)) return framed;
  }
  return find_first_with_spans(grids, samples, false);
}

// Returns true if the layer number and a time occur again in the record, 1/`parts` of its size
// away. Then the record is several records of different types.
bool is_doubled(const Framed& framed, std::size_t parts) {
  if (framed.grid.record_bytes % (4 * parts) != 0) return false;
  const auto part = static_cast<std::ptrdiff_t>(framed.grid.record_bytes / parts);
  const auto has_layer = [&](std::ptrdiff_t shift) {
    return std::all_of(
        framed.records.begin(), framed.records.end(), [&](const LayerRecord& record) {
          const auto at = static_cast<std::ptrdiff_t>(record.at) + shift;
          constexpr std::size_t kWidth = 2;  // the following bytes may be zero in only one of the
                                             // types
          return at >= 0 && static_cast<std::size_t>(at) + kWidth <= record.sample->bytes.size() &&
                 number_at(*record.sample, static_cast<std::size_t>(at), kWidth) ==
                     number_at(*record.sample, record.at, kWidth);
        });
  };
  std::vector<std::uint32_t> start, end, other;
  if (!read_lane(framed.records, framed.spans.start, start)) return false;
  if (!read_lane(framed.records, framed.spans.end, end)) return false;
  // Not long before the start, not after the end.
  const auto has_time = [&](std::ptrdiff_t shift) {
    if (!read_lane(framed.records, framed.spans.start + shift, other)) return false;
    for (std::size_t i = 0; i < start.size(); ++i) {
      const std::uint32_t taken = end[i] - start[i];
      if (other[i] - start[i] + taken > 2 * taken) return false;
    }
    return true;
  };
  return (has_layer(part) || has_layer(-part)) && (has_time(part) || has_time(-part));
}

std::optional<Framed> frame(const std::vector<FileSample>& samples) {
  auto plain = find_first_with_spans(plain_grids(samples.front()), samples);
  if (!plain) return find_first_with_spans(tagged_grids(samples.front()), samples);
  constexpr std::size_t kMaxParts = 8;
  for (std::size_t parts = 2; parts <= kMaxParts; ++parts) {
    if (!is_doubled(*plain, parts)) continue;
    const std::size_t size = plain->grid.record_bytes / parts;
    if (auto tagged = find_first_with_spans(tagged_grids(samples.front(), size), samples))
      return tagged;
    plain->is_doubtful = true;
  }
  return plain;
}

// Returns the record sizes at which words most often equal those one record earlier.
std::vector<std::uint64_t> repeating_sizes(const FileSample& sample) {
  constexpr std::size_t kMax = 5, kCompared = 1 << 16;
  std::vector<std::pair<double, std::uint64_t>> sizes;
  const std::size_t length = std::min(sample.bytes.size(), kCompared);
  for (std::size_t size = 16; size <= 512 && size * 3 < length; size += 4) {
    std::size_t same = 0, all = 0;
    for (std::size_t at = 0; at + size + 4 <= length; at += 4) {
      ++all;
      same += number_at(sample, at, 4) == number_at(sample, at + size, 4) ? 1u : 0u;
    }
    sizes.emplace_back(-static_cast<double>(same) / static_cast<double>(all), size);
  }
  std::stable_sort(sizes.begin(), sizes.end());
  std::vector<std::uint64_t> best;
  for (std::size_t i = 0; i < std::min(kMax, sizes.size()); ++i) best.push_back(sizes[i].second);
  return best;
}

FoundKind empty_kind(const std::string& kind, const std::vector<FileSample>& samples) {
  FoundKind found;
  found.kind = kind;
  for (const FileSample& sample : samples) {
    found.files.push_back(sample.name);
    found.file_sizes.push_back(sample.size_bytes);
  }
  for (const auto name : field_names(kind)) {
    FoundField field;
    field.name = name;
    found.fields.push_back(std::move(field));
  }
  return found;
}

class CoreSearch {
 public:
  explicit CoreSearch(std::vector<FileSample> samples) : samples_(std::move(samples)) {
    std::stable_sort(
        samples_.begin(), samples_.end(),
        [](const FileSample& a, const FileSample& b) { return a.bytes.size() > b.bytes.size(); });
    found_ = empty_kind("aicore", samples_);
  }

  // Sets `done_hertz` if the unit of `.done` can be determined.
  FoundKind run(std::optional<double>& done_hertz, std::vector<ExecutionSpan>& executions) {
    auto framed = frame(samples_);
    if (!framed) return without_times();
    grid_ = framed->grid;
    records_ = std::move(framed->records);
    spans_ = framed->spans;
    is_doubtful_ = framed->is_doubtful;
    found_.record_bytes = grid_.record_bytes;
    found_.layers = records_.front().sample->layers.size();
    found_.records = records_.size();
    for (std::size_t i = 0; i < records_.size(); ++i) {
      if (i + 1 == records_.size() || records_[i].sample != records_[i + 1].sample)
        found_.executions += records_[i].execution + 1;
    }
    choose_unit();
    done_hertz = unit_.done_hertz;
    choose_header();
    add_layer_and_times();
    std::vector<bool> taken = taken_bytes();
    find_counters(records_, spans_, first_, found_.header_certainty == Certainty::certain, taken,
                  found_);
    if (found_.header_certainty == Certainty::certain &&
        found_.field("end").certainty == Certainty::certain)
      executions = execution_spans();
    return std::move(found_);
  }

 private:
  FoundKind without_times() {
    found_.candidate_record_sizes = repeating_sizes(samples_.front());
    const auto grids = plain_grids(samples_.front());
    if (!grids.empty() && samples_.front().layers.size() >= 3) {
      const RecordGrid& grid = grids.front();
      found_.record_bytes = grid.record_bytes;
      found_.record_certainty = Certainty::likely;
      found_.record_evidence = "a number cycles through the layer ids, but no times were found";
      found_.header_bytes =
          grid.anchor % 4 == 0 ? samples_.front().size_bytes % grid.record_bytes : 0;
      found_.header_certainty = Certainty::unknown;
      found_.header_evidence = "the remainder of the file size";
      if (grid.anchor >= found_.header_bytes) {
        FoundField& layer = found_.field("layer_id");
        layer.certainty = Certainty::likely;
        layer.place = {grid.anchor - found_.header_bytes, grid.layer_width, 1, 1};
        layer.evidence = "cycles through the layer ids of layer.info";
      }
    } else {
      found_.record_evidence = samples_.front().layers.empty()
                                   ? "the layers of the model are unknown"
                                   : "no number cycles through the layer ids of layer.info";
    }
    return std::move(found_);
  }

  // Executions in the first file, in ns; only those with all layers.
  std::vector<ExecutionSpan> execution_spans() const {
    std::vector<ExecutionSpan> all;
    const std::size_t width = spans_.is_long ? 8 : 4;
    const double ns = static_cast<double>(unit_.scale) / static_cast<double>(unit_.divisor);
    ExecutionSpan span;
    for (const LayerRecord& record : records_) {
      if (record.sample != records_.front().sample) break;
      if (record.layer == 0)
        span.begin_ns = ns * static_cast<double>(value(record, spans_.start, width));
      span.end_ns = ns * static_cast<double>(value(record, spans_.end, width));
      if (record.layer + 1 == found_.layers) all.push_back(span);
    }
    return all;
  }

  bool is_strong() const {
    return spans_.checked >= 20 && spans_.spread >= 3 && found_.layers >= 3 && spans_.is_alone;
  }

  std::vector<TimeExtent> extents(bool is_long) const {
    std::vector<TimeExtent> all;
    const std::size_t width = is_long ? 8 : 4;
    for (std::size_t i = 0; i < records_.size();) {
      const FileSample& sample = *records_[i].sample;
      std::size_t last = i;
      while (last + 1 < records_.size() && records_[last + 1].sample == &sample) ++last;
      TimeExtent extent;
      extent.first = value(records_[i], spans_.start, width);
      extent.last = value(records_[last], spans_.end, width);
      if (const auto end = find_last_in_tail(sample, width)) extent.last = *end;
      extent.own = sample.window;
      extent.others = sample.other_windows;
      extent.is_whole = sample.size_bytes == sample.whole_len.value_or(0);
      all.push_back(std::move(extent));
      i = last + 1;
    }
    return all;
  }

  // End of the last record of a long file.
  std::optional<std::uint64_t> find_last_in_tail(const FileSample& sample,
                                                 std::size_t width) const {
    const std::size_t size = grid_.record_bytes;
    if (sample.tail.size() < 2 * size) return std::nullopt;
    const auto [low, high] = known_extent(grid_, spans_);
    const std::uint64_t tail_at = sample.size_bytes - sample.tail.size();
    // The last layer number for which all fields are within the file.
    const std::uint64_t most = sample.size_bytes - static_cast<std::uint64_t>(high);
    std::uint64_t at = grid_.anchor + (most - grid_.anchor) / size * size;
    const std::uint64_t least = tail_at + static_cast<std::uint64_t>(-low);
    for (; at >= least && at >= size; at -= size) {
      const auto number = [&](std::ptrdiff_t shift, std::size_t bytes) {
        const auto place = static_cast<std::ptrdiff_t>(at - tail_at) + shift;
        return number_in(sample.tail, static_cast<std::size_t>(place), bytes);
      };
      if (!grid_.tag || number(grid_.tag->shift, grid_.tag->width) == grid_.tag->value)
        return number(spans_.end, width);
    }
    return std::nullopt;
  }

  static std::uint64_t value(const LayerRecord& record, std::ptrdiff_t shift, std::size_t width) {
    const auto at = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(record.at) + shift);
    return at + width <= record.sample->bytes.size() ? number_at(*record.sample, at, width) : 0;
  }

  void choose_unit() {
    const auto core_hz = samples_.front().core_hz;
    std::optional<double> estimate;
    if (core_hz) estimate = static_cast<double>(*core_hz) / spans_.cycles_per_unit;
    if (spans_.is_long && estimate &&
        !is_plausible_time(value(records_.back(), spans_.end, 8), *estimate)) {
      spans_.is_long = false;
    }
    unit_ = find_unit(extents(spans_.is_long), estimate, core_hz);
    // High words that never change may be unrelated, unless a `.done` file confirms the times.
    if (spans_.is_long && spans_.has_same_high && !unit_.lies_within)
      unit_.certainty = std::min(unit_.certainty, Certainty::likely);
    if (unit_.certainty == Certainty::unknown) return;
    const double mhz = spans_.cycles_per_unit * unit_.hertz / 1e6;
    if (!core_hz || std::abs(mhz / (static_cast<double>(*core_hz) / 1e6) - 1) > 0.015)
      found_.core_mhz = mhz;
  }

  // Records of other types may precede the first record of a layer.
  std::ptrdiff_t first_record(std::ptrdiff_t layer_record) const {
    const auto size = static_cast<std::ptrdiff_t>(grid_.record_bytes);
    if (!grid_.tag) return layer_record;
    const auto& others = grid_.other_tags;
    const auto anchor = static_cast<std::ptrdiff_t>(grid_.anchor);
    std::ptrdiff_t first = layer_record;
    for (std::ptrdiff_t at = anchor - size; first >= size; at -= size, first -= size) {
      const std::ptrdiff_t tag = at + grid_.tag->shift;
      if (tag < 0) break;
      const auto value =
          number_at(samples_.front(), static_cast<std::size_t>(tag), grid_.tag->width);
      if (std::find(others.begin(), others.end(), value) == others.end()) break;
    }
    return first;
  }

  void choose_header() {
    const auto size = static_cast<std::ptrdiff_t>(grid_.record_bytes);
    const auto anchor = static_cast<std::ptrdiff_t>(grid_.anchor);
    const FileSample& sample = samples_.front();
    const auto length = static_cast<std::ptrdiff_t>(sample.whole_len.value_or(sample.size_bytes));
    fits_length_ = !sample.whole_len || grid_.layer_offset;
    std::ptrdiff_t first = 0;  // offset of the first record of a layer
    if (grid_.layer_offset) {
      first = anchor - static_cast<std::ptrdiff_t>(*grid_.layer_offset);
      found_.header_certainty = Certainty::certain;
    } else {
      const auto [low, high] = known_extent(grid_, spans_);
      const std::ptrdiff_t least = std::max<std::ptrdiff_t>(0, anchor + high - size);
      const std::ptrdiff_t most = anchor + low;
      first = std::min((least + 3) / 4 * 4, most);
      found_.header_certainty = Certainty::likely;
      found_.header_evidence = "the first offset at which a whole record fits";
      for (std::ptrdiff_t at = least; at <= most && !sample.whole_len; ++at) {
        if ((length - at) % size == 0) first = at;
      }
    }
    const std::ptrdiff_t header = std::max<std::ptrdiff_t>(0, first_record(first));
    if ((length - header) % size == 0) {
      found_.header_evidence =
          fmt::format("{} bytes minus a header of {} bytes are whole records{}", length, header,
                      sample.whole_len ? "" : "; there is no .done");
    }
    found_.header_bytes = static_cast<std::size_t>(header);
    first_ = first - anchor;
  }

  std::size_t to_offset(std::ptrdiff_t shift) const {
    return static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, shift - first_));
  }

  bool is_zero_behind(std::ptrdiff_t shift) const {
    std::vector<std::uint32_t> high;
    return to_offset(shift) + 8 <= grid_.record_bytes && read_lane(records_, shift + 4, high) &&
           std::all_of(high.begin(), high.end(), [](std::uint32_t word) { return word == 0; });
  }

  void set(std::string_view name, std::ptrdiff_t shift, std::size_t width, Certainty certainty,
           std::string evidence) {
    FoundField& field = found_.field(name);
    field.certainty = certainty;
    field.place = {to_offset(shift), width, 1, 1};
    field.evidence = std::move(evidence);
  }

  void add_layer_and_times() {
    const bool is_cycle = found_.layers >= 3 && records_.size() > 2 * found_.layers;
    const bool is_framed = fits_length_ && !is_doubtful_;
    const Certainty layer = is_cycle && is_framed ? Certainty::certain : Certainty::likely;
    found_.record_certainty = layer;
    if (layer != Certainty::certain) found_.header_certainty = Certainty::likely;
    found_.record_evidence = fmt::format(
        "every {} bytes{} a number cycles through the {} layer ids, {} times, and times increase",
        grid_.record_bytes, grid_.tag ? ", in records of one type," : "", found_.layers,
        found_.executions);
    if (grid_.tag) {
      found_.select = FoundSelect{to_offset(grid_.tag->shift), grid_.tag->width, grid_.tag->value};
    }
    set("layer_id", 0, grid_.layer_width, layer,
        fmt::format("cycles through the {} layer ids of layer.info, {} times", found_.layers,
                    found_.executions));
    const Certainty followed = is_strong() && is_framed ? Certainty::certain : Certainty::likely;
    const Certainty timed = std::min(followed, unit_.certainty);
    const std::string unit =
        unit_.certainty == Certainty::unknown ? "the unit is unknown" : unit_.evidence;
    for (const auto& [name, shift, words] :
         {std::tuple(std::string_view("start"), spans_.start, "increases"),
          std::tuple(std::string_view("end"), spans_.end,
                     "increases, never before start nor after the next start")}) {
      const std::size_t width = spans_.is_long || is_zero_behind(shift) ? 8 : 4;
      set(name, shift, width, timed, fmt::format("{}; {}", words, unit));
      if (unit_.certainty == Certainty::unknown) {
        FoundField& field = found_.field(name);
        field.candidates.push_back({field.place, field.evidence});
      }
      found_.field(name).place.scale = unit_.scale;
      found_.field(name).place.divisor = unit_.divisor;
    }
    const std::string frequency =
        unit_.certainty == Certainty::unknown
            ? "an unknown frequency"
            : fmt::format("{:.6g} MHz", spans_.cycles_per_unit * unit_.hertz / 1e6);
    set("total_cycles", spans_.total, is_zero_behind(spans_.total) ? 8 : 4, followed,
        fmt::format("proportional to end - start in {} records, at {}{}", spans_.checked, frequency,
                    found_.core_mhz ? ", which differs from info.json" : ""));
  }

  std::vector<bool> taken_bytes() const {
    std::vector<bool> taken(grid_.record_bytes, false);
    const auto take = [&](std::size_t offset, std::size_t width) {
      for (std::size_t i = offset; i < offset + width && i < taken.size(); ++i) taken[i] = true;
    };
    for (const FoundField& field : found_.fields) {
      if (!field.evidence.empty()) take(field.place.offset, field.place.width);
    }
    if (found_.select) take(found_.select->offset, found_.select->width);
    return taken;
  }

  std::vector<FileSample> samples_;
  FoundKind found_;
  RecordGrid grid_;
  std::vector<LayerRecord> records_;
  SpanFields spans_;
  TickUnit unit_;
  std::ptrdiff_t first_ = 0;  // start of a record, relative to its layer number
  bool fits_length_ = false;
  bool is_doubtful_ = false;
};

}  // namespace

InferredLayout find_layouts(const BoardSamples& samples) {
  InferredLayout layout;
  std::optional<double> done_hertz;
  std::vector<ExecutionSpan> executions;
  if (!samples.aicore.empty())
    layout.kinds.push_back(CoreSearch(samples.aicore).run(done_hertz, executions));
  if (!samples.aicpu.empty()) {
    FoundKind found = empty_kind("aicpu", samples.aicpu);
    found.candidate_record_sizes = repeating_sizes(samples.aicpu.front());
    found.record_evidence = "records of CPU operators are not searched";
    layout.kinds.push_back(std::move(found));
  }
  if (!samples.acl_api.empty())
    layout.kinds.push_back(find_call_layout(samples.acl_api, done_hertz, executions));
  return layout;
}

}  // namespace msprof::layout
