// What a store says of its capture in a few words, so that a list of many captures reads a few rows
// of each. Made at import; for `list`, completion and the heads of reports.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace msprof {

struct RunSummary {
  std::string verdict;       // "complete", "without", "partial"
  std::string verdict_text;  // "complete without HBM bandwidth"
  std::vector<std::string> models;
  std::vector<std::string> batches;        // numbers, sorted
  std::optional<std::int64_t> executions;  // of models; iterations of CANN
  std::optional<std::int64_t> median_ns;   // device time of one: its tasks together
  std::optional<std::int64_t> rank;        // of a training job; empty: none, or several
  bool has_modelled_loads = false;         // store/unit_loads.hpp
  std::string layout_file;                 // that its records were read with; empty: none
  bool has_inferred_layout = false;        // store/layout_origin.hpp
};

// Reads that of a store of this or another version; empty where there is no store of ours.
std::optional<RunSummary> read_run_summary(const std::filesystem::path& store);

// Keys of the table `meta`.
namespace meta {
inline constexpr std::string_view kModels = "run.models";    // a line each
inline constexpr std::string_view kBatches = "run.batches";  // likewise
inline constexpr std::string_view kExecutions = "run.executions";
inline constexpr std::string_view kMedianNs = "run.median_ns";  // absent: unknown
inline constexpr std::string_view kRank = "run.rank";           // likewise
}  // namespace meta

// For a process that sets no limit of memory (SqlGuard, which needs the numbers and checks that
// they are there): SQLite counts no bytes then, for which its threads would wait for each other.
// Before the first store is opened.
void count_no_memory_of_stores();

}  // namespace msprof
