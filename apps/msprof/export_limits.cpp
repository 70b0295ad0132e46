#include "msprof/export_limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "base/error.hpp"
#include "base/text.hpp"

namespace msprof {

namespace {

struct Unit {
  std::string_view name;
  double factor;
};
constexpr std::array kTimeUnits = {Unit{"ns", 1}, Unit{"us", 1e3}, Unit{"ms", 1e6}, Unit{"s", 1e9}};
constexpr std::array kSizeUnits = {Unit{"kB", 1e3},     Unit{"KB", 1e3},      Unit{"MB", 1e6},
                                   Unit{"GB", 1e9},     Unit{"KiB", 1 << 10}, Unit{"MiB", 1 << 20},
                                   Unit{"GiB", 1 << 30}};

// Splits "12.5ms" into number and unit; empty if the number is missing or negative.
struct Quantity {
  double number = 0;
  std::string_view unit;
};
std::optional<Quantity> parse_quantity(std::string_view text) {
  Quantity result;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result.number);
  if (error != std::errc() || !(result.number >= 0) || !std::isfinite(result.number)) return {};
  result.unit = trim(text.substr(static_cast<std::size_t>(end - text.data())));
  return result;
}

template <std::size_t kCount>
std::optional<double> find_factor(const std::array<Unit, kCount>& units, std::string_view name) {
  for (const Unit& unit : units) {
    if (unit.name == name) return unit.factor;
  }
  return {};
}

constexpr double kMax = 9e18;

std::int64_t whole(double value) {
  return value < kMax ? static_cast<std::int64_t>(std::llround(value)) : INT64_MAX;
}

[[noreturn]] void refuse_limit(std::string_view option, const std::string& value,
                               std::string_view form) {
  throw Error(Exit::usage, fmt::format("{} {}: {}", option, printable(value), form));
}

constexpr std::string_view kRangeForm =
    "expected BEGIN:END, each an offset from the start of collection with a unit (5ms:1.5s) or a "
    "timeline ts in us (no unit); either can be omitted";

constexpr std::string_view kEndsFirst = "the end is before the start";

// Parses a point of --time-range; empty if it was left out.
std::optional<TimePoint> time_point(const std::string& range, std::string_view text) {
  if (text.empty()) return {};
  const auto read = parse_quantity(text);
  if (!read) refuse_limit("--time-range", range, kRangeForm);
  if (read->unit.empty()) return TimePoint{whole(read->number * 1e3), false};
  const auto factor = find_factor(kTimeUnits, read->unit);
  if (!factor) refuse_limit("--time-range", range, kRangeForm);
  return TimePoint{whole(read->number * *factor), true};
}

std::int64_t ns_of(const TimePoint& point, std::int64_t begin_ns) {
  if (!point.is_after_begin) return point.ns;
  return point.ns > INT64_MAX - std::max<std::int64_t>(begin_ns, 0) ? INT64_MAX
                                                                    : begin_ns + point.ns;
}

}  // namespace

std::vector<std::int64_t> parse_devices(const std::vector<std::string>& lists) {
  std::vector<std::int64_t> devices;
  for (const std::string& words : lists) {
    for (const std::string_view word : split(words, ',')) {
      std::uint64_t device = 0;
      if (!parse_u64(trim(word), device) || device > INT32_MAX)
        refuse_limit("--device", words, "expected device numbers such as 0 or 0,1");
      devices.push_back(static_cast<std::int64_t>(device));
    }
  }
  return devices;
}

TimeRange parse_time_range(const std::string& text) {
  if (text.empty()) return {};
  const auto ends = split(text, ':');
  if (ends.size() != 2 || (ends[0].empty() && ends[1].empty()))
    refuse_limit("--time-range", text, kRangeForm);
  const TimeRange range{text, time_point(text, ends[0]), time_point(text, ends[1])};
  const bool is_comparable =
      range.begin && range.end && range.begin->is_after_begin == range.end->is_after_begin;
  if (is_comparable && range.begin->ns > range.end->ns)
    refuse_limit("--time-range", text, kEndsFirst);
  return range;
}

void apply_time_range(const TimeRange& range, std::int64_t begin_ns, ExportScope& scope) {
  if (range.begin) scope.range_begin_ns = ns_of(*range.begin, begin_ns);
  if (range.end) scope.range_end_ns = ns_of(*range.end, begin_ns);
  if (scope.range_begin_ns > scope.range_end_ns)
    refuse_limit("--time-range", range.text, kEndsFirst);
}

std::int64_t parse_min_duration(const std::string& text) {
  if (text.empty()) return 0;
  const auto read = parse_quantity(text);
  const auto factor =
      read ? find_factor(kTimeUnits, read->unit.empty() ? "us" : read->unit) : std::nullopt;
  if (!factor)
    refuse_limit("--min-dur", text, "expected a time such as 10us, 500ns or 1ms (no unit: us)");
  return whole(read->number * *factor);
}

std::uint64_t parse_split_bytes(const std::string& text) {
  if (text.empty()) return 0;
  const auto read = parse_quantity(text);
  const auto factor =
      read ? (read->unit.empty() ? std::optional(1.0) : find_factor(kSizeUnits, read->unit))
           : std::nullopt;
  if (!factor || read->number * *factor < 1)
    refuse_limit("--split", text, "expected a size such as 200MB or 64MiB");
  return static_cast<std::uint64_t>(whole(read->number * *factor));
}

}  // namespace msprof
