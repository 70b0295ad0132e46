#include "import/layout/call_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "import/layout/record_grid.hpp"
#include "import/record_layout.hpp"

namespace msprof::layout {

namespace {

constexpr std::size_t kMinCallBytes = 16, kMaxCallBytes = 128, kMaxHeader = 64;
constexpr std::size_t kRingCalls = 512;  // size of a board's ring buffer of calls

// A possible layout of call records.
struct CallGrid {
  std::size_t record_bytes = 0, header = 0;
  std::ptrdiff_t start = 0, end = 0;
  bool is_alone = true;   // no other pair of fields in these records rises like this
  bool encloses = false;  // calls enclose the executions of the layers, in the same time unit
  std::optional<double> hertz{};  // rate of that unit
  bool is_long = false;
  TickUnit unit{};
};

std::vector<LayerRecord> list_calls(const FileSample& sample, std::size_t record_bytes,
                                    std::size_t header) {
  std::vector<LayerRecord> calls;
  for (std::size_t at = header;
       at + record_bytes <= sample.bytes.size() && calls.size() <= kRingCalls; at += record_bytes) {
    calls.push_back({&sample, at, 0, 0});
  }
  return calls;
}

class CallSearch {
 public:
  CallSearch(const std::vector<FileSample>& samples, std::optional<double> done_hertz,
             const std::vector<ExecutionSpan>& executions)
      : samples_(samples), done_hertz_(done_hertz), executions_(executions) {
    std::stable_sort(
        samples_.begin(), samples_.end(),
        [](const FileSample& a, const FileSample& b) { return a.bytes.size() > b.bytes.size(); });
    found_.kind = "acl_api";
    for (const FileSample& sample : samples_) {
      found_.files.push_back(sample.name);
      found_.file_sizes.push_back(sample.size_bytes);
    }
    for (const auto name : kAclApiFields) {
      FoundField field;
      field.name = name;
      found_.fields.push_back(std::move(field));
    }
  }

  FoundKind run() {
    const auto found = find_best_grid();
    if (!found) {
      found_.record_evidence = "no two numbers increase like start and end of calls";
      return std::move(found_);
    }
    const CallGrid& grid = *found;
    calls_ = all_calls(grid);
    found_.record_bytes = grid.record_bytes;
    found_.header_bytes = grid.header;
    found_.records = calls_.size();
    const FileSample& sample = samples_.front();
    const bool is_much = calls_.size() >= 8 && grid.is_alone;
    const bool is_within = grid.unit.lies_within;
    const bool is_framed = is_much && (is_within || grid.encloses);
    found_.record_certainty = is_framed ? Certainty::certain : Certainty::likely;
    // Header bytes can look like a call, but their time is outside the collection.
    const bool is_header = is_framed && is_within && sample.whole_len;
    certainty_ = found_.header_certainty = is_header ? Certainty::certain : Certainty::likely;
    found_.record_evidence = fmt::format(
        "two numbers increase like start and end of {} calls{}", calls_.size(),
        grid.encloses ? ", and each execution of the layers lies within one of them" : "");
    found_.header_evidence =
        fmt::format("{} bytes minus a header of {} bytes are whole records{}", sample.size_bytes,
                    grid.header, is_within ? ", all within the collection" : "");
    add_times(grid);
    add_ids(grid);
    return std::move(found_);
  }

 private:
  std::vector<LayerRecord> all_calls(const CallGrid& grid) const {
    std::vector<LayerRecord> all;
    for (const FileSample& sample : samples_) {
      const auto calls = list_calls(sample, grid.record_bytes, grid.header);
      if (&sample == &samples_.front() || follow_each_other(calls, grid.start, grid.end))
        all.insert(all.end(), calls.begin(), calls.end());
    }
    return all;
  }

  static std::uint64_t read_time(const LayerRecord& call, std::ptrdiff_t shift, bool is_long) {
    return number_at(*call.sample, call.at + static_cast<std::size_t>(shift), is_long ? 8 : 4);
  }

  // Returns true if, in this unit, every execution is enclosed by a call, and the calls have the
  // same distances as the executions.
  bool encloses(std::span<const LayerRecord> calls, const CallGrid& grid, double ns) const {
    constexpr std::size_t kFirstCalls = 16, kMin = 3;
    constexpr double kSlackNs = 200e3;  // time of a call besides its layers
    if (executions_.size() < kMin) return false;
    const auto fits = [&](std::size_t call, const ExecutionSpan& execution, double& shift) {
      const double begin =
          ns * static_cast<double>(read_time(calls[call], grid.start, grid.is_long));
      const double end = ns * static_cast<double>(read_time(calls[call], grid.end, grid.is_long));
      const double layers = execution.end_ns - execution.begin_ns;
      if (end - begin < layers - 2 * ns || end - begin > layers * 1.1 + kSlackNs) return false;
      const double now = begin - execution.begin_ns;
      const bool is_near = std::isnan(shift) || std::abs(now - shift) < kSlackNs;
      if (std::isnan(shift)) shift = now;
      return is_near;
    };
    for (std::size_t first = 0; first < std::min(kFirstCalls, calls.size()); ++first) {
      double shift = std::nan("");
      std::size_t call = first;
      std::size_t matched = 0;
      for (const ExecutionSpan& execution : executions_) {
        while (call < calls.size() && !fits(call, execution, shift)) {
          if (matched == 0) break;
          ++call;
        }
        if (call == calls.size() || std::isnan(shift)) break;
        ++matched;
        ++call;
      }
      if (matched == executions_.size()) return true;
    }
    return false;
  }

  void judge(std::span<const LayerRecord> calls, CallGrid& grid) const {
    bool has_same_high = true;
    grid.is_long = are_long_times(calls, grid.start, grid.end, has_same_high);
    for (const double hertz : {1e6, 1e9}) {
      if (!encloses(calls, grid, 1e9 / hertz)) continue;
      grid.encloses = true;
      grid.hertz = hertz;
    }
    const FileSample& sample = samples_.front();
    TimeExtent extent;
    extent.first = read_time(calls.front(), grid.start, grid.is_long);
    extent.last = read_time(calls.back(), grid.end, grid.is_long);
    extent.own = sample.window;
    grid.unit = find_unit({extent}, std::nullopt, std::nullopt, done_hertz_);
    if (!grid.hertz || grid.unit.lies_within) return;
    grid.unit = make_time_unit(*grid.hertz);
    grid.unit.certainty = Certainty::likely;
    grid.unit.evidence =
        fmt::format("{}: matches the executions of the layers", unit_words(*grid.hertz));
  }

  // Finds the best pair of fields that rise like start and end.
  std::optional<CallGrid> find_grid(std::size_t size, std::size_t header) const {
    const auto calls = list_calls(samples_.front(), size, header);
    if (calls.size() < 4 || calls.size() > kRingCalls) return std::nullopt;
    std::optional<CallGrid> grid;
    const auto most = static_cast<std::ptrdiff_t>(size) - 4;
    std::vector<std::ptrdiff_t> rising;
    for (std::ptrdiff_t at = 0; at <= most; at += 4)
      if (is_rising(calls, at)) rising.push_back(at);
    std::size_t pairs = 0;
    for (const std::ptrdiff_t start : rising) {
      for (const std::ptrdiff_t end : rising) {
        if (start == end || !follow_each_other(calls, start, end)) continue;
        ++pairs;
        CallGrid one;
        one.record_bytes = size;
        one.header = header;
        one.start = start;
        one.end = end;
        judge(calls, one);
        if (!grid || grid_rank(one) > grid_rank(*grid)) grid = one;
      }
    }
    if (grid) grid->is_alone = pairs == 1;
    return grid;
  }

  static int grid_rank(const CallGrid& grid) {
    return (grid.unit.lies_within ? 2 : 0) + (grid.encloses ? 1 : 0);
  }

  // Among equally good layouts, prefers the smallest records and the shortest header.
  std::optional<CallGrid> find_best_grid() const {
    const FileSample& sample = samples_.front();
    const std::uint64_t length = sample.whole_len.value_or(sample.size_bytes);
    std::optional<CallGrid> best;
    for (std::size_t size = kMinCallBytes; size <= kMaxCallBytes; size += 4) {
      for (std::size_t header = length % size; header <= kMaxHeader; header += size) {
        const auto grid = find_grid(size, header);
        if (grid && (!best || grid_rank(*grid) > grid_rank(*best))) best = grid;
      }
    }
    return best;
  }

  void add_times(const CallGrid& grid) {
    const TickUnit& unit = grid.unit;
    for (const auto& [name, shift, words] :
         {std::tuple("start", grid.start, "increases"),
          std::tuple("end", grid.end, "increases, never before start nor after the next start")}) {
      FoundField& field = found_.field(name);
      field.certainty = std::min(unit.certainty, certainty_);
      field.place = {static_cast<std::size_t>(shift), std::size_t{grid.is_long ? 8u : 4u},
                     unit.scale, unit.divisor};
      if (!grid.is_long && is_zero_behind(grid, shift)) field.place.width = 8;
      field.evidence =
          fmt::format("{}; {}", words,
                      unit.certainty == Certainty::unknown ? "the unit is unknown" : unit.evidence);
      if (unit.certainty == Certainty::unknown)
        field.candidates.push_back({field.place, field.evidence});
    }
  }

  bool is_zero_behind(const CallGrid& grid, std::ptrdiff_t shift) const {
    std::vector<std::uint32_t> high;
    return static_cast<std::size_t>(shift) + 8 <= grid.record_bytes &&
           read_lane(calls_, shift + 4, high) &&
           std::all_of(high.begin(), high.end(), [](std::uint32_t word) { return word == 0; });
  }

  // Returns true if there are few values and the first and the last value of the file occur once,
  // as load and unload do.
  bool is_id(const std::vector<std::uint32_t>& values) const {
    constexpr std::size_t kMaxIds = 64;
    std::map<std::uint32_t, std::size_t> counts;
    for (const std::uint32_t value : values) {
      if (value > 1u << 20) return false;
      ++counts[value];
    }
    if (counts.size() < 3 || counts.size() > kMaxIds) return false;
    return counts[values.front()] == 1 && counts[values.back()] == 1 &&
           counts.size() * 2 <= values.size() + 2;
  }

  void add_ids(const CallGrid& grid) {
    std::size_t own = 0;  // number of calls in the first file
    while (own < calls_.size() && calls_[own].sample == calls_.front().sample) ++own;
    const std::span<const LayerRecord> calls(calls_.data(), own);
    FoundField& field = found_.field("api_id");
    std::vector<std::pair<std::ptrdiff_t, std::vector<std::uint32_t>>> fitting;
    for (std::ptrdiff_t shift = 0; shift + 4 <= static_cast<std::ptrdiff_t>(grid.record_bytes);
         shift += 4) {
      std::vector<std::uint32_t> values;
      const bool is_time = shift == grid.start || shift == grid.end ||
                           (grid.is_long && (shift == grid.start + 4 || shift == grid.end + 4));
      if (is_time || !read_lane(calls, shift, values)) continue;
      if (is_id(values)) fitting.emplace_back(shift, std::move(values));
    }
    for (const auto& [shift, values] : fitting) {
      field.candidates.push_back({{static_cast<std::size_t>(shift), 4, 1, 1},
                                  "few values; the first and the last occur once"});
    }
    if (fitting.size() != 1) return;
    const auto& [shift, values] = fitting.front();
    field.certainty = values.size() >= 8 ? certainty_ : Certainty::likely;
    field.place = {static_cast<std::size_t>(shift), 4, 1, 1};
    field.evidence =
        fmt::format("few values in {} calls; the first and the last occur once", values.size());
    std::map<std::uint32_t, std::size_t> counts;
    for (const std::uint32_t value : values) ++counts[value];
    const auto often =
        std::max_element(counts.begin(), counts.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    const auto add = [&](std::uint32_t id, const char* name, std::string why) {
      found_.apis.push_back({id, name, std::move(why)});
    };
    add(values.front(), "svp_acl_mdl_load_from_mem", "the first call, once");
    if (std::count_if(counts.begin(), counts.end(),
                      [&](const auto& one) { return one.second == often->second; }) == 1) {
      add(often->first, "svp_acl_mdl_execute", fmt::format("the most calls: {}", often->second));
    }
    add(values.back(), "svp_acl_mdl_unload", "the last call, once");
  }

  std::vector<FileSample> samples_;
  std::optional<double> done_hertz_;
  const std::vector<ExecutionSpan>& executions_;  // in the first file of layers
  Certainty certainty_ = Certainty::likely;       // upper limit for the certainty of all fields
  FoundKind found_;
  std::vector<LayerRecord> calls_;
};

}  // namespace

FoundKind find_call_layout(const std::vector<FileSample>& samples, std::optional<double> done_hertz,
                           const std::vector<ExecutionSpan>& executions) {
  return CallSearch(samples, done_hertz, executions).run();
}

}  // namespace msprof::layout
