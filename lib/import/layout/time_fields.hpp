// Start, end and total cycles of layer records: two rising times whose difference a third number
// follows at one frequency; and the unit of the times. For layout_finder and call_fields.
// layout_method.md 3.
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

// Time values times `scale` / `divisor` are ns.
struct TimeUnit {
  Certainty certainty = Certainty::unknown;
  double hertz = 0;
  std::int64_t scale = 1;
  std::int64_t divisor = 1;
  bool lies_within = false;          // between the times of a `.done`
  std::optional<double> done_hertz;  // unit of the times in `.done` files, where it follows
  std::string evidence;
};

struct SpanFields {
  std::ptrdiff_t start = 0, end = 0, total = 0;  // from the layer number
  bool is_long = false;                          // the times have 64 bits; else 32, or zeros behind
  bool has_same_high = false;                    // their upper words never change
  double cycles_per_unit = 0;
  double deviation = 0;  // of the cycles from the line, root mean square, in units of the times
  bool is_alone = true;  // no other three numbers do nearly as well
  std::size_t checked = 0;
  double spread = 0;  // longest over shortest layer
};

// Numbers from `low` to before `high`, from the layer number.
std::optional<SpanFields> find_spans(std::span<const LayerRecord> records, std::size_t record_bytes,
                                     std::ptrdiff_t low, std::ptrdiff_t high);

// True if the words behind start and end are the high ones of times of 64 bits: not all zero, and
// the same for both. `has_same_high`: they never change.
bool are_long_times(std::span<const LayerRecord> records, std::ptrdiff_t start, std::ptrdiff_t end,
                    bool& has_same_high);

// True if the number rises in every file, and turns over no more often than its upper word says.
bool is_rising(std::span<const LayerRecord> records, std::ptrdiff_t shift);

// True if `end` is never before `start`, and the next record of the file starts behind it.
bool follow_each_other(std::span<const LayerRecord> records, std::ptrdiff_t start,
                       std::ptrdiff_t end);

// Extent of the times of a file, in their unit, beside what its `.done` files say.
struct TimeExtent {
  std::uint64_t first = 0, last = 0;
  std::optional<DoneWindow> own;
  std::vector<DoneWindow> others;
  bool is_whole = true;  // the file was not cut
};

// `estimated_hz`: from the cycles; absent where there are none. `done_hertz`: unit of the times in
// `.done` files, where it is known.
TimeUnit find_unit(const std::vector<TimeExtent>& extents, std::optional<double> estimated_hz,
                   std::optional<std::int64_t> core_hz, std::optional<double> done_hertz = {});

// Only the rate.
TimeUnit unit_of(double hertz);

// True if times of `hertz` from boot can have these high words: up to ten years.
bool is_plausible_time(std::uint64_t value, double hertz);

// "24 MHz", "us"
std::string unit_words(double hertz);

}  // namespace msprof::layout
