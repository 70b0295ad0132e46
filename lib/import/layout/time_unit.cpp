#include "import/layout/time_unit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

namespace msprof::layout {

namespace {

// Rates of counters on boards, ns and us.
constexpr double kNamedHz[] = {1e9,  1e6,  3e6,    10e6, 12e6,  12.5e6, 19.2e6, 20e6,
                               24e6, 25e6, 26e6,   27e6, 32e6,  38.4e6, 40e6,   48e6,
                               50e6, 54e6, 62.5e6, 75e6, 100e6, 125e6};
constexpr double kUsualHz[] = {19.2e6, 24e6, 25e6, 48e6, 50e6, 100e6};
constexpr double kUsualCoreHz[] = {400e6,  450e6,  500e6,  550e6,  600e6, 650e6, 700e6,
                                   750e6,  800e6,  840e6,  850e6,  900e6, 950e6, 1000e6,
                                   1050e6, 1100e6, 1150e6, 1200e6, 1250e6};
constexpr double kDoneHz[] = {1e6, 1e9};
constexpr double kLeastCoreHz = 300e6, kMostCoreHz = 2000e6;
constexpr double kSameRate = 0.003;

bool is_close(double a, double b, double tolerance) {
  return std::abs(a / b - 1) <= tolerance;
}

constexpr double kOutside = std::numeric_limits<double>::infinity();

// How far the windows are from the times, relative to the times; kOutside if the times are not
// within the windows. `factor`: units of `.done` per unit of the times.
double distance(const std::vector<TimeExtent>& extents, double factor) {
  double worst = kOutside;
  for (const TimeExtent& extent : extents) {
    if (extent.windows.empty()) {
      if (!extent.is_absolute) return kOutside;
      continue;
    }
    double best = kOutside;
    for (const DoneWindow& window : extent.windows) {
      const double first = static_cast<double>(extent.first) * factor;
      const double last = static_cast<double>(extent.last) * factor;
      const auto begin = static_cast<double>(window.first),
                 end = static_cast<double>(window.second);
      const double room = 2 + 2 * factor;
      if (first < begin - room || last > end + room) continue;
      const double near = std::min(std::abs(end - last), std::abs(first - begin));
      best = std::min(best, near / std::max(last, 1.0));
    }
    if (best == kOutside) return kOutside;
    worst = worst == kOutside ? best : std::max(worst, best);
  }
  return worst;
}

std::vector<double> hypotheses(std::optional<std::int64_t> core_hz) {
  std::vector<double> all(std::begin(kNamedHz), std::end(kNamedHz));
  for (const double hz : kUsualCoreHz)
    if (hz <= 1200e6 && hz != 1e9) all.push_back(hz);
  if (core_hz && *core_hz > 0) {
    const auto core = static_cast<double>(*core_hz);
    if (std::none_of(all.begin(), all.end(), [&](double hz) { return is_close(hz, core, 1e-6); }))
      all.push_back(core);
  }
  return all;
}

bool is_round_clock(double hz, double tolerance) {
  return hz >= 400e6 && hz <= 1250e6 &&
         std::any_of(std::begin(kUsualCoreHz), std::end(kUsualCoreHz),
                     [&](double clock) { return is_close(clock, hz, tolerance); });
}

// How long the records take, and how long `.done` says, each in its own unit.
class Lengths {
 public:
  explicit Lengths(std::vector<TimeExtent> extents) {
    const bool has_windows =
        !extents.empty() && std::all_of(extents.begin(), extents.end(), [&](const auto& extent) {
          return extent.has_own_window && (extent.is_absolute || extents.size() == 1);
        });
    if (!has_windows) return;
    std::sort(extents.begin(), extents.end(),
              [](const TimeExtent& a, const TimeExtent& b) { return a.first < b.first; });
    const double times = static_cast<double>(extents.back().last - extents.front().first);
    const double window = static_cast<double>(extents.back().windows.front().second) -
                          static_cast<double>(extents.front().windows.front().first);
    if (times < 1 || window < 1) return;
    ratio_ = window / times;
    // With equal units, the lengths say nothing about the rate.
    if (is_within(ratio_, kMostPossible)) ratio_ = 0;
  }

  bool are_known() const { return ratio_ > 0; }
  // The records at this rate take less time than the collection, but not much less.
  bool allow(double hz) const { return fits(hz, kMostPossible); }
  bool confirm(double hz) const { return fits(hz, 1.1); }
  bool confirm_closely(double hz) const { return fits(hz, 1.02); }

 private:
  static constexpr double kMostPossible = 1.6;
  static bool is_within(double ratio, double most) { return ratio > 0.9995 && ratio < most; }
  bool fits(double hz, double most) const {
    return are_known() && std::any_of(std::begin(kDoneHz), std::end(kDoneHz), [&](double done) {
             return is_within(ratio_ * hz / done, most);
           });
  }

  double ratio_ = 0;  // units of `.done` per unit of the records
};

// The unit by cycles. us and ns are known by the magnitude; of the other rates, the clock of the
// cores must be the named one, and no other rate may make it a usual one.
TickUnit by_cycles(const CycleRate& rate, std::optional<std::int64_t> core_hz, bool is_done_unit,
                   const Lengths& lengths) {
  const double kappa = rate.cycles_per_unit;
  const double tolerance = std::max(0.002, rate.tolerance);
  TickUnit unit;
  const auto named = core_hz ? static_cast<double>(*core_hz) : 0.0;
  const bool is_own_clock = is_close(kappa, 1, tolerance);
  for (const double hz : {1e6, 1e9}) {
    const double core = kappa * hz;
    if (core < kLeastCoreHz || core > kMostCoreHz) continue;
    const bool is_named = core_hz && is_close(core, named, tolerance);
    if (is_own_clock && !is_named) continue;
    unit = make_tick_unit(hz);
    unit.evidence = fmt::format("{} by {:.6g} cycles per unit", unit_words(hz), kappa);
    // Times in cycles of an unknown clock have one cycle per unit, too.
    const bool is_confirmed = (is_named && !is_own_clock) || is_done_unit || lengths.confirm(hz);
    unit.certainty = is_confirmed ? Certainty::certain : Certainty::likely;
    return unit;
  }
  if (!core_hz) return unit;
  if (is_own_clock) {
    const bool is_confirmed = lengths.confirm_closely(named);
    unit = make_tick_unit(named);
    unit.evidence = fmt::format("the clock of the cores, which .done {}",
                                is_confirmed ? "confirms" : "does not confirm");
    unit.certainty = is_confirmed ? Certainty::certain : Certainty::likely;
    return unit;
  }
  std::size_t usual = 0, possible = 0;
  for (const double hz : kNamedHz) {
    if (hz == 1e6 || hz == 1e9) continue;
    const bool is_named = is_close(kappa * hz, named, tolerance);
    const bool is_usual =
        std::find(std::begin(kUsualHz), std::end(kUsualHz), hz) != std::end(kUsualHz);
    const bool is_hypothesis = is_named || (is_usual && is_round_clock(kappa * hz, tolerance));
    usual += is_hypothesis ? 1u : 0u;
    possible += is_hypothesis && lengths.allow(hz) ? 1u : 0u;
    if (is_named) unit = make_tick_unit(hz);
  }
  if (unit.hertz == 0) return unit;
  unit.evidence = fmt::format("{} by {:.6g} cycles per unit at {:.6g} MHz", unit_words(unit.hertz),
                              kappa, named / 1e6);
  const bool is_only_one = usual == 1 || (possible == 1 && lengths.confirm(unit.hertz));
  unit.certainty = is_only_one && tolerance < 0.015 ? Certainty::certain : Certainty::likely;
  return unit;
}

}  // namespace

std::string unit_words(double hertz) {
  if (hertz == 1e9) return "ns";
  if (hertz == 1e6) return "us";
  return fmt::format("ticks of {:.6g} MHz", hertz / 1e6);
}

bool is_only_usual_clock(double hz, double tolerance) {
  constexpr double kMost = 0.04;
  const auto near =
      std::count_if(std::begin(kUsualCoreHz), std::end(kUsualCoreHz),
                    [&](double clock) { return is_close(hz, clock, 1.5 * tolerance); });
  return near == 1 && tolerance < kMost;
}

TickUnit make_tick_unit(double hertz) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  TickUnit unit;
  unit.hertz = hertz;
  const auto hz = static_cast<std::int64_t>(std::llround(hertz));
  const std::int64_t common = std::gcd(kSecond, hz);
  unit.scale = kSecond / common;
  unit.divisor = hz / common;
  return unit;
}

TickUnit find_unit(const std::vector<TimeExtent>& extents, std::optional<CycleRate> rate,
                   std::optional<std::int64_t> core_hz) {
  // Rates by the windows: nearest first. Equal units say nothing about the rate.
  std::vector<std::pair<double, double>> near;
  for (const double hz : hypotheses(core_hz)) {
    double best = kOutside;
    for (const double done : kDoneHz)
      if (done != hz) best = std::min(best, distance(extents, done / hz));
    const double core = rate ? rate->cycles_per_unit * hz : kLeastCoreHz;
    const bool is_core = core > 0.8 * kLeastCoreHz && core < 1.2 * kMostCoreHz;
    if (best != kOutside && is_core) near.emplace_back(best, hz);
  }
  std::sort(near.begin(), near.end());
  constexpr double kNear = 0.004, kFar = 0.006;
  const bool is_done_unit = distance(extents, 1) <= kNear;  // kOutside if there are no windows
  TickUnit unit;
  const bool is_near = !near.empty() && near.front().first <= kNear && !is_done_unit;
  if (is_near && (near.size() == 1 || near[1].first > std::max(10 * near.front().first, kFar))) {
    unit = make_tick_unit(near.front().second);
    unit.evidence = fmt::format("{}: the times of .done", unit_words(unit.hertz));
    unit.certainty = Certainty::certain;
    unit.is_by_windows = true;
  } else if (rate) {
    unit = by_cycles(*rate, core_hz, is_done_unit, Lengths(extents));
  } else if (is_done_unit) {
    unit = make_tick_unit(1e6);
    unit.certainty = Certainty::likely;
    unit.evidence = "the unit of .done, which may be us";
  }
  unit.is_absolute = unit.is_by_windows || is_done_unit;
  if (unit.hertz > 0 && rate && core_hz) {
    unit.has_named_clock =
        is_close(rate->cycles_per_unit * unit.hertz, static_cast<double>(*core_hz),
                 std::max(kSameRate, rate->tolerance));
  }
  return unit;
}

}  // namespace msprof::layout
