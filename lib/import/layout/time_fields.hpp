// Finds start, end and total cycles of layer records: two rising times and a number that is
// proportional to their difference. Also finds the unit of the times. Source: layout_method.md 3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "import/layout/record_grid.hpp"

namespace msprof::layout {

enum class Certainty { unknown, likely, certain };

// A time value times `scale` / `divisor` is in ns.
struct TickUnit {
  Certainty certainty = Certainty::unknown;
  double hertz = 0;
  std::int64_t scale = 1;
  std::int64_t divisor = 1;
  bool lies_within = false;          // all times are within a window of `.done`
  std::optional<double> done_hertz;  // unit of the times in `.done` files, if it could be
                                     // determined
  std::string evidence;
};

struct SpanFields {
  std::ptrdiff_t start = 0, end = 0, total = 0;  // relative to the layer number
  bool is_long = false;        // 64-bit times; else 32 bits, possibly followed by zeros
  bool has_same_high = false;  // the high words never change
  double cycles_per_unit = 0;
  double deviation = 0;  // root mean square deviation of the cycles from the line, in time units
  bool is_alone = true;  // no other three fields fit nearly as well
  std::size_t checked = 0;
  double spread = 0;  // longest / shortest layer
};

// Searches the bytes [low, high), relative to the layer number.
std::optional<SpanFields> find_spans(std::span<const LayerRecord> records, std::size_t record_bytes,
                                     std::ptrdiff_t low, std::ptrdiff_t high);

// Returns true if the words after start and end are the high words of 64-bit times: not all zero,
// and equal for both. `has_same_high` is set if they never change.
bool are_long_times(std::span<const LayerRecord> records, std::ptrdiff_t start, std::ptrdiff_t end,
                    bool& has_same_high);

// Returns true if the number rises in every file and wraps around only as often as its high word
// says.
bool is_rising(std::span<const LayerRecord> records, std::ptrdiff_t shift);

// Returns true if `end` is never before `start` and the next record of the file starts after it.
bool follow_each_other(std::span<const LayerRecord> records, std::ptrdiff_t start,
                       std::ptrdiff_t end);

// First and last time of a file, and the windows of `.done` files.
struct TimeExtent {
  std::uint64_t first = 0, last = 0;
  std::optional<DoneWindow> own;
  std::vector<DoneWindow> others;
  bool is_whole = true;  // the file is not truncated
};

// `estimated_hz`: estimated from the cycles; absent if there are none. `done_hertz`: unit of the
// times in `.done` files, if known.
TickUnit find_unit(const std::vector<TimeExtent>& extents, std::optional<double> estimated_hz,
                   std::optional<std::int64_t> core_hz, std::optional<double> done_hertz = {});

// Sets only the rate.
TickUnit make_time_unit(double hertz);

// Returns true if times since boot at this rate can have this value: up to ten years.
bool is_plausible_time(std::uint64_t value, double hertz);

// For example "24 MHz" or "us".
std::string unit_words(double hertz);

}  // namespace msprof::layout
