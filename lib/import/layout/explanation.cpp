#include "import/layout/explanation.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include "import/layout/block_frames.hpp"
#include "import/layout/layer_ranks.hpp"
#include "import/layout/margin.hpp"
#include "import/layout/record_check.hpp"

namespace msprof::layout {

namespace {

class Explorer {
 public:
  Explorer(const std::string& kind, const std::vector<FileSample>& samples, const LayerCodes& codes,
           const KnownClock* clock)
      : kind_(kind),
        samples_(samples),
        codes_(codes),
        clock_(clock),
        has_layers_(kind != "acl_api"),
        has_cycles_(kind == "aicore") {}

  std::vector<Explanation> run() {
    search();
    const bool is_found = std::any_of(
        all_.begin(), all_.end(), [](const Explanation& one) { return one.reading.has_span(); });
    // Any number that repeats gives an order.
    if (has_layers_ && !is_found) {
      by_order_ = true;
      search();
    }
    std::stable_sort(all_.begin(), all_.end(), [](const Explanation& a, const Explanation& b) {
      if (a.reading.has_span() != b.reading.has_span()) return a.reading.has_span();
      return a.bits > b.bits;
    });
    prefer_aligned();
    prefer_header();
    return std::move(all_);
  }

 private:
  void search() {
    ranked_ = record_sizes(samples_, has_layers_);
    auto sizes = ranked_;
    std::sort(sizes.begin(), sizes.end());
    std::size_t found_size = 0;
    std::map<std::size_t, std::size_t> parts;  // how many of them are a whole record
    for (const std::size_t size : sizes) {
      if (found_size != 0 && size % found_size == 0) continue;
      bool some = false;
      for (const Frame& frame : plain_frames(samples_, size, has_layers_))
        some = explain(frame) || some;
      if (!some) continue;
      if (found_size == 0) found_size = size;
      if (!has_layers_) continue;
      for (const std::size_t count : {2u, 3u})
        if (size % count == 0 && size / count >= 12) parts.emplace(size / count, count);
    }
    for (const auto& [size, count] : parts)
      for (const Frame& frame : plain_frames(samples_, size, has_layers_))
        explain_parts(frame, count);
    constexpr std::size_t kTried = 12, kTypesTried = 12;
    for (const std::size_t size : first_sizes(ranked_, kTried)) {
      if (found_size != 0 || !has_layers_) break;
      for (const Frame& frame : block_frames(samples_, size, codes_))
        if (explain(frame)) found_size = size;
    }
    for (const std::size_t size : first_sizes(ranked_, kTypesTried)) {
      if (found_size != 0) break;
      for (const Frame& frame : plain_frames(samples_, size, has_layers_))
        if (explain_types(frame)) found_size = size;
    }
  }

  // The most promising sizes, the smallest first: multiples of a size repeat as well.
  static std::vector<std::size_t> first_sizes(std::vector<std::size_t> ranked, std::size_t count) {
    if (ranked.size() > count) ranked.resize(count);
    std::sort(ranked.begin(), ranked.end());
    return ranked;
  }

  // Numbers with one byte of the field before them fit as well, or better by chance.
  void prefer_aligned() {
    for (std::size_t i = 1; i < all_.size(); ++i) {
      if (!is_shifted(all_.front(), all_[i]) || !is_better_aligned(all_[i], all_.front())) continue;
      std::rotate(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(i),
                  all_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      return;
    }
  }

  static bool has_same_fields(const Reading& a, const Reading& b) {
    return a.end.has_value() == b.end.has_value() && a.total.has_value() == b.total.has_value() &&
           a.duration.has_value() == b.duration.has_value() && a.layer.form == b.layer.form;
  }

  // Several headers may lead to the same records. Chooses the most likely one, since a record more
  // or less changes the other bits at random.
  void prefer_header() {
    for (std::size_t i = 1; i < all_.size(); ++i) {
      const Reading &best = all_.front().reading, &other = all_[i].reading;
      if (!has_same_fields(best, other) || !has_same_times(all_.front(), all_[i])) continue;
      // Equal upper halves of start and end belong to them.
      const bool is_wider = other.start.width > best.start.width && other.end;
      if (is_wider ||
          (other.start.width == best.start.width && lead_of_header(all_[i], all_.front()) > 0))
        std::swap(all_.front(), all_[i]);
    }
  }

  // Adds readings of all records of a frame. Returns true if one has layers and times.
  bool explain(const Frame& frame) {
    Explanation one;
    one.frame = frame;
    const Places places = places_of(frame, samples_, kSearched);
    return explain_places(one, places, places.size());
  }

  // Records of several types may alternate, so that `count` of them look like one. Then the
  // parts explain more.
  void explain_parts(const Frame& frame, std::size_t count) {
    constexpr double kLeastLead = 60;
    const std::size_t known = all_.size();
    double most = 0;
    for (const Explanation& one : all_)
      if (one.reading.has_span()) most = std::max(most, one.bits);
    explain_types(frame, 0.9 / static_cast<double>(count));
    const auto first = all_.begin() + static_cast<std::ptrdiff_t>(known);
    all_.erase(std::remove_if(first, all_.end(),
                              [&](const Explanation& one) {
                                return !one.reading.has_span() || one.core ||
                                       one.bits < most + kLeastLead ||
                                       one.reading.start.is_relative ||
                                       leaves_out_layers(one, codes_, samples_);
                              }),
               all_.end());
  }

  // Adds readings of the records that a tag selects. Returns true if one has layers and times.
  // `least`: share of the records that must have the tag.
  bool explain_types(const Frame& frame, double least = 0.2) {
    const Places places = places_of(frame, samples_, kSearched);
    if (places.size() < 8) return false;
    std::vector<std::pair<std::size_t, Tag>> tags;
    auto layers = has_layers_ ? find_layer_columns(places, frame.record_bytes, codes_, 0.25, false)
                              : std::vector<LayerColumn>();
    std::stable_sort(layers.begin(), layers.end(),
                     [](const LayerColumn& a, const LayerColumn& b) { return a.valid > b.valid; });
    if (layers.size() > 6) layers.resize(6);
    for (const GroupColumn& column : find_group_columns(places, frame.record_bytes)) {
      std::vector<bool> is_pure(column.values.size(), layers.empty());
      for (const LayerColumn& layer : layers) {
        std::vector<bool> pure(column.values.size(), true);
        for (std::size_t i = 0; i < places.size(); ++i)
          if (layer.layers[i] < 0) pure[column.groups[i]] = false;
        for (std::size_t group = 0; group < pure.size(); ++group)
          if (pure[group]) is_pure[group] = true;
      }
      for (std::size_t group = 0; group < column.values.size(); ++group) {
        const auto all = static_cast<double>(places.size());
        if (is_pure[group] && static_cast<double>(column.counts[group]) >= least * all)
          tags.emplace_back(column.counts[group], Tag{column.offset, column.values[group]});
      }
    }
    std::stable_sort(tags.begin(), tags.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    constexpr std::size_t kMostTags = 10;
    if (tags.size() > kMostTags) tags.resize(kMostTags);
    bool some = false;
    for (const auto& [count, tag] : tags) {
      Explanation one;
      one.frame = frame;
      one.tag = tag;
      some = explain_places(one, choose_records(one, places, codes_).starts, places.size()) || some;
    }
    return some;
  }

  // `one` has the frame and the tag of the records.
  bool explain_places(Explanation one, const Places& places, std::size_t searched) {
    if (places.size() < 8) return false;
    if (!has_layers_) return add_readings(one, places, searched, nullptr);
    auto layers = find_layer_columns(places, one.frame.record_bytes, codes_, 1, by_order_);
    if (one.tag) {
      std::erase_if(layers, [&](const LayerColumn& layer) {
        return one.tag->offset >= layer.offset && one.tag->offset < layer.offset + layer.width;
      });
    }
    bool some = false;
    for (const auto& [layer, is_doubtful] : rank_layers(layers, codes_.layers())) {
      one.is_layer_doubtful = is_doubtful;
      if (!add_readings(one, places, searched, layer)) continue;
      // If many layers are missing, the records are others.
      some = some || layer->distinct * 4 >= codes_.layers() * 3;
      break;
    }
    return some;
  }

  bool add_readings(const Explanation& base, const Places& places, std::size_t searched,
                    const LayerColumn* layer) {
    if (layer != nullptr && is_several_records(places, base.frame.record_bytes, *layer))
      return false;
    RecordColumns columns{places, nullptr, base.frame.record_bytes, layer, nullptr, has_cycles_};
    auto readings = find_readings(columns);
    double best = 0, best_by_total = 0;
    for (const Reading& reading : readings) {
      double& most = reading.end || reading.duration ? best : best_by_total;
      if (reading.has_span()) most = std::max(most, reading.gap_bits);
    }
    constexpr double kGoodGaps = 2;
    if (best >= kGoodGaps || layer == nullptr) return add(base, readings, searched, places);
    const auto groups = find_group_columns(places, base.frame.record_bytes);
    if (!base.tag && add_pairs(base, places, searched, *layer, groups, best)) return true;
    best = std::max(best, best_by_total);
    if (best >= kGoodGaps) return add(base, readings, searched, places);
    // Cores, whose records are interleaved.
    std::vector<Reading> of_cores;
    Explanation with_cores = base;
    constexpr std::size_t kMostTried = 12;
    std::size_t tried = 0;
    for (const GroupColumn& column : groups) {
      // Cores are small numbers, and all of them work.
      const auto [least, most] = std::minmax_element(column.counts.begin(), column.counts.end());
      if (*most > 6 * *least || *std::max_element(column.values.begin(), column.values.end()) > 63)
        continue;
      if (column.offset >= layer->offset && column.offset < layer->offset + layer->width) continue;
      if (tried++ == kMostTried) break;
      columns.groups = &column;
      auto grouped = find_readings(columns);
      std::erase_if(grouped, [&](const Reading& one) {
        return !one.has_span() || one.gap_bits < best + 0.5 || one.gap_bits < 1;
      });
      if (grouped.empty() || (!of_cores.empty() && of_cores.front().bits >= grouped.front().bits))
        continue;
      of_cores = std::move(grouped);
      with_cores.core = column.offset;
    }
    const bool some = with_cores.core && add(with_cores, of_cores, searched, places);
    return add(base, readings, searched, places) || some;
  }

  // Begin and end in records of two types, without and with cores.
  bool add_pairs(const Explanation& base, const Places& places, std::size_t searched,
                 const LayerColumn& layer, const std::vector<GroupColumn>& groups, double least) {
    bool some = false;
    for (const GroupColumn& column : groups) {
      for (std::size_t begin = 0; begin < column.values.size(); ++begin) {
        for (std::size_t end = 0; end < column.values.size(); ++end) {
          const std::size_t count = column.counts[begin], other = column.counts[end];
          if (begin == end || count * 10 < places.size() * 3 || other > count ||
              count > other + samples_.size() + 4)
            continue;
          Explanation one = base;
          one.pair = PairTags{column.offset, column.values[begin], column.values[end]};
          one.reading.layer = layer;
          some = add_paired(one, places, searched, nullptr, least) || some;
          for (std::size_t i = 0; !some && i < std::min<std::size_t>(groups.size(), 6); ++i) {
            if (groups[i].offset != column.offset)
              some = add_paired(one, places, searched, &groups[i], least) || some;
          }
          if (some) return true;
        }
      }
    }
    return some;
  }

  bool add_paired(Explanation one, const Places& places, std::size_t searched,
                  const GroupColumn* core, double least) {
    if (core != nullptr) one.core = core->offset;
    const RecordSet records = choose_records(one, places, codes_);
    if (records.starts.size() * 5 < places.size() * 2) return false;
    LayerColumn layer = one.reading.layer;
    layer.layers.clear();
    for (const Place& place : records.starts)
      layer.layers.push_back(layer_of(layer, codes_, place.sample, place));
    std::optional<GroupColumn> groups;
    if (core != nullptr) {
      for (GroupColumn& column : find_group_columns(records.starts, one.frame.record_bytes))
        if (column.offset == core->offset) groups = std::move(column);
    }
    auto readings = find_readings({records.starts, &records.ends, one.frame.record_bytes, &layer,
                                   groups ? &*groups : nullptr, has_cycles_});
    std::erase_if(readings, [&](const Reading& reading) {
      return !reading.has_span() || reading.gap_bits < std::max(1.0, least + 0.3);
    });
    return add(one, readings, searched, places);
  }

  bool add(const Explanation& base, const std::vector<Reading>& readings, std::size_t searched,
           const Places& places) {
    bool some = false;
    Places whole;
    for (const Reading& reading : readings) {
      Explanation one = base;
      one.reading = reading;
      one.bits = bits_of(one, reading.records, std::max(searched, places.size()));
      if (reading.has_span()) {
        if (whole.empty()) whole = places_of(one.frame, samples_);
        one.unit = unit_of_times(one, whole);
        one.bits += one.unit.certainty == Certainty::certain  ? 40
                    : one.unit.certainty == Certainty::likely ? 15
                                                              : 0;
        one.bits += one.encloses_executions ? 60 : 0;
      }
      some = some || reading.has_span();
      all_.push_back(std::move(one));
    }
    return some;
  }

  // The layer comes again in a part of the record, with other values, and the layers of the records
  // are not next to each other: these are several records.
  bool is_several_records(const Places& places, std::size_t record_bytes,
                          const LayerColumn& layer) const {
    if (layer.form == LayerForm::order || codes_.layers() < 3) return false;
    double rise = 0, rises = 0;
    for (std::size_t i = 1; i < places.size(); ++i) {
      const int step = layer.layers[i] - layer.layers[i - 1];
      rise += step > 0 ? step : 0;
      rises += step > 0 ? 1 : 0;
    }
    const bool leaves_out = rise > 1.5 * rises;
    for (std::size_t parts = 2; parts * 12 <= record_bytes; ++parts) {
      const bool repeats =
          std::find(ranked_.begin(), ranked_.end(), record_bytes / parts) != ranked_.end();
      if (record_bytes % parts != 0 || !repeats) continue;
      const std::size_t other = (layer.offset + record_bytes / parts) % record_bytes;
      if (other + layer.width > record_bytes) continue;
      std::vector<int> seen;
      std::size_t named = 0, same = 0;
      for (std::size_t i = 0; i < places.size(); ++i) {
        const int index =
            codes_.index(places[i].sample, layer.form, number_at(places[i], other, layer.width));
        named += index >= 0 ? 1u : 0u;
        same += index == layer.layers[i] ? 1u : 0u;
        seen.push_back(index);
      }
      std::sort(seen.begin(), seen.end());
      const auto distinct = std::unique(seen.begin(), seen.end()) - seen.begin();
      const bool names = named * 5 >= places.size() * 3 && same * 20 < places.size() * 19 &&
                         static_cast<std::size_t>(distinct) * 3 > layer.distinct * 2;
      if (names && (leaves_out || same * 10 > places.size() * 3)) return true;
    }
    return false;
  }

  double bits_of(const Explanation& one, std::size_t chosen, std::size_t searched) const {
    double records = 0;
    for (const FileSample& sample : samples_) {
      records +=
          static_cast<double>(sample.bytes.size()) / static_cast<double>(one.frame.record_bytes);
    }
    records *=
        static_cast<double>(chosen) / static_cast<double>(std::max<std::size_t>(searched, 1));
    // A record that begins or ends is half of a pair.
    if (one.pair) records *= 2;
    // Times that start again may be anything else, and a count of the records is no layer.
    double bits = one.reading.bits;
    constexpr double kCount = 40;
    const double count = one.reading.layer.width > 0 && one.reading.layer.is_counter ? kCount : 0;
    if (one.reading.start.is_relative) bits -= 3;
    return records * bits + one.reading.aligned_bits + one.frame.bits - count;
  }

  TickUnit unit_of_times(Explanation& one, const Places& whole) const {
    const Reading& reading = one.reading;
    std::optional<CycleRate> rate;
    if (reading.total && reading.cycles_per_unit > 0 && has_cycles_)
      rate = CycleRate{reading.cycles_per_unit, reading.rate_tolerance};
    RecordSet records;
    std::vector<TimeExtent> extents;
    if (!reading.start.is_relative) {
      records = choose_records(one, whole, codes_);
      extents = extents_of(one, records);
    }
    TickUnit unit = find_unit(extents, rate, samples_.front().core_hz);
    if (extents.empty() || !extents.front().is_absolute || clock_ == nullptr ||
        clock_->executions.empty())
      return unit;
    // The clock of the cores, if their executions are within the calls, or enclose CPU operators.
    if (has_layers_) {
      if (unit.certainty == Certainty::certain || !are_during_executions(extents)) return unit;
    } else {
      one.encloses_executions = encloses_executions(reading, records, extents.back().last);
      if (!one.encloses_executions) return unit;
    }
    unit = make_tick_unit(clock_->hertz);
    unit.certainty = Certainty::certain;
    unit.is_absolute = true;
    unit.evidence = has_layers_ ? "the clock of the cores, at the same times"
                                : "the clock of the cores, whose executions are within calls";
    return unit;
  }

  // First and last time of each file.
  std::vector<TimeExtent> extents_of(const Explanation& one, const RecordSet& records) const {
    const Reading& reading = one.reading;
    const Places& starts = records.starts;
    const bool is_absolute = reading.start.width == 8;
    std::vector<TimeExtent> extents;
    for (std::size_t i = 0; i < starts.size();) {
      const FileSample* sample = starts[i].sample;
      std::size_t last = i;
      while (last + 1 < starts.size() && starts[last + 1].sample == sample) ++last;
      TimeExtent extent;
      extent.is_absolute = is_absolute;
      extent.first = number_at(starts[i], reading.start.offset, reading.start.width);
      if (is_absolute) {
        double end = 0;
        for (std::size_t k = last + 1; k > i && k + 64 > last; --k)
          end = std::max(end, end_of(reading, starts[k - 1], records.ends[k - 1]));
        if (const auto tail = end_in_tail(one, *sample)) end = std::max(end, *tail);
        extent.last = static_cast<std::uint64_t>(end);
      } else {
        extent.last = extent.first + length_of_narrow(reading, starts, i, last);
      }
      extent.has_own_window = sample->window && (is_absolute || sample->is_read_whole());
      if (sample->window) extent.windows.push_back(*sample->window);
      if (!sample->window) extent.windows = sample->other_windows;
      extents.push_back(std::move(extent));
      i = last + 1;
    }
    return extents;
  }

  // Returns true if CPU operators are at the times of the cores' executions.
  bool are_during_executions(const std::vector<TimeExtent>& extents) const {
    const auto& runs = clock_->executions;
    return std::all_of(extents.begin(), extents.end(), [&](const TimeExtent& extent) {
      return extent.first >= runs.front().first / 2 && extent.last / 2 <= runs.back().second &&
             extent.last >= runs.front().first;
    });
  }

  // Returns true if most executions of the cores are within one of these calls. `last_end`: of the
  // calls.
  bool encloses_executions(const Reading& reading, const RecordSet& calls,
                           std::uint64_t last_end) const {
    const Places& starts = calls.starts;
    std::size_t inside = 0;
    std::size_t within = 0;  // executions in the time of these calls
    std::set<std::size_t> enclosing;
    for (const auto& [first, last] : clock_->executions) {
      bool is_within = false, is_inside = false;
      std::size_t i = 0;
      for (; i < starts.size() && !is_inside; ++i) {
        const double start = static_cast<double>(number_at(starts[i], reading.start.offset, 8));
        is_within = is_within || start <= static_cast<double>(first);
        is_inside = start <= static_cast<double>(first) &&
                    end_of(reading, starts[i], calls.ends[i]) >= static_cast<double>(last);
      }
      within += is_within && static_cast<double>(first) < static_cast<double>(last_end) ? 1u : 0u;
      inside += is_inside ? 1u : 0u;
      if (is_inside) enclosing.insert(i);
    }
    return enclosing.size() >= 3 && enclosing.size() * 2 >= clock_->executions.size() &&
           inside * 10 >= within * 9;
  }

  // From the first start to the last one, if times of 32 bits wrap around.
  static std::uint64_t length_of_narrow(const Reading& reading, const Places& starts,
                                        std::size_t first, std::size_t last) {
    std::int64_t length = 0;
    for (std::size_t i = first; i < last; ++i) {
      const auto was = static_cast<std::uint32_t>(number_at(starts[i], reading.start.offset, 4));
      const auto is = static_cast<std::uint32_t>(number_at(starts[i + 1], reading.start.offset, 4));
      length += static_cast<std::int32_t>(is - was);
    }
    return static_cast<std::uint64_t>(std::max<std::int64_t>(length, 0));
  }

  // The last end in the tail of a long file. `bytes` and `tail` do not meet.
  std::optional<double> end_in_tail(const Explanation& one, const FileSample& sample) const {
    if (sample.tail.empty() || one.frame.blocks || one.pair) return std::nullopt;
    FileSample end;
    end.bytes = sample.tail;
    const std::uint64_t tail_at = sample.size_bytes - sample.tail.size();
    const std::size_t size = one.frame.record_bytes;
    std::uint64_t at =
        one.frame.header_bytes + (tail_at - one.frame.header_bytes + size - 1) / size * size;
    std::optional<double> last;
    for (; at + size <= sample.size_bytes; at += size) {
      const Place place{&end, static_cast<std::size_t>(at - tail_at)};
      if (!one.selects(place)) continue;
      last = std::max(last.value_or(0), end_of(one.reading, place, place));
    }
    return last;
  }

  const std::string& kind_;
  const std::vector<FileSample>& samples_;
  const LayerCodes& codes_;
  const KnownClock* clock_;
  bool has_layers_, has_cycles_;
  std::vector<std::size_t> ranked_;  // record sizes
  bool by_order_ = false;            // any number may name layers
  std::vector<Explanation> all_;
};

}  // namespace

bool Explanation::selects(const Place& record) const {
  if (tag && number_at(record, tag->offset, 1) != tag->value) return false;
  if (!pair) return true;
  const std::uint64_t value = number_at(record, pair->offset, 1);
  return value == pair->begin || value == pair->end;
}

RecordSet choose_records(const Explanation& one, const Places& places, const LayerCodes& codes) {
  RecordSet set;
  if (!one.pair) {
    std::copy_if(places.begin(), places.end(), std::back_inserter(set.starts),
                 [&](const Place& place) { return one.selects(place); });
    set.ends = set.starts;
    return set;
  }
  std::map<std::pair<int, std::uint64_t>, Place> open;
  const FileSample* sample = nullptr;
  for (const Place& place : places) {
    if (place.sample != sample) open.clear();
    sample = place.sample;
    if (!one.selects(place)) continue;
    const std::pair key(layer_of(one.reading.layer, codes, place.sample, place),
                        one.core ? number_at(place, *one.core, 1) : 0);
    if (number_at(place, one.pair->offset, 1) == one.pair->begin) {
      open[key] = place;
    } else if (const auto at = open.find(key); at != open.end()) {
      set.starts.push_back(at->second);
      set.ends.push_back(place);
      open.erase(at);
    }
  }
  return set;
}

double end_of(const Reading& reading, const Place& start, const Place& end) {
  const auto time =
      static_cast<double>(number_at(start, reading.start.offset, reading.start.width));
  const auto turned = [&](const Place& place, const TimeColumn& column) {
    const auto other = static_cast<double>(number_at(place, column.offset, column.width));
    return column.width == 4 && other < time ? other + 4294967296.0 : other;
  };
  if (reading.is_pair) return turned(end, reading.start);
  if (reading.end) return turned(end, *reading.end);
  if (reading.duration)
    return time + static_cast<double>(number_at(end, reading.duration->offset, 4));
  if (reading.total && reading.cycles_per_unit > 0)
    return time +
           static_cast<double>(number_at(end, reading.total->offset, 4)) / reading.cycles_per_unit;
  return time;
}

std::vector<Explanation> find_explanations(const std::string& kind,
                                           const std::vector<FileSample>& samples,
                                           const LayerCodes& codes, const KnownClock* clock) {
  return Explorer(kind, samples, codes, clock).run();
}

}  // namespace msprof::layout
