#include "session/clock_map.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/number.hpp"

namespace msprof {

namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::uint64_t kPsPerSecond = 1'000'000'000'000;
constexpr std::int64_t kNsPerSecond = 1'000'000'000;

std::int64_t clamped(int128 value) {
  return static_cast<std::int64_t>(std::clamp(value, int128{kMin}, int128{kMax}));
}

// to_decimal() returns the number that Python's str() prints, in units of 10^-kPlaces, rounded half
// to even.
constexpr int kPlaces = 18;

int128 power_of_ten(int exponent) {
  int128 power = 1;
  for (int i = 0; i < exponent; ++i) power *= 10;
  return power;
}

int128 divide_half_even(int128 value, int128 divisor) {
  int128 quotient = value / divisor;
  const int128 rest = value % divisor;
  const int128 twice = (rest < 0 ? -rest : rest) * 2;
  const bool away = twice > divisor || (twice == divisor && quotient % 2 != 0);
  if (away) quotient += value < 0 ? -1 : 1;
  return quotient;
}

int128 to_decimal(double value) {
  char text[32];
  const auto done = std::to_chars(text, text + sizeof(text), value, std::chars_format::scientific);
  int128 digits = 0;
  int fraction = 0;
  bool after_point = false;
  const char* at = text;
  const bool negative = *at == '-';
  if (negative) ++at;
  for (; at != done.ptr && *at != 'e'; ++at) {
    if (*at == '.') {
      after_point = true;
      continue;
    }
    digits = digits * 10 + (*at - '0');
    if (after_point) ++fraction;
  }
  int exponent = 0;
  if (at != done.ptr) ++at;  // skip 'e'
  if (at != done.ptr && *at == '+') ++at;
  std::from_chars(at, done.ptr, exponent);
  const int shift = exponent - fraction + kPlaces;  // power of ten applied to the digits
  if (shift >= 0) {
    digits *= power_of_ten(shift);
  } else {
    digits = -shift > 36 ? 0 : divide_half_even(digits, power_of_ten(-shift));
  }
  return negative ? -digits : digits;
}

}  // namespace

ClockMap::ClockMap(const ClockStart& start) : start_(start) {
  start_.frequency_hz = std::max<std::int64_t>(start_.frequency_hz, 1);
  base_ns_ = clamped(int128{start_.monotonic_ns} + start_.wall_offset_ns);
  const auto hz = static_cast<std::uint64_t>(start_.frequency_hz);
  if (kNsPerSecond % start_.frequency_hz == 0) {
    ns_per_tick_ = static_cast<std::uint64_t>(kNsPerSecond / start_.frequency_hz);
  }
  const std::uint64_t common = std::gcd(kPsPerSecond, hz);
  numerator_ = kPsPerSecond / common;
  denominator_ = hz / common;
  plain_limit_ = (std::numeric_limits<std::uint64_t>::max() - denominator_) / numerator_;
  constexpr int128 kSecondsPerYear = 366 * 86'400;
  const int128 begin = start_.counts_are_ns ? int128{start_.monotonic_ns} : int128{start_.count};
  const int128 latest =
      begin + kSecondsPerYear * (start_.counts_are_ns ? kNsPerSecond : start_.frequency_hz);
  latest_ = static_cast<std::uint64_t>(std::clamp(latest, int128{0}, int128{UINT64_MAX}));
}

std::int64_t ClockMap::ns(std::uint64_t count) const {
  if (start_.counts_are_ns) return clamped(int128{count} + start_.wall_offset_ns);
  const bool before = count < start_.count;
  const std::uint64_t ticks = before ? start_.count - count : count - start_.count;
  if (ns_per_tick_ != 0) {
    const int128 ns = int128{ticks} * ns_per_tick_;
    return clamped(before ? base_ns_ - ns : base_ns_ + ns);
  }
  // Rounds to the nearest picosecond, half away from zero, as the vendor's tool does before
  // truncating. 64 bits are enough for nearly all counts; a 128-bit division is a function call.
  if (ticks <= plain_limit_ && !before) {
    const std::uint64_t ps = (ticks * numerator_ + denominator_ / 2) / denominator_;
    return saturating_add(base_ns_, static_cast<std::int64_t>(ps / 1000));
  }
  const int128 ps = divide_rounded(int128{ticks} * numerator_, denominator_);
  if (!before) return clamped(base_ns_ + ps / 1000);
  return clamped((int128{base_ns_} * 1000 - ps) / 1000);
}

std::int64_t ClockMap::duration_ns(std::uint64_t ticks) const {
  if (ns_per_tick_ != 0) return clamped(int128{ticks} * ns_per_tick_);
  if (ticks <= plain_limit_) {
    const std::uint64_t ps = (ticks * numerator_ + denominator_ / 2) / denominator_;
    return static_cast<std::int64_t>(ps / 1000);
  }
  return clamped(divide_rounded(int128{ticks} * numerator_, denominator_) / 1000);
}

double ClockMap::vendor_monotonic(std::uint64_t count, double units_a_second) const {
  const double monotonic_s =
      static_cast<double>(start_.monotonic_ns + start_.vendor_extra_ns) / 1e9;
  const double start_s = static_cast<double>(start_.count) / 1e9;
  return (static_cast<double>(count) - start_s * 1e9) / static_cast<double>(start_.frequency_hz) *
             units_a_second +
         monotonic_s * units_a_second;
}

double ClockMap::vendor_monotonic_ms(std::uint64_t count) const {
  return vendor_monotonic(count, 1e3);
}

std::int64_t ClockMap::vendor_ns(std::uint64_t count) const {
  const double us = start_.counts_are_ns ? static_cast<double>(count) * 1e6 / 1e9
                                         : std::max(vendor_monotonic(count, 1e6), 0.0);
  return to_vendor_ns(us);
}

std::int64_t ClockMap::to_vendor_ns(double monotonic_us) const {
  const std::int64_t begin_us =
      clamped((int128{start_.wall_offset_ns} + start_.begin_monotonic_ns) / 1000);
  const double offset_us =
      static_cast<double>(begin_us) - static_cast<double>(start_.begin_monotonic_ns) / 1000.0;
  // Larger values would overflow the decimal arithmetic; no clock reaches this.
  constexpr double kMaxUs = 1e19;
  if (!(std::abs(monotonic_us) < kMaxUs)) return monotonic_us < 0 ? kMin : kMax;
  const int128 sum = to_decimal(monotonic_us) + to_decimal(offset_us);
  return clamped(divide_half_even(sum, power_of_ten(kPlaces - 3)));
}

}  // namespace msprof
