// Parses options that limit an export: devices, times and sizes with units. For the verb export.
// Each function throws Error(usage) with the expected form.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "export/scope/export_scope.hpp"

namespace msprof {

// Parses lists such as "0,1".
std::vector<std::int64_t> parse_devices(const std::vector<std::string>& lists);

// A point of --time-range.
struct TimePoint {
  std::int64_t ns = 0;
  bool is_after_begin =
      false;  // relative to the start of the collection; else a ts of the timeline
};

// The value of --time-range; a limit that was left out is empty.
struct TimeRange {
  std::string text;  // as given
  std::optional<TimePoint> begin;
  std::optional<TimePoint> end;
};

// Parses "5ms:1.5s"; empty: no limit.
TimeRange parse_time_range(const std::string& text);

// Limits `scope` to the range in a capture whose collection starts at `begin_ns`.
void apply_time_range(const TimeRange& range, std::int64_t begin_ns, ExportScope& scope);

// Parses "10us" of --min-dur, returned in ns; empty: 0.
std::int64_t parse_min_duration(const std::string& text);

// Parses "200MB" of --split; empty: 0.
std::uint64_t parse_split_bytes(const std::string& text);

}  // namespace msprof
