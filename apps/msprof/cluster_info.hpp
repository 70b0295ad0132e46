// Describes a cluster, for `msprof query` without SQL.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "base/error.hpp"
#include "cluster/merge.hpp"
#include "cluster/part.hpp"

namespace msprof {

// Completeness of a cluster: "complete", or "partial" if ranks are missing or incomplete. The names
// are those used for captures.
struct ClusterVerdict {
  cluster::Ranks ranks;
  Exit exit = Exit::ok;  // else partial_data
  std::string name;
};
ClusterVerdict judge_ranks(const cluster::Part& part);

// Prints on stdout, or fills `document` if it is not null.
Exit print_cluster_info(const std::filesystem::path& path, nlohmann::ordered_json* document);

}  // namespace msprof
