// Summary of a store's capture, so that listing many captures reads only a few rows of each.
// Written at import; for `list`, completion and report headers.
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
  std::optional<std::int64_t> executions;  // executions of models; for CANN, iterations
  std::optional<std::int64_t> median_ns;   // device time of an execution: the sum of its tasks
  std::optional<std::int64_t> rank;        // rank in a training job; empty: none, or several
  bool has_modelled_loads = false;         // store/unit_loads.hpp
  std::string layout_file;  // layout with which its records were read; empty: no layout file
  bool has_inferred_layout = false;  // store/layout_origin.hpp
};

// Reads the summary of a store of any version; empty if the file is not an msprof store.
std::optional<RunSummary> read_run_summary(const std::filesystem::path& store);

// Keys of the table `meta`.
namespace meta {
inline constexpr std::string_view kModels = "run.models";    // one per line
inline constexpr std::string_view kBatches = "run.batches";  // one per line
inline constexpr std::string_view kExecutions = "run.executions";
inline constexpr std::string_view kMedianNs = "run.median_ns";  // absent: unknown
inline constexpr std::string_view kRank = "run.rank";           // absent: unknown
}  // namespace meta

// Disables SQLite's memory counters, on which its threads contend. For processes without a memory
// limit (SqlGuard needs the counters and checks that they are enabled). Call before the first store
// is opened.
void count_no_memory_of_stores();

}  // namespace msprof
