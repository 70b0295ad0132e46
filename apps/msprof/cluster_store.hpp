// Where -dir names a cluster instead of captures: a part, or the folder of one. For the verbs that
// read both.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "msprof/pipeline.hpp"

namespace msprof {

// The merged file that `dir` means: `dir` itself where it is a part or is named like one, else the
// cluster.db in it. Empty: `dir` is about captures. Whether the file is whole, Part::open() says.
std::optional<std::filesystem::path> cluster_db_of(const std::string& dir);

// The same for all of -dir, which are clusters or captures, not both: throws Error(usage) where
// some are clusters and others are not. Empty: captures.
std::vector<std::filesystem::path> cluster_dbs_of(const std::vector<std::string>& dirs);

// What a verb works on: clusters, as folder and as place of products their file, or captures.
struct ChosenInputs {
  bool are_clusters = false;
  std::vector<ChosenCapture> inputs;
};
ChosenInputs choose_inputs(const CaptureOptions& options);

}  // namespace msprof
