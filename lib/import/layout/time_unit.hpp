// Finds the unit of times: from the times in `.done` files, and from the number of cycles per unit.
// Source: layout_method.md 5.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "import/layout/samples.hpp"

namespace msprof::layout {

enum class Certainty { unknown, likely, certain };

// First and last time of a file, and the windows of `.done` files that enclose them.
struct TimeExtent {
  std::uint64_t first = 0, last = 0;
  bool is_absolute = true;      // false: counts from an unknown time
  bool has_own_window = false;  // the only one in `windows`
  std::vector<DoneWindow> windows;
};

struct CycleRate {
  double cycles_per_unit = 0;
  double tolerance = 0;  // relative
};

// A time value times `scale` / `divisor` is in ns.
struct TickUnit {
  Certainty certainty = Certainty::unknown;
  double hertz = 0;
  std::int64_t scale = 1;
  std::int64_t divisor = 1;
  std::string evidence;
  bool has_named_clock = false;  // the cycles are those of info.json's frequency
  bool is_by_windows = false;    // the times are within those of `.done`, in another unit
  bool is_absolute = false;      // the times are within those of `.done`
};

TickUnit find_unit(const std::vector<TimeExtent>& extents, std::optional<CycleRate> rate,
                   std::optional<std::int64_t> core_hz);

// Returns true if one usual clock of cores is within this relative tolerance of `hz`, and no other
// one is near.
bool is_only_usual_clock(double hz, double tolerance);

// Sets only the rate.
TickUnit make_tick_unit(double hertz);

// For example "24 MHz" or "us".
std::string unit_words(double hertz);

}  // namespace msprof::layout
