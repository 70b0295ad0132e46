// Handles -dir arguments that name a cluster instead of captures: a rank summary, or a folder with
// one. For verbs that read both.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "msprof/pipeline.hpp"

namespace msprof {

// Returns the merged file meant by `dir`: `dir` itself if it is a rank summary or is named like
// one, else the cluster.db in it. Empty if `dir` refers to captures. Does not check the file;
// Part::open() does.
std::optional<std::filesystem::path> find_cluster_db(const std::string& dir);

// The same for all -dir arguments, which must be all clusters or all captures, else throws
// Error(usage). Empty: captures.
std::vector<std::filesystem::path> find_cluster_dbs(const std::vector<std::string>& dirs);

// Inputs of a verb: captures, or clusters; for a cluster, both paths are its file.
struct ChosenInputs {
  bool are_clusters = false;
  std::vector<ChosenCapture> inputs;
};
ChosenInputs choose_inputs(const CaptureOptions& options);

}  // namespace msprof
