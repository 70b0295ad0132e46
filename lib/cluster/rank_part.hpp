// Reduces one capture to a rank summary (part) with the results of its devices. Used by `msprof
// rank`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "store/trace_db.hpp"

namespace msprof::cluster {

// Writes the part of a complete store to `output`, atomically; the same store gives the same bytes.
// `rank` overrides the rank recorded in the capture. In a capture with several devices, each device
// is a rank with an unknown number. Throws Error(nothing_to_do) if the capture has no ranks (JOB…)
// or no devices, Error(usage) if `rank` is given for several devices, Error(cannot_write).
void write_rank_part(const TraceDb& store, const std::filesystem::path& output,
                     std::optional<std::int64_t> rank);

}  // namespace msprof::cluster
