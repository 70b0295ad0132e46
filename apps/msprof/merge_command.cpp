// msprof merge: merges summaries of ranks, nodes or racks.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/atomic_file.hpp"
#include "base/file_reader.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "cluster/merge.hpp"
#include "msprof/cluster_output.hpp"
#include "msprof/pipeline.hpp"

namespace msprof {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

struct MergeArguments {
  std::vector<std::string> parts;
  std::string output = "cluster.db";
  std::string manifest;
  std::optional<long> detail_rows;
  Verbosity verbosity;
  bool json = false;
};

cluster::MergeOptions merge_options(const MergeArguments& arguments) {
  constexpr std::uint64_t kMaxManifestBytes = 64 << 20;
  cluster::MergeOptions options;
  if (arguments.detail_rows) {
    if (*arguments.detail_rows < 0)
      throw Error(Exit::usage, fmt::format("--detail-rows: expected a number >= 0, got {}",
                                           *arguments.detail_rows));
    options.detail_rows = *arguments.detail_rows;
  }
  if (!arguments.manifest.empty()) {
    const auto expected =
        cluster::RankSet::parse(read_text_file(arguments.manifest, kMaxManifestBytes));
    if (!expected || expected->empty()) {
      throw Error(Exit::usage,
                  fmt::format("{} has no ranks: expected numbers and ranges such as \"0-63\"",
                              arguments.manifest));
    }
    options.expected = *expected;
  }
  return options;
}

Exit merge_all(const MergeArguments& arguments, ordered_json& document) {
  const fs::path output(arguments.output);
  const cluster::MergeOptions options = merge_options(arguments);
  if (!output.parent_path().empty()) create_output_folder(output.parent_path());
  const std::vector<fs::path> parts(arguments.parts.begin(), arguments.parts.end());
  const cluster::MergeReport report = cluster::merge_parts(parts, output, options);
  Exit exit = print_refused(report);
  const cluster::Part merged = cluster::Part::open(output, true);
  const cluster::Ranks ranks = cluster::read_ranks(merged);
  exit = gravest(exit, print_ranks(ranks, output.extension() != ".part"));
  if (!merged.facts().has_detail) {
    log::info("more than {} rows: collectives have only totals and extremes, no rows per rank",
              options.detail_rows);
  }
  log::info("merged {} rank summaries: {}", report.merged, output.string());
  document["output"] = valid_utf8(output.string());
  document["merged"] = report.merged;
  document["refused"] = refused_json(report);
  document["has_detail"] = merged.facts().has_detail;
  document.update(ranks_json(ranks));
  return exit;
}

Exit run_merge(const MergeArguments& arguments) {
  apply_verbosity(arguments.verbosity);
  ordered_json document = {{"schema", "msprof.merge/1"}};
  const auto work = [&] { return merge_all(arguments, document); };
  return arguments.json ? print_document(document, work) : work();
}

}  // namespace

void add_merge_command(cli::Command& root) {
  auto arguments = std::make_shared<MergeArguments>();
  cli::Command& command =
      root.add_command("merge",
                       "Merge rank summaries into one file, which can be merged again: a node, a "
                       "rack, the cluster. Order and grouping do not affect the result. A summary "
                       "that is damaged or of another version is reported and skipped.");
  command.set_examples(
      "  msprof merge rank_*.part --output cluster.db\n"
      "  msprof merge node1/*.part --output node1.part       to be merged again: missing ranks "
      "are not reported\n"
      "  msprof merge *.part --manifest ranks.txt            expected ranks: 0-63");
  command.add_option(
      {"parts", &arguments->parts, "PART", "rank summaries (msprof rank)", {}, true});
  command.add_option(
      {"--output", &arguments->output, "FILE", "merged file (default: cluster.db in this folder)"});
  command.add_option({"--manifest", &arguments->manifest, "FILE",
                      "file with the expected ranks: numbers and ranges, \"0-63\" (default: all up "
                      "to the highest known rank)"});
  command.add_option({"--detail-rows", &arguments->detail_rows, "N",
                      "number of per-rank collective rows to keep; above it only totals and "
                      "extremes (default: 50 million)"});
  add_verbosity(command, arguments->verbosity);
  command.add_option({"--json", &arguments->json, "", "print one JSON document on stdout"});
  command.set_action([arguments] { return run_merge(*arguments); });
}

}  // namespace msprof
