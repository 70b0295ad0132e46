// Writes the products of a cluster: files for the vendor's viewer and scripts, with the names,
// columns and units of msprof-analyze. README.md describes each cell. Used by `msprof cluster`
// and `msprof export cluster`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "cluster/part.hpp"
#include "cluster/products/cluster_view.hpp"

namespace msprof::cluster {

// Folder for the vendor's files, relative to the output folder.
inline constexpr const char* kClusterFolder = "cluster_analysis_output";
inline constexpr const char* kClusterPage = "cluster.html";

struct ClusterProductOptions {
  ClockShifts shifts;
  // Maximum number of (rank, collective) entries to write one by one; if there are more, only
  // totals are written. A million entries are 1 GB of JSON.
  std::int64_t most_entries = 1'000'000;
};

struct ClusterProducts {
  std::vector<std::filesystem::path> files;
  std::vector<std::string> notes;  // sentences about data missing in the files
};

// Writes all vendor files to `folder`/cluster_analysis_output. Throws Error(cannot_write),
// Error(partial_data).
ClusterProducts write_vendor_files(const Part& part, const std::filesystem::path& folder,
                                   const ClusterProductOptions& options = {});

// Each of these functions writes one file; the caller publishes all files together.

// Omits links without a known rank; the matrix function returns their number.
void write_step_trace_csv(const ClusterView& view, const std::filesystem::path& file,
                          std::vector<TemporaryFile>& finished);
void write_communication_json(const ClusterView& view, bool with_operations,
                              const std::filesystem::path& file,
                              std::vector<TemporaryFile>& finished);
std::int64_t write_communication_matrix_json(const ClusterView& view,
                                             const std::filesystem::path& file,
                                             std::vector<TemporaryFile>& finished);
void write_communication_group_json(const ClusterView& view, const std::filesystem::path& file,
                                    std::vector<TemporaryFile>& finished);
void write_cluster_analysis_db(const ClusterView& view, bool with_operations,
                               const std::filesystem::path& file,
                               std::vector<TemporaryFile>& finished);

}  // namespace msprof::cluster
