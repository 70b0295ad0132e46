#include "msprof/cluster_store.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "cluster/part.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

constexpr const char* kClusterDb = "cluster.db";

bool is_named_like_part(const fs::path& path) {
  return path.extension() == ".part" || path.filename() == kClusterDb;
}

}  // namespace

std::optional<fs::path> find_cluster_db(const std::string& dir) {
  const fs::path path(dir);
  std::error_code error;
  if (fs::is_regular_file(path, error)) {
    if (is_named_like_part(path) || cluster::is_part(path)) return path;
    return std::nullopt;
  }
  const fs::path inside = path / kClusterDb;
  if (fs::is_regular_file(inside, error)) return inside;
  // A missing file with a cluster's name counts as one: captures never have such names.
  if (!fs::exists(path, error) && is_named_like_part(path)) return path;
  return std::nullopt;
}

std::vector<fs::path> find_cluster_dbs(const std::vector<std::string>& dirs) {
  std::vector<fs::path> clusters;
  for (const std::string& dir : dirs) {
    if (const auto cluster = find_cluster_db(dir)) clusters.push_back(*cluster);
  }
  if (!clusters.empty() && clusters.size() != dirs.size()) {
    throw Error(Exit::usage,
                fmt::format("-dir: {} is a cluster, but others are captures: give one kind only",
                            clusters.front().string()));
  }
  return clusters;
}

ChosenInputs choose_inputs(const CaptureOptions& options) {
  ChosenInputs chosen;
  for (const fs::path& cluster : find_cluster_dbs(options.dirs))
    chosen.inputs.push_back({cluster, cluster});
  chosen.are_clusters = !chosen.inputs.empty();
  if (!chosen.are_clusters) chosen.inputs = choose_captures(options);
  return chosen;
}

}  // namespace msprof
