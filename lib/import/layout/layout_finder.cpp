#include "import/layout/layout_finder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

#include "import/layout/counter_fields.hpp"
#include "import/layout/explanation.hpp"
#include "import/layout/margin.hpp"
#include "import/layout/record_check.hpp"
#include "import/record_layout.hpp"

namespace msprof::layout {

namespace {

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

// Searches the layout of all files of one kind. `clock`: of the kinds that were found before.
class KindSearch {
 public:
  KindSearch(std::string kind, const std::vector<FileSample>& samples)
      : kind_(std::move(kind)),
        samples_(samples),
        codes_(samples_),
        has_layers_(kind_ != "acl_api") {}

  FoundKind run(std::optional<KnownClock>& clock) {
    FoundKind found = empty_kind(kind_, samples_);
    if (has_layers_ && codes_.layers() == 0) {
      found.record_evidence = "the layers of the model are unknown";
    } else {
      all_ = find_explanations(kind_, samples_, codes_, clock ? &*clock : nullptr);
    }
    if (all_.empty()) {
      if (found.record_evidence.empty())
        found.record_evidence = has_layers_ ? "no number cycles through the layer ids of layer.info"
                                            : "no numbers are start and end of calls";
      for (const std::size_t size : record_sizes(samples_, has_layers_)) {
        if (found.candidate_record_sizes.size() < 5) found.candidate_record_sizes.push_back(size);
      }
      return found;
    }
    fill(found);
    if (!clock) clock = clock_of(found);
    return found;
  }

 private:
  RecordSet all_records(const Explanation& one) const {
    return choose_records(one, places_of(one.frame, samples_), codes_);
  }

  // The spans of executions, if the unit of their times is certain.
  std::optional<KnownClock> clock_of(const FoundKind& found) const {
    const Explanation& best = all_.front();
    const FoundField& start = found.field("start");
    if (start.certainty != Certainty::certain || best.reading.start.width != 8 ||
        best.reading.start.is_relative || best.reading.layer.width == 0)
      return std::nullopt;
    KnownClock clock;
    clock.hertz = best.unit.hertz;
    const RecordSet records = all_records(best);
    const LayerColumn& layer = best.reading.layer;
    constexpr std::size_t kMostExecutions = 400;
    const FileSample* sample = nullptr;
    std::uint64_t first_layer = 0;
    std::map<std::uint64_t, std::size_t> run_of_core;
    for (std::size_t i = 0; i < records.starts.size(); ++i) {
      const Place& place = records.starts[i];
      const std::uint64_t number = number_at(place, layer.offset, layer.width);
      const std::uint64_t time = number_at(place, best.reading.start.offset, 8);
      const auto end = static_cast<std::uint64_t>(end_of(best.reading, place, records.ends[i]));
      if (i == 0) first_layer = number;
      auto& runs = clock.executions;
      if (place.sample != sample) run_of_core.clear();
      sample = place.sample;
      const std::uint64_t core = best.core ? number_at(place, *best.core, 1) : 0;
      const auto run = run_of_core.find(core);
      const bool is_first = run == run_of_core.end() || number == first_layer;
      if (is_first && (run == run_of_core.end() || time >= runs[run->second].second)) {
        if (runs.size() == kMostExecutions) break;
        run_of_core[core] = runs.size();
        runs.emplace_back(time, end);
      } else {
        runs[run->second].second = std::max(runs[run->second].second, end);
      }
    }
    std::sort(clock.executions.begin(), clock.executions.end());
    return clock;
  }

  void set(FoundKind& found, std::string_view name, std::size_t offset, std::size_t width,
           Certainty certainty, std::string evidence) const {
    FoundField& field = found.field(name);
    field.certainty = certainty;
    field.place = {offset, width, 1, 1, 0, false};
    field.evidence = std::move(evidence);
  }

  void set_time(FoundKind& found, std::string_view name, const TimeColumn& column,
                const TickUnit& unit, Certainty certainty, const std::string& words) const {
    const bool is_known = unit.certainty != Certainty::unknown;
    set(found, name, column.offset, column.width, is_known ? certainty : Certainty::unknown,
        fmt::format("{}; {}", words, is_known ? unit.evidence : "the unit is not known"));
    FoundField& field = found.field(name);
    field.place.scale = unit.scale;
    field.place.divisor = unit.divisor;
    field.place.wraps = column.width == 4 && !column.is_relative;
    if (!is_known) field.candidates.push_back({field.place, field.evidence});
  }

  void fill(FoundKind& found) const {
    const Explanation& best = all_.front();
    const Reading& reading = best.reading;
    const RecordSet chosen = all_records(best);
    const Places& places = chosen.ends;
    const RecordCheck check = check_records(best, codes_, samples_);
    found.record_bytes = best.frame.record_bytes;
    found.header_bytes = best.frame.header_bytes;
    found.blocks = best.frame.blocks;
    found.records = check.explained;
    found.layers = codes_.layers();
    if (best.tag) found.select = FoundSelect{best.tag->offset, 1, best.tag->value};
    if (best.pair) found.pair = FoundPair{best.pair->offset, best.pair->begin, best.pair->end};
    found.core = best.core;
    std::vector<LayerRecord> records = layer_records(best, places, found);
    const bool is_whole = check.unexplained == 0;
    const Margin margin = margin_of(all_, samples_, codes_);
    // Two numbers that rise in turn may be anything: calls must enclose what the cores did, or be
    // the only times of the record, within the collection; the length of the file shows which of
    // them are of one record.
    const bool is_only_span =
        best.unit.is_by_windows && best.frame.fits_length && reading.end && reading.times == 2;
    // CPU operators are few: the only two times of a record are start and end.
    const bool is_pair_of_times =
        kind_ == "aicpu" && reading.end && reading.times == 2 && best.frame.fits_length;
    const bool is_long =
        places.size() >= 20 && (!has_layers_ || codes_.layers() >= 3 || is_pair_of_times);
    const bool is_one_record = !has_next_start(best, places);
    const bool has_witness = has_layers_ ? is_one_record
                                         : (best.encloses_executions || is_only_span) &&
                                               is_one_record && reading.times < 4;
    // Any number of the records of one type may repeat.
    const bool is_layer_doubtful =
        best.is_layer_doubtful || (best.tag && reading.layer.form == LayerForm::order);
    const bool is_whole_type = !leaves_out_layers(best, codes_, samples_);
    // Garbage in records of other types hides the end of the header.
    const bool has_header = best.frame.fits_length || (!best.tag && !may_end_early(best));
    const bool is_sure = has_header && is_whole && is_long && margin.is_clear &&
                         margin.is_header_clear && reading.has_span() && has_witness &&
                         is_whole_type && !is_layer_doubtful;
    found.record_certainty = is_sure ? Certainty::certain : Certainty::likely;
    // Records of other types may be a part of the header, or it of them.
    const bool is_header_known = margin.is_header_known && best.frame.fits_length && !best.tag;
    found.header_certainty = is_header_known ? found.record_certainty : Certainty::likely;
    found.record_evidence = fmt::format(
        "{} records{} explain the files{}{}{}{}", check.explained, best.tag ? " of one type" : "",
        is_whole ? "" : fmt::format(" but for {} records", check.unexplained),
        margin.is_clear ? "" : "; another reading explains as much",
        is_whole_type ? "" : "; other bytes look like records, too",
        margin.is_header_clear && has_header ? "" : "; the last one may be cut");
    found.header_evidence =
        !margin.is_header_clear               ? "the last record may be cut or whole"
        : !margin.is_header_known || best.tag ? "another one gives the same records"
        : best.frame.fits_length              ? "the rest of the files are whole records"
                                              : "after it, all bytes look like those of records";
    const Certainty framed = found.record_certainty;
    if (reading.layer.width > 0) {
      set(found, "layer_id", reading.layer.offset, reading.layer.width, framed,
          layer_words(reading.layer));
      set_layer_form(found, reading.layer);
    }
    // The numbers of calls and CPU layers are few; two times in turn are enough for them.
    const bool is_strong =
        best.encloses_executions || (!has_layers_ && is_only_span) || is_pair_of_times ||
        (reading.spread >= 1.5 &&
         (reading.gap_bits >= 0.5 || (reading.end && (reading.total || kind_ != "aicore"))));
    Certainty timed = std::min(framed, best.unit.certainty);
    const bool is_by_total = reading.total && !reading.end && !reading.duration && !reading.is_pair;
    if (!is_strong || may_be_narrow(best, places) || may_be_shifted(best) ||
        (is_by_total && !best.unit.has_named_clock && !best.unit.is_by_windows))
      timed = std::min(timed, Certainty::likely);
    set_time(found, "start", reading.start, best.unit, timed,
             reading.start.is_relative ? "rises within every execution" : "rises");
    if (reading.end)
      set_time(found, "end", *reading.end, best.unit, timed,
               "never before start nor after the next start");
    if (reading.duration) {
      TimeColumn column;
      column.offset = reading.duration->offset;
      column.width = reading.duration->width;
      column.is_relative = true;
      set_time(found, "duration", column, best.unit, timed, "ends where the next record starts");
    }
    if (reading.total && kind_ == "aicore") set_total(found, best, timed);
    if (kind_ == "aicore") {
      if (!has_certain_span(found)) lower_to_likely(found);
      std::vector<bool> taken = taken_bytes(found);
      if (!best.core && !best.pair)
        find_counters(records, reading.total ? std::optional(reading.total->offset) : std::nullopt,
                      found.record_certainty == Certainty::certain, taken, found);
    }
    if (kind_ == "acl_api") find_api_ids(places, found);
  }

  static bool has_certain_span(const FoundKind& found) {
    constexpr std::array<std::string_view, 3> kSpans = {"end", "duration", "total_cycles"};
    return found.pair || std::any_of(kSpans.begin(), kSpans.end(), [&](std::string_view name) {
             return found.field(name).certainty == Certainty::certain;
           });
  }

  // Without a span, the number that rises may be the end of a record, or of another type.
  static void lower_to_likely(FoundKind& found) {
    found.record_certainty = std::min(found.record_certainty, Certainty::likely);
    found.header_certainty = std::min(found.header_certainty, Certainty::likely);
    for (const char* const name : {"layer_id", "start"}) {
      Certainty& certainty = found.field(name).certainty;
      certainty = std::min(certainty, Certainty::likely);
    }
  }

  // The header of a cut file may be some bytes longer, so that the last record is cut.
  bool may_end_early(const Explanation& one) const {
    constexpr std::size_t kMore = 4;
    return !one.frame.blocks &&
           std::any_of(samples_.begin(), samples_.end(), [&](const FileSample& sample) {
             return rest_of(one.frame, sample) < kMore;
           });
  }

  // The upper half of the start may be another number: it never has a carry, and nothing confirms
  // it.
  static bool may_be_narrow(const Explanation& one, const Places& places) {
    const Reading& reading = one.reading;
    if (reading.start.width == 4 || reading.start.is_relative || one.unit.is_absolute ||
        reading.end)
      return false;
    // Some minutes to days since boot, in units from us to ns.
    constexpr std::uint64_t kLeastUpper = 64, kMostUpper = std::uint64_t{1} << 20;
    bool has_upper = false;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const std::uint64_t time = number_at(places[i], reading.start.offset, 8);
      const std::uint64_t upper = time >> 32;
      has_upper = has_upper || (upper != 0 && (upper < kLeastUpper || upper > kMostUpper)) ||
                  upper != number_at(places.front(), reading.start.offset, 8) >> 32;
      if (i == 0 || places[i].sample != places[i - 1].sample) continue;
      const std::uint64_t before = number_at(places[i - 1], reading.start.offset, 8);
      if (upper == (before >> 32) + 1 && (time & 0xffffffff) < (before & 0xffffffff)) return false;
    }
    return has_upper;
  }

  // Start and cycles that are shifted by the same bytes give the same clock.
  static bool may_be_shifted(const Explanation& one) {
    const Reading& reading = one.reading;
    return reading.total && !one.unit.is_absolute && reading.start.offset % 4 != 0 &&
           reading.start.offset % 4 == reading.total->offset % 4;
  }

  // The second half of the records names layers, too.
  bool has_next_layer(const Explanation& one, const Places& places) const {
    const LayerColumn& layer = one.reading.layer;
    const std::size_t size = one.frame.record_bytes, offset = (layer.offset + size / 2) % size;
    if (offset + layer.width > size) return false;
    std::set<int> named;
    for (const Place& place : places)
      named.insert(codes_.index(place.sample, layer.form, number_at(place, offset, layer.width)));
    return !named.contains(-1) && named.size() * 2 >= layer.distinct;
  }

  // The end may be the start of the next record, if the record is two.
  bool has_next_start(const Explanation& one, const Places& places) const {
    const Reading& reading = one.reading;
    if (!reading.end) return false;
    const std::size_t start = reading.start.offset, end = reading.end->offset;
    if ((start < end ? end - start : start - end) * 2 != one.frame.record_bytes) return false;
    if (!has_layers_ || reading.layer.form == LayerForm::order) return true;
    return (kind_ == "aicore" && !reading.total) || has_next_layer(one, places);
  }

  std::string layer_words(const LayerColumn& layer) const {
    switch (layer.form) {
      case LayerForm::id:
        return fmt::format("names {} of {} layers", layer.distinct, codes_.layers());
      case LayerForm::from_one:
        return fmt::format("names {} of {} layers, counted from one", layer.distinct,
                           codes_.layers());
      case LayerForm::info_offset:
        return fmt::format("offsets of {} of {} layers in layer.info", layer.distinct,
                           codes_.layers());
      case LayerForm::crc32:
      case LayerForm::fnv1a:
        return fmt::format("hashes of the names of {} of {} layers", layer.distinct,
                           codes_.layers());
      case LayerForm::order:
        break;
    }
    return fmt::format("{} numbers in the order of the layers", layer.distinct);
  }

  void set_layer_form(FoundKind& found, const LayerColumn& layer) const {
    const auto& layers = samples_.front().layers;
    if (layer.form == LayerForm::from_one) found.field("layer_id").place.base = 1;
    if (layer.form == LayerForm::id || layer.form == LayerForm::from_one) return;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      if (layer.form != LayerForm::order) {
        if (const auto number = codes_.number(layer.form, layers[i]))
          found.layer_ids[*number] = layers[i].id;
      } else if (i < layer.order.size()) {
        found.layer_ids[layer.order[i]] = layers[i].id;
      }
    }
  }

  void set_total(FoundKind& found, const Explanation& best, Certainty timed) const {
    const Reading& reading = best.reading;
    const bool is_alone = !reading.end && !reading.duration && !reading.is_pair;
    const double hz = reading.cycles_per_unit * best.unit.hertz;
    Certainty certainty = reading.is_total_alone ? timed : std::min(timed, Certainty::likely);
    // The estimate is better than its tolerance if it meets the clock of info.json.
    constexpr double kMostTolerance = 0.02, kMostOfNamed = 0.2, kNear = 0.005;
    const auto& named = samples_.front().core_hz;
    const bool meets = named && std::abs(hz / static_cast<double>(*named) - 1) < kNear &&
                       reading.rate_tolerance < kMostOfNamed;
    const bool is_exact =
        best.unit.has_named_clock && (meets || reading.rate_tolerance < kMostTolerance);
    const bool is_only_clock =
        best.unit.has_named_clock && is_only_usual_clock(hz, reading.rate_tolerance);
    if (is_alone && !is_exact && !is_only_clock) certainty = std::min(certainty, Certainty::likely);
    const bool is_known = best.unit.certainty != Certainty::unknown;
    if (is_known && !best.unit.has_named_clock) {
      // Frequencies are whole numbers of MHz if they are near one.
      const double mhz = hz / 1e6;
      const double whole = std::round(mhz);
      const double near = std::max(reading.rate_tolerance, 1e-5) * mhz;
      found.core_mhz = std::abs(whole - mhz) <= near ? whole : mhz;
    }
    set(found, "total_cycles", reading.total->offset, reading.total->width, certainty,
        fmt::format(
            "follows the durations of {} records at {}{}", reading.records,
            is_known ? fmt::format("{:.6g} MHz", hz / 1e6) : "a frequency that is not known",
            found.core_mhz && samples_.front().core_hz ? ", which is not that of info.json" : ""));
  }

  std::vector<LayerRecord> layer_records(const Explanation& best, const Places& places,
                                         FoundKind& found) const {
    std::vector<LayerRecord> records;
    const LayerColumn& layer = best.reading.layer;
    if (layer.width == 0 || layer.form == LayerForm::order) return records;
    const FileSample* sample = nullptr;
    int first = 0, before = 0;
    std::size_t execution = 0;
    for (const Place& place : places) {
      const int index = layer_of(layer, codes_, place.sample, place);
      if (index < 0) continue;
      if (place.sample != sample) {
        sample = place.sample;
        first = index;
        execution = 0;
        ++found.executions;
      } else if (index == first && index < before) {
        ++execution;
        ++found.executions;
      }
      before = index;
      records.push_back({place, static_cast<std::size_t>(index), execution});
    }
    return records;
  }

  std::vector<bool> taken_bytes(const FoundKind& found) const {
    std::vector<bool> taken(found.record_bytes, false);
    const auto take = [&](std::size_t offset, std::size_t width) {
      for (std::size_t i = offset; i < offset + width && i < taken.size(); ++i) taken[i] = true;
    };
    for (const FoundField& field : found.fields)
      if (!field.evidence.empty()) take(field.place.offset, field.place.width);
    if (found.select) take(found.select->offset, found.select->width);
    return taken;
  }

  // The first call loads the model, the last one unloads it, and most execute it.
  void find_api_ids(const Places& places, FoundKind& found) const {
    const std::vector<bool> taken = taken_bytes(found);
    struct Candidate {
      FieldPlace place;
      std::uint64_t first = 0, last = 0, most = 0;
      std::size_t ids = 0;
      std::vector<std::size_t> order;  // the ids by their first call
    };
    std::vector<Candidate> all;
    for (std::size_t offset = 0; offset < found.record_bytes; ++offset) {
      for (const std::size_t width : {4u, 2u, 1u}) {
        if (offset + width > found.record_bytes || taken[offset] || taken[offset + width - 1])
          continue;
        std::map<std::uint64_t, std::pair<std::size_t, std::size_t>> counts;  // order, count
        Candidate one;
        one.place = {offset, width, 1, 1, 0, false};
        constexpr std::size_t kMostIds = 12;
        for (const Place& place : places) {
          auto& id =
              counts.try_emplace(number_at(place, offset, width), counts.size(), 0).first->second;
          ++id.second;
          one.order.push_back(id.first);
          if (counts.size() > kMostIds) break;
        }
        one.first = number_at(places.front(), offset, width);
        one.last = number_at(places.back(), offset, width);
        one.ids = counts.size();
        if (counts.size() < 3 || counts.size() > kMostIds || one.first == one.last ||
            counts[one.first].second != 1 || counts[one.last].second != 1)
          continue;
        one.most = std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) {
                     return a.second.second < b.second.second;
                   })->first;
        all.push_back(std::move(one));
        break;
      }
    }
    if (all.empty()) return;
    // Of numbers that overlap, the smallest.
    std::stable_sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
      return std::pair(a.first, a.place.offset % 4 != 0) <
             std::pair(b.first, b.place.offset % 4 != 0);
    });
    const Candidate& best = all.front();
    const bool is_alone = std::all_of(
        all.begin(), all.end(), [&](const Candidate& one) { return one.order == best.order; });
    FoundField& field = found.field("api_id");
    set(found, "api_id", best.place.offset, best.place.width,
        is_alone ? found.record_certainty : Certainty::likely,
        fmt::format("{} values; the first and the last of the file occur once: load and unload",
                    best.ids));
    for (const Candidate& one : all)
      if (one.order != best.order) field.candidates.push_back({one.place, "few values"});
    found.apis = {
        {static_cast<std::int64_t>(best.first), "svp_acl_mdl_load_from_mem", "the first call"},
        {static_cast<std::int64_t>(best.most), "svp_acl_mdl_execute", "the most frequent call"},
        {static_cast<std::int64_t>(best.last), "svp_acl_mdl_unload", "the last call"}};
  }

  std::string kind_;
  const std::vector<FileSample>& samples_;
  LayerCodes codes_;
  bool has_layers_;
  std::vector<Explanation> all_;
};

}  // namespace

InferredLayout find_layouts(const BoardSamples& samples) {
  InferredLayout layout;
  std::optional<KnownClock> clock;
  for (const auto& [kind, files] :
       {std::pair("aicore", &samples.aicore), std::pair("aicpu", &samples.aicpu),
        std::pair("acl_api", &samples.acl_api)})
    if (!files->empty()) layout.kinds.push_back(KindSearch(kind, *files).run(clock));
  return layout;
}

}  // namespace msprof::layout
