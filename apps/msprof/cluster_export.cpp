// msprof export cluster: writes the products of a cluster.
#include "msprof/cluster_export.hpp"

#include <memory>
#include <string>
#include <vector>

#include "analyze/cluster/cluster_page.hpp"
#include "base/error.hpp"
#include "cluster/products/products.hpp"
#include "msprof/cluster_products.hpp"
#include "msprof/cluster_store.hpp"
#include "msprof/verbs.hpp"

namespace msprof {

namespace {

namespace fs = std::filesystem;

struct ClusterExportArguments {
  std::string dir;
  std::string output;
  bool all_collectives = false;
  Verbosity verbosity;
};

Exit run_cluster_export(const ClusterExportArguments& arguments) {
  apply_verbosity(arguments.verbosity);
  const std::string dir = arguments.dir.empty() ? "." : arguments.dir;
  const auto file = find_cluster_db(dir);
  if (!file) {
    throw Error(Exit::nothing_to_do, dir +
                                         " neither is nor contains a cluster.db: create one with "
                                         "`msprof cluster` or `msprof merge`");
  }
  const cluster::Part part = cluster::Part::open(*file);
  cluster::ClusterProductOptions options;
  if (arguments.all_collectives) options.most_entries = INT64_MAX;
  const fs::path folder = arguments.output.empty()
                              ? (file->has_parent_path() ? file->parent_path() : fs::path("."))
                              : fs::path(arguments.output);
  const cluster::ClusterProducts products = write_cluster_outputs(part, folder, options);
  print_cluster_products(products);
  return Exit::ok;
}

}  // namespace

void add_cluster_export(cli::Command& parent) {
  auto arguments = std::make_shared<ClusterExportArguments>();
  cli::Command& command = parent.add_command(
      "cluster",
      "Write the products of a merged cluster.db: cluster_analysis_output/ with "
      "cluster_step_trace_time.csv, cluster_communication.json, cluster_communication_matrix.json, "
      "communication_group.json and cluster_analysis.db, in the format of the vendor's viewer and "
      "scripts; and cluster.html, a report for the browser.");
  command.set_examples(
      "  msprof export cluster -dir out/cluster.db\n"
      "  msprof export cluster -dir cluster.db --output report");
  command.add_option(
      {"--dir,--collection-dir", &arguments->dir, "FILE",
       "cluster.db, or the folder that contains it; also -dir. Default: this folder"});
  command.add_option({"--output", &arguments->output, "DIR",
                      "put the files into DIR instead of next to cluster.db"});
  command.add_option(
      {"--all-collectives", &arguments->all_collectives, "",
       "write an entry for every rank of every collective, even if there are more than a million"});
  add_verbosity(command, arguments->verbosity);
  command.set_action([arguments] { return run_cluster_export(*arguments); });
}

}  // namespace msprof
