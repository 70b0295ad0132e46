// Parses options that limit an export: devices, times and sizes with units. For the verb export.
// Each function throws Error(usage) with the expected form.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "export/scope/export_scope.hpp"

namespace msprof {

// Parses lists such as "0,1".
std::vector<std::int64_t> devices_of(const std::vector<std::string>& lists);

// Parses "5ms:1.5s" of --time-range, relative to `begin_ns`; empty: no limit.
void read_range(const std::string& range, std::int64_t begin_ns, ExportScope& scope);

// Parses "10us" of --min-dur, returned in ns; empty: 0.
std::int64_t min_duration_of(const std::string& text);

// Parses "200MB" of --split; empty: 0.
std::uint64_t split_bytes_of(const std::string& text);

}  // namespace msprof
