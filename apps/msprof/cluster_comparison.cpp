// msprof compare for two clusters: inputs and JSON output.
#include "msprof/cluster_comparison.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/text.hpp"
#include "msprof/cluster_store.hpp"
#include "msprof/json_values.hpp"

namespace msprof {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

// "before/cluster.db" is named "before", since the file names of baseline and candidate are the
// same.
std::string cluster_name(const fs::path& file) {
  const fs::path whole = fs::weakly_canonical(file);
  const bool is_usual = whole.filename() == "cluster.db" && whole.has_parent_path();
  return (is_usual ? whole.parent_path() : whole).filename().string();
}

ordered_json change_json(const Change& change) {
  const bool is_pair = change.base && change.now;
  return {{"base_us", as_json(change.base)},
          {"new_us", as_json(change.now)},
          {"delta_us", is_pair ? ordered_json(change.delta()) : ordered_json()},
          {"percent", is_pair ? as_json(change.percent()) : ordered_json()},
          {"noise_us", is_pair ? ordered_json(change.noise) : ordered_json()},
          {"is_noise", is_pair ? ordered_json(change.is_noise()) : ordered_json()}};
}

ordered_json compared_json(const ComparedCluster& side) {
  ordered_json lacking = ordered_json::array();
  for (const std::string& line : side.lacking) lacking.push_back(valid_utf8(line));
  return {{"name", valid_utf8(side.name)}, {"what", side.line}, {"lacking", lacking}};
}

}  // namespace

std::optional<std::pair<fs::path, fs::path>> cluster_sides(const std::string& base,
                                                           const std::string& now) {
  const auto base_file = find_cluster_db(base);
  const auto now_file = find_cluster_db(now);
  if (!base_file && !now_file) return std::nullopt;
  if (!base_file || !now_file) {
    throw Error(Exit::usage,
                fmt::format("{} is a cluster and {} is not: compare two captures or two clusters",
                            base_file ? base : now, base_file ? now : base));
  }
  return std::pair(*base_file, *now_file);
}

ClusterComparison compare_cluster_files(const fs::path& base, const fs::path& now) {
  const cluster::Part base_part = cluster::Part::open(base);
  const cluster::Part now_part = cluster::Part::open(now);
  const cluster::ClusterView base_view(base_part);
  const cluster::ClusterView now_view(now_part);
  return compare_clusters({cluster_name(base), &base_view}, {cluster_name(now), &now_view});
}

void add_cluster_comparison(const ClusterComparison& comparison, std::size_t top,
                            ordered_json& document) {
  document["base"] = compared_json(comparison.base);
  document["new"] = compared_json(comparison.now);
  document["warnings"] = ordered_json::array();
  for (const std::string& warning : comparison.warnings)
    document["warnings"].push_back(valid_utf8(warning));
  document["unit"] = "one " + comparison.unit;
  document["noise_percent"] = comparison.noise_percent;
  document["noise_basis"] = comparison.noise_basis;
  document["verdict"] = verdict_name(comparison.verdict);
  document["total"] = change_json(comparison.total);
  for (const ClusterChanges& changes : comparison.sections) {
    ordered_json rows = ordered_json::array();
    for (const ClusterChange& row : changes.rows) {
      if (rows.size() == top) break;
      ordered_json one = {{"name", valid_utf8(row.name)},
                          {"base_count", row.base_count},
                          {"new_count", row.new_count},
                          {"mean", change_json(row.mean)}};
      if (row.median) one["median"] = change_json(*row.median);
      if (row.p95) one["p95"] = change_json(*row.p95);
      rows.push_back(std::move(one));
    }
    document[std::string(changes.id)] = std::move(rows);
  }
}

}  // namespace msprof
