// What a cluster is, for `msprof query` without SQL.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "base/error.hpp"
#include "cluster/merge.hpp"
#include "cluster/part.hpp"

namespace msprof {

// How whole a cluster is: "complete" or "partial" (ranks are missing, or were read in part), as
// captures have it.
struct ClusterVerdict {
  cluster::Ranks ranks;
  Exit exit = Exit::ok;  // partial_data
  std::string name;
};
ClusterVerdict verdict_of(const cluster::Part& part);

// On stdout, or into `document` (null: text).
Exit print_cluster_info(const std::filesystem::path& path, nlohmann::ordered_json* document);

}  // namespace msprof
