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
    if (*arguments.detail_rows < 0) throw Error(Exit::usage, "--detail-rows takes 0 or more");
    options.detail_rows = *arguments.detail_rows;
  }
  if (!arguments.manifest.empty()) {
    const auto expected =
        cluster::RankSet::parse(read_text_file(arguments.manifest, kMaxManifestBytes));
    if (!expected || expected->empty()) {
      throw Error(Exit::usage,
                  fmt::format("{} names no ranks: it takes numbers and ranges, \"0-63\"",
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
  const cluster::Ranks ranks = cluster::ranks_of(merged);
  exit = gravest(exit, print_ranks(ranks, output.extension() != ".part"));
  if (!merged.facts().has_detail) {
    log::info("more than {} rows: of collectives there are totals and extremes, not every rank",
              options.detail_rows);
  }
  log::info("merged {} parts: {}", report.merged, output.string());
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
  cli::Command& command = root.add_command(
      "merge",
      "Put the partial results of ranks together. What comes out is again a part: a node, a rack, "
      "the cluster; in which order and grouping does not matter, the bytes are the same. A part "
      "that is damaged or of another version is named and left out.");
  command.set_examples(
      "  msprof merge rank_*.part --output cluster.db\n"
      "  msprof merge node1/*.part --output node1.part       to be merged again: what is missing "
      "in "
      "it is no fault\n"
      "  msprof merge *.part --manifest ranks.txt            ranks that should be there: 0-63");
  command.add_option({"parts", &arguments->parts, "PART", "the parts", {}, true});
  command.add_option({"--output", &arguments->output, "FILE",
                      "what they become (default: cluster.db in this folder)"});
  command.add_option(
      {"--manifest", &arguments->manifest, "FILE",
       "the ranks that should be there: numbers and ranges, \"0-63\"; without it all "
       "up to the highest that is known"});
  command.add_option({"--detail-rows", &arguments->detail_rows, "N",
                      "rows of single ranks in collectives that are kept (default: 50 million); "
                      "beyond it totals and extremes"});
  add_verbosity(command, arguments->verbosity);
  command.add_option({"--json", &arguments->json, "", "print one JSON document on stdout"});
  command.set_action([arguments] { return run_merge(*arguments); });
}

}  // namespace msprof
