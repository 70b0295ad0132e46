#include "import/layout/time_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace msprof::layout {

namespace {

constexpr std::size_t kCompared = 512;  // number of records examined per combination of fields
constexpr double kMaxMisses = 0.02;     // share of records that may miss the line
constexpr double kMinSlope = 0.05, kMaxSlope = 5000;  // cycles per unit of time
constexpr double kConstantCycles = 300;               // for start and end of a layer
constexpr double kRelativeSlack = 0.02;
constexpr double kClearlyBetter = 1.5;  // ratio of deviations
constexpr double kUnitSlack = 0.1;      // in units of the times
constexpr std::size_t kMaxRising = 24;

// 1 us, 1 ns and the usual clock rates of boards.
constexpr std::array<double, 20> kTickHertz = {1e6,  3e6,  6e6,  8e6,     10e6,  12e6, 19.2e6,
                                               20e6, 24e6, 25e6, 26e6,    27e6,  32e6, 33e6,
                                               48e6, 50e6, 54e6, 74.25e6, 100e6, 1e9};

struct Lane {
  std::ptrdiff_t shift = 0;
  std::vector<std::uint32_t> values;
};

bool is_same_sample(std::span<const LayerRecord> records, std::size_t i) {
  return records[i].sample == records[i + 1].sample;
}

bool is_before(std::uint32_t a, std::uint32_t b) {
  return b - a < 0x80000000u;
}

// Returns true if the number rises within every file and is rarely constant.
bool rises(std::span<const LayerRecord> records, const std::vector<std::uint32_t>& values) {
  std::size_t still = 0;
  for (std::size_t i = 0; i + 1 < values.size(); ++i) {
    if (!is_same_sample(records, i)) continue;
    if (!is_before(values[i], values[i + 1])) return false;
    still += values[i] == values[i + 1] ? 1u : 0u;
  }
  return still * 4 < values.size();
}

// Returns true if the number advances by more than 2^32 within a file, and the next word does not
// count the wraparounds as the high word of a 64-bit time does. Such a number is not a time.
bool turns_often(std::span<const LayerRecord> records, const Lane& lane) {
  std::uint64_t run = 0;
  for (std::size_t i = 0; i + 1 < lane.values.size(); ++i) {
    if (!is_same_sample(records, i)) {
      run = 0;
      continue;
    }
    run += lane.values[i + 1] - lane.values[i];
    if (run >> 32 != 0) break;
  }
  if (run >> 32 == 0) return false;
  std::vector<std::uint32_t> high;
  if (!read_lane(records, lane.shift + 4, high)) return true;
  for (std::size_t i = 0; i + 1 < lane.values.size(); ++i) {
    const std::uint32_t carry = lane.values[i + 1] < lane.values[i] ? 1 : 0;
    if (is_same_sample(records, i) && high[i + 1] - high[i] != carry) return true;
  }
  return false;
}

struct Line {
  double slope = 0, intercept = 0, deviation = 0;
};

Line fit(const std::vector<double>& x, const std::vector<std::uint32_t>& y) {
  const auto n = static_cast<double>(x.size());
  double sx = 0, sy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sx += x[i];
    sy += y[i];
  }
  double sxx = 0, sxy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sxx += (x[i] - sx / n) * (x[i] - sx / n);
    sxy += (x[i] - sx / n) * (y[i] - sy / n);
  }
  Line line;
  if (sxx <= 0) return line;
  line.slope = sxy / sxx;
  line.intercept = sy / n - line.slope * sx / n;
  double squares = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double miss = y[i] - line.intercept - line.slope * x[i];
    squares += miss * miss;
  }
  line.deviation = std::sqrt(squares / n);
  return line;
}

// Durations between two rising numbers; empty if they cannot be start and end.
std::vector<double> durations(std::span<const LayerRecord> records, const Lane& start,
                              const Lane& end) {
  std::vector<double> result;
  std::size_t overlaps = 0;
  const std::size_t count = start.values.size();
  const auto most = static_cast<std::size_t>(kMaxMisses * static_cast<double>(count));
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_before(start.values[i], end.values[i])) return {};
    result.push_back(end.values[i] - start.values[i]);
    if (i + 1 == count || !is_same_sample(records, i)) continue;
    // Allows one unit of rounding.
    if (!is_before(end.values[i], start.values[i + 1] + 1) && ++overlaps > most) return {};
  }
  return result;
}

struct Triple {
  SpanFields fields;
  bool does_first_fit = true;  // including the first record of every file
};

std::optional<Triple> follow(std::span<const LayerRecord> records, const Lane& start,
                             const Lane& end, const std::vector<double>& taken, const Lane& total) {
  const auto longest = std::max_element(taken.begin(), taken.end());
  if (*longest <= 0) return std::nullopt;
  const double slope = total.values[static_cast<std::size_t>(longest - taken.begin())] / *longest;
  if (slope < kMinSlope || slope > kMaxSlope) return std::nullopt;
  const auto most = static_cast<std::size_t>(kMaxMisses * static_cast<double>(taken.size()));
  std::size_t misses = 0;
  Triple triple;
  for (std::size_t i = 0; i < taken.size(); ++i) {
    const double cycles = total.values[i];
    const double slack = 2 * slope + kConstantCycles + kRelativeSlack * cycles;
    const bool fits = cycles > 0 && std::abs(cycles - slope * taken[i]) <= slack;
    if (fits) continue;
    if (++misses > most) return std::nullopt;
    if (i == 0 || !is_same_sample(records, i - 1)) triple.does_first_fit = false;
  }
  const Line line = fit(taken, total.values);
  if (line.slope <= 0) return std::nullopt;
  // Cycles that hardly vary would match anything.
  const auto [least, greatest] = std::minmax_element(total.values.begin(), total.values.end());
  if (*greatest < *least + *least / 4 || line.deviation * 8 > *greatest - *least)
    return std::nullopt;
  triple.fields.start = start.shift;
  triple.fields.end = end.shift;
  triple.fields.total = total.shift;
  triple.fields.cycles_per_unit = line.slope;
  triple.fields.deviation = line.deviation / line.slope;
  triple.fields.checked = taken.size();
  triple.fields.spread = static_cast<double>(*greatest) / std::max<double>(1, *least);
  return triple;
}

std::vector<Lane> all_lanes(std::span<const LayerRecord> records, std::ptrdiff_t low,
                            std::ptrdiff_t high) {
  std::vector<Lane> lanes;
  const auto anchor = static_cast<std::ptrdiff_t>(records.front().at);
  for (std::ptrdiff_t shift = low; shift + 4 <= high; ++shift) {
    if ((anchor + shift) % 4 != 0) continue;
    Lane lane;
    lane.shift = shift;
    if (read_lane(records, shift, lane.values)) lanes.push_back(std::move(lane));
  }
  return lanes;
}

bool is_turned(const SpanFields& a, const SpanFields& b, std::ptrdiff_t record_bytes) {
  const std::ptrdiff_t turn = b.start - a.start;
  return turn % record_bytes == 0 && b.end - a.end == turn && b.total - a.total == turn;
}

const std::vector<std::uint32_t>& values_at(const std::vector<Lane>& lanes, std::ptrdiff_t shift) {
  return std::find_if(lanes.begin(), lanes.end(),
                      [&](const Lane& lane) { return lane.shift == shift; })
      ->values;
}

bool is_same(const std::vector<Lane>& lanes, const SpanFields& a, const SpanFields& b) {
  return values_at(lanes, a.start) == values_at(lanes, b.start) &&
         values_at(lanes, a.end) == values_at(lanes, b.end) &&
         values_at(lanes, a.total) == values_at(lanes, b.total);
}

std::ptrdiff_t fields_extent(const SpanFields& fields) {
  const auto [low, high] = std::minmax({std::ptrdiff_t{0}, fields.start, fields.end, fields.total});
  // At equal lengths, prefers start and end next to each other.
  return 1024 * (high - low) + std::abs(fields.end - fields.start);
}

constexpr std::array<double, 2> kDoneHertz = {1e6, 1e9};

// Agreement of a rate with the windows of `.done` files.
struct Agreement {
  bool lies_within = false;  // same time origin as .done
  bool has_span = false;     // the duration equals that of the collection
  bool contradicts = false;
  std::optional<double> done_hertz;
};

Agreement agreement(const TimeExtent& extent, double hertz, std::optional<double> only_done) {
  Agreement result;
  const double first = static_cast<double>(extent.first) / hertz;
  const double last = static_cast<double>(extent.last) / hertz;
  std::vector<DoneWindow> windows = extent.others;
  if (extent.own) windows.push_back(*extent.own);
  bool is_possible = windows.empty();
  for (const DoneWindow& window : windows) {
    for (const double done : kDoneHertz) {
      if (only_done && done != *only_done) continue;
      const double begin = static_cast<double>(window.first) / done;
      const double end = static_cast<double>(window.second) / done;
      if (end <= begin) continue;
      const double length = end - begin;
      const double slack = 2e-6;
      if (last - first <= length * 1.001 + slack) is_possible = true;
      if (first >= begin - slack && last <= end + slack && last - first > 0.05 * length) {
        result.lies_within = true;
        result.done_hertz = done;
      }
    }
  }
  if (extent.own) {
    for (const double done : kDoneHertz) {
      if (only_done && done != *only_done) continue;
      const double length = static_cast<double>(extent.own->second) / done -
                            static_cast<double>(extent.own->first) / done;
      const double share = length > 0 ? (last - first) / length : 0;
      if (share <= 1.001 && share >= (extent.is_whole ? 0.8 : 0.3)) {
        result.has_span = true;
        if (!result.lies_within) result.done_hertz = done;
      }
    }
  }
  result.contradicts = !is_possible;
  return result;
}

void set_rate(TickUnit& unit, double hertz) {
  unit.hertz = hertz;
  const auto rate = static_cast<std::int64_t>(std::llround(hertz));
  constexpr std::int64_t kNsPerSecond = 1'000'000'000;
  const std::int64_t common = std::gcd(kNsPerSecond, rate);
  unit.scale = kNsPerSecond / common;
  unit.divisor = rate / common;
}

struct Rate {
  double hertz = 0;
  bool fits_estimate = false;
  bool is_slow = false;  // the cores would be slower than info.json says
  bool lies_within = false, has_span = false;
  std::optional<double> done_hertz{};
};

}  // namespace

std::optional<SpanFields> find_spans(std::span<const LayerRecord> all, std::size_t record_bytes,
                                     std::ptrdiff_t low, std::ptrdiff_t high) {
  constexpr std::size_t kMinRecords = 6;
  const auto records = all.subspan(0, std::min(all.size(), kCompared));
  if (records.size() < kMinRecords) return std::nullopt;
  const std::vector<Lane> lanes = all_lanes(records, low, high);
  std::vector<const Lane*> rising;
  for (const Lane& lane : lanes) {
    if (rising.size() < kMaxRising && rises(records, lane.values) && !turns_often(records, lane))
      rising.push_back(&lane);
  }
  std::vector<Triple> found;
  for (const Lane* start : rising) {
    for (const Lane* end : rising) {
      // Both must be in one record.
      const std::ptrdiff_t apart = std::abs(end->shift - start->shift);
      if (apart == 0 || apart > static_cast<std::ptrdiff_t>(record_bytes) - 4) continue;
      const auto taken = durations(records, *start, *end);
      if (taken.empty()) continue;
      for (const Lane& total : lanes) {
        const auto [first, last] = std::minmax({start->shift, end->shift, total.shift});
        if (last - first > static_cast<std::ptrdiff_t>(record_bytes) - 4) continue;
        if (auto triple = follow(records, *start, *end, taken, total)) found.push_back(*triple);
      }
    }
  }
  if (found.empty()) return std::nullopt;
  std::sort(found.begin(), found.end(), [](const Triple& a, const Triple& b) {
    return a.fields.deviation < b.fields.deviation;
  });
  // The same fields in the next record fit as well. The first position that fits is used.
  const auto step = static_cast<std::ptrdiff_t>(record_bytes);
  const Triple* first = &found.front();
  for (const Triple& other : found) {
    if (!is_turned(first->fields, other.fields, step) || !other.does_first_fit) continue;
    if (!first->does_first_fit || other.fields.start < first->fields.start) first = &other;
  }
  SpanFields best = first->fields;
  const double deviation = best.deviation;
  for (const Triple& other : found) {
    if (is_turned(best, other.fields, step)) continue;
    if (other.fields.deviation >= kClearlyBetter * deviation + kUnitSlack) continue;
    // The same times again, in a record of another type: uses the fields that are closer together.
    if (is_same(lanes, best, other.fields)) {
      if (fields_extent(other.fields) < fields_extent(best)) best = other.fields;
    } else {
      best.is_alone = false;
    }
  }
  best.is_long = are_long_times(all, best.start, best.end, best.has_same_high);
  return best;
}

bool are_long_times(std::span<const LayerRecord> records, std::ptrdiff_t start_shift,
                    std::ptrdiff_t end_shift, bool& has_same_high) {
  std::vector<std::uint32_t> start, end, start_high, end_high;
  has_same_high = true;
  if (!read_lane(records, start_shift, start) || !read_lane(records, end_shift, end) ||
      !read_lane(records, start_shift + 4, start_high) ||
      !read_lane(records, end_shift + 4, end_high)) {
    return false;
  }
  bool some = false;
  for (std::size_t i = 0; i < start.size(); ++i) {
    some = some || start_high[i] != 0 || end_high[i] != 0;
    has_same_high = has_same_high && start_high[i] == start_high[0] && end_high[i] == start_high[0];
    const std::uint64_t a = std::uint64_t{start_high[i]} << 32 | start[i];
    const std::uint64_t b = std::uint64_t{end_high[i]} << 32 | end[i];
    if (b < a || b - a != end[i] - start[i]) return false;
    if (i == 0 || !is_same_sample(records, i - 1)) continue;
    const std::uint64_t before = std::uint64_t{start_high[i - 1]} << 32 | start[i - 1];
    if (a < before || a - before > UINT32_MAX) return false;
  }
  return some;
}

bool is_rising(std::span<const LayerRecord> records, std::ptrdiff_t shift) {
  Lane lane{shift, {}};
  return read_lane(records, shift, lane.values) && rises(records, lane.values) &&
         !turns_often(records, lane);
}

bool follow_each_other(std::span<const LayerRecord> records, std::ptrdiff_t start_shift,
                       std::ptrdiff_t end_shift) {
  Lane start{start_shift, {}}, end{end_shift, {}};
  if (!read_lane(records, start_shift, start.values)) return false;
  if (!read_lane(records, end_shift, end.values)) return false;
  for (const Lane& lane : {start, end})
    if (!rises(records, lane.values) || turns_often(records, lane)) return false;
  return !durations(records, start, end).empty();
}

bool is_plausible_time(std::uint64_t value, double hertz) {
  constexpr double kTenYears = 10.0 * 366 * 86400;
  return static_cast<double>(value) / hertz < kTenYears;
}

std::string unit_words(double hertz) {
  if (hertz == 1e6) return "us";
  if (hertz == 1e9) return "ns";
  return fmt::format("ticks of {:.6g} MHz", hertz / 1e6);
}

TickUnit make_time_unit(double hertz) {
  TickUnit unit;
  set_rate(unit, hertz);
  return unit;
}

TickUnit find_unit(const std::vector<TimeExtent>& extents, std::optional<double> estimated_hz,
                   std::optional<std::int64_t> core_hz, std::optional<double> done_hertz) {
  constexpr double kClose = 0.012;
  constexpr double kSlowest = 4;  // cores may run at a quarter of the rate in info.json
  constexpr double kSlow = 1.1;
  std::vector<double> rates(kTickHertz.begin(), kTickHertz.end());
  if (core_hz && *core_hz >= 1'000'000) rates.push_back(static_cast<double>(*core_hz));
  std::sort(rates.begin(), rates.end());
  rates.erase(std::unique(rates.begin(), rates.end()), rates.end());
  std::vector<Rate> possible;
  for (const double hertz : rates) {
    Rate rate{hertz, false, false, true, true, {}};
    if (estimated_hz) {
      const double ratio = *estimated_hz / hertz;  // above 1: cores slower than in info.json
      if (ratio < 1 - kClose || ratio > kSlowest) continue;
      rate.fits_estimate = ratio < 1 + kClose;
      rate.is_slow = ratio > kSlow;
    }
    bool contradicts = extents.empty();
    for (const TimeExtent& extent : extents) {
      const Agreement agrees = agreement(extent, hertz, done_hertz);
      contradicts = contradicts || agrees.contradicts || !is_plausible_time(extent.last, hertz);
      rate.lies_within = rate.lies_within && agrees.lies_within;
      rate.has_span = rate.has_span && agrees.has_span;
      rate.done_hertz = agrees.done_hertz;
    }
    if (!contradicts) possible.push_back(rate);
  }
  TickUnit unit;
  const auto choose = [&](auto&& is_good, Certainty certainty, const std::string& why) {
    const auto count = std::count_if(possible.begin(), possible.end(), is_good);
    if (count != 1 || unit.certainty != Certainty::unknown) return;
    const Rate& rate = *std::find_if(possible.begin(), possible.end(), is_good);
    set_rate(unit, rate.hertz);
    unit.certainty = certainty;
    unit.lies_within = rate.lies_within;
    if (rate.lies_within || rate.has_span) unit.done_hertz = rate.done_hertz;
    unit.evidence = fmt::format("{}: {}", unit_words(rate.hertz), why);
  };
  const auto is_common = [](const Rate& rate) { return rate.hertz == 1e6 || rate.hertz == 1e9; };
  if (estimated_hz) {
    choose([](const Rate& rate) { return rate.fits_estimate && rate.lies_within; },
           Certainty::certain,
           "matches the cycles at the frequency of info.json, and all times are between start_time "
           "and end_time of .done");
    // Certain only if no rate with slower cores also matches the length of the collection.
    const bool is_only_span = std::none_of(possible.begin(), possible.end(), [](const Rate& rate) {
      return rate.is_slow && rate.has_span;
    });
    const std::string took =
        "matches the cycles at the frequency of info.json, and the length of the collection";
    const auto fits_span = [](const Rate& rate) { return rate.fits_estimate && rate.has_span; };
    if (is_only_span) choose(fits_span, Certainty::certain, took);
    choose([](const Rate& rate) { return rate.lies_within; }, Certainty::certain,
           "all times are between start_time and end_time of .done");
    choose([&](const Rate& rate) { return rate.fits_estimate && is_common(rate); },
           Certainty::certain, "matches the cycles at the frequency of info.json");
    choose(fits_span, Certainty::likely, took);
    choose([](const Rate& rate) { return rate.fits_estimate; }, Certainty::likely,
           "matches the cycles at the frequency of info.json");
    choose([&](const Rate& rate) { return rate.has_span && is_common(rate); }, Certainty::likely,
           "matches the length of the collection");
  } else {
    choose([&](const Rate& rate) { return rate.lies_within && is_common(rate); },
           Certainty::certain, "all times are between start_time and end_time of .done");
    choose([&](const Rate& rate) { return rate.has_span && is_common(rate); }, Certainty::likely,
           "matches the length of the collection");
  }
  return unit;
}

}  // namespace msprof::layout
