// Values of the options that limit an export: devices, times and sizes with their units. For the
// verb export. Each throws Error(usage) with the form that it expects.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "export/export_scope.hpp"

namespace msprof {

// "0,1" and more of them.
std::vector<std::int64_t> devices_of(const std::vector<std::string>& lists);

// "5ms:1.5s" of --time-range, from `begin_ns` on; empty: no limit.
void read_range(const std::string& range, std::int64_t begin_ns, ExportScope& scope);

// "10us" of --min-dur, in ns; empty: 0.
std::int64_t min_duration_of(const std::string& text);

// "200MB" of --split; empty: 0.
std::uint64_t split_bytes_of(const std::string& text);

}  // namespace msprof
