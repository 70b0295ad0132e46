// Baselines for the commands, measured in the same run.
#pragma once

#include <cstdint>
#include <filesystem>

namespace msprof::bench {

// Layers of the generated model; one record per layer and execution.
inline constexpr std::int64_t kLayers = 50;

// Makes a JOB folder with `records` aicore records; returns the bytes written.
std::uint64_t make_capture(const std::filesystem::path& folder, std::int64_t records);

// Seconds of a bare SQLite insert of the same rows: one table of 14 integer columns, one prepared
// INSERT, one transaction, no journal, no syncs.
double bare_insert_seconds(const std::filesystem::path& database, std::int64_t records);

}  // namespace msprof::bench
