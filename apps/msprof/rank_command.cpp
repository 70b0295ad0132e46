// msprof rank: reduces a capture to a rank summary, which `msprof merge` combines with those of
// other ranks.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/atomic_file.hpp"
#include "base/log.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "cluster/merge.hpp"
#include "cluster/rank_part.hpp"
#include "msprof/cluster_output.hpp"
#include "msprof/pipeline.hpp"

namespace msprof {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

struct RankArguments {
  CaptureOptions capture;  // its output is the folder for stores
  std::string output;
  std::optional<long> rank;
  bool json = false;
};

Exit make_part(const RankArguments& arguments, const std::vector<ChosenCapture>& captures,
               const fs::path& output, ordered_json& document) {
  std::optional<std::int64_t> rank;
  if (arguments.rank) rank = *arguments.rank;
  if (rank && (*rank < 0 || *rank > cluster::RankSet::kMaxRank)) {
    throw Error(Exit::usage, fmt::format("--rank: expected 0 to {}, got {}",
                                         cluster::RankSet::kMaxRank, *arguments.rank));
  }
  if (rank && captures.size() > 1) {
    throw Error(Exit::usage,
                fmt::format("--rank {} sets the rank of one capture, but -dir names {}", *rank,
                            captures.size()));
  }
  cluster::IntermediateParts parts(output);
  const Exit exit = for_each_capture(
      captures,
      [&](const ChosenCapture& capture) {
        const ReadyStore ready = ready_store(capture);
        const fs::path part = captures.size() == 1 ? output : parts.add();
        cluster::write_rank_part(ready.db, part, rank);
        document["captures"].push_back({{"folder", valid_utf8(capture.folder.string())},
                                        {"verdict", valid_utf8(ready.verdict)}});
        return ready.exit;
      },
      &document["captures"]);
  if (captures.size() == 1) return exit;
  const cluster::MergeReport report = cluster::merge_parts(parts.paths(), output, {});
  return gravest(exit, print_refused(report));
}

Exit run_rank(const RankArguments& arguments) {
  apply_verbosity(arguments.capture.verbosity);
  ordered_json document = {{"schema", "msprof.rank/1"}, {"captures", ordered_json::array()}};
  const auto work = [&] {
    const std::vector<ChosenCapture> captures = choose_captures(arguments.capture);
    const fs::path output = arguments.output.empty()
                                ? fs::path(captures.front().folder.filename().string() + ".part")
                                : fs::path(arguments.output);
    if (!output.parent_path().empty()) create_output_folder(output.parent_path());
    const Exit exit = make_part(arguments, captures, output, document);
    document["part"] = valid_utf8(output.string());
    log::info("part: {}", output.string());
    return exit;
  };
  return arguments.json ? print_document(document, work) : work();
}

}  // namespace

void add_rank_command(cli::Command& root) {
  auto arguments = std::make_shared<RankArguments>();
  cli::Command& command =
      root.add_command("rank",
                       "Reduce the capture of a rank to a summary of a few MB: steps, collectives, "
                       "links and operators. `msprof merge` merges the summaries of all ranks. Run "
                       "it where the capture is stored. Imports first if needed.");
  command.set_examples(
      "  msprof rank -dir PROF_XXX --output rank_00017.part\n"
      "  msprof rank -dir 'prof/PROF_*' --output node3.part   all ranks of a node in one file\n"
      "  msprof merge *.part --output cluster.db              merge them");
  add_capture_choice(command, arguments->capture);
  command.add_option({"--output", &arguments->output, "FILE",
                      "output file (default: name of the capture and .part, in this folder)"});
  command.add_option({"--store", &arguments->capture.output, "DIR",
                      "put the store into DIR instead of into the capture"});
  command.add_option(
      {"--rank", &arguments->rank, "N", "rank to use if the capture has none or a wrong one"});
  command.add_option({"--json", &arguments->json, "", "print one JSON document on stdout"});
  command.set_action([arguments] { return run_rank(*arguments); });
}

}  // namespace msprof
