// A part of one capture: what each of its devices comes to. For `msprof rank`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "store/trace_db.hpp"

namespace msprof::cluster {

// Writes the part of a finished store to `output`, published by rename; the same store gives the
// same bytes. `rank`: in the place of the one that the capture names. A capture of several devices
// has a rank a device, none of which is known. Throws Error(nothing_to_do) for a capture without
// ranks (JOB…) or devices, Error(usage) for a rank given to several devices, Error(cannot_write).
void write_rank_part(const TraceDb& store, const std::filesystem::path& output,
                     std::optional<std::int64_t> rank);

}  // namespace msprof::cluster
