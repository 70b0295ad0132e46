// msprof list: lists and describes the captures in a folder, newest first.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analyze/capture_list.hpp"
#include "analyze/cluster/listed_cluster.hpp"
#include "base/log.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "base/text_table.hpp"
#include "base/time_text.hpp"
#include "base/words.hpp"
#include "cluster/part.hpp"
#include "msprof/json_values.hpp"
#include "msprof/pipeline.hpp"
#include "session/capture_walk.hpp"
#include "store/run_summary.hpp"

namespace msprof {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

struct ListArguments {
  std::vector<std::string> folders;
  bool json = false;
  Verbosity verbosity;
};

struct Listed {
  std::vector<ListedCapture> captures;
  std::vector<ListedCluster> clusters;  // newest first
};

// Returns the path relative to `root`; the folder's name if `root` is the capture itself.
std::string name_below(const fs::path& capture, const fs::path& root) {
  const fs::path inner = capture.lexically_relative(root);
  return inner.empty() || inner == "." ? own_name(capture) : inner.string();
}

bool is_repeated(const ListedCapture& capture) {
  return capture.run && capture.run->repeat.run > 0;
}

// Prints captures and clusters, one line each, newest first.
void print_table(const Listed& listed, const fs::path& root) {
  const auto& captures = listed.captures;
  const bool has_ranks = std::any_of(captures.begin(), captures.end(),
                                     [](const ListedCapture& one) { return one.rank.has_value(); });
  std::vector<std::string> columns = {"Time", "Capture"};
  std::vector<bool> is_number = {false, false};
  const auto add_column = [&](const char* name, bool number) {
    columns.push_back(name);
    is_number.push_back(number);
  };
  if (has_ranks) add_column("Rank", true);
  const bool has_repeats = std::any_of(captures.begin(), captures.end(), is_repeated);
  if (has_repeats) add_column("Run", false);
  add_column("Model", false);
  add_column("Batch", false);
  add_column("Executions", true);
  add_column("Median (ms)", true);
  add_column("Verdict", false);
  add_column("Size", true);
  TextTable table(std::move(columns), std::move(is_number));
  RowBuilder row(table);
  const auto text = [&](const std::string& value) {
    value.empty() ? row.missing() : row.text(printable(value));
  };
  const auto begin = [&](std::int64_t time_ns, const fs::path& path) {
    text(local_time_text(time_ns, TimePrecision::minutes));
    text(name_below(path, root));
  };
  const auto add_cluster = [&](const ListedCluster& cluster) {
    begin(cluster.time_ns, cluster.file);
    const std::size_t more = (has_ranks ? 1U : 0U) + (has_repeats ? 1U : 0U);
    for (std::size_t i = 0; i < 4 + more; ++i) row.missing();
    text(cluster_verdict(cluster));
    row.text(human_bytes(cluster.bytes));
    row.end_row();
  };
  std::size_t next_cluster = 0;
  const auto add_clusters_until = [&](std::int64_t time_ns) {
    const auto& clusters = listed.clusters;
    while (next_cluster < clusters.size() && clusters[next_cluster].time_ns >= time_ns)
      add_cluster(clusters[next_cluster++]);
  };
  for (const ListedCapture& capture : captures) {
    add_clusters_until(capture.time_ns);
    const RunSummary known = capture.summary.value_or(RunSummary());
    begin(capture.time_ns, capture.folder);
    if (has_ranks) row.number_or_missing(capture.rank);
    if (has_repeats) text(capture.run ? capture.run->repeat.text() : "");
    text(fmt::format("{}", fmt::join(capture.models, " + ")));
    text(fmt::format("{}", fmt::join(capture.batches, ", ")));
    row.number_or_missing(known.executions);
    known.median_ns ? row.number(fixed(*known.median_ns, 1'000'000, 3)) : row.missing();
    text(describe_verdict(capture));
    row.text(human_bytes(capture.bytes));
    row.end_row();
  }
  add_clusters_until(INT64_MIN);
  fmt::print("{}", table.for_terminal(STDOUT_FILENO));
}

ordered_json capture_json(const ListedCapture& capture) {
  const RunSummary known = capture.summary.value_or(RunSummary());
  ordered_json one = {{"folder", valid_utf8(capture.folder.string())},
                      {"dialect", dialect_name(capture.dialect)},
                      {"time", second_text(capture.time_ns)},
                      {"models", as_json(capture.models)},
                      {"batches", as_json(capture.batches)},
                      {"executions", as_json(known.executions)},
                      {"median_us", nullptr},
                      {"verdict", nullptr},
                      {"verdict_text", valid_utf8(describe_verdict(capture))},
                      {"unit_loads", nullptr},
                      {"bytes", capture.bytes},
                      {"rank", as_json(capture.rank)},
                      {"run", nullptr}};
  if (known.median_ns) one["median_us"] = static_cast<double>(*known.median_ns) / 1000;
  if (capture.summary) {
    one["verdict"] = valid_utf8(known.verdict);
    one["unit_loads"] = known.has_modelled_loads ? "modelled" : "measured";
  }
  if (!known.layout_file.empty()) {
    one["layout"] = valid_utf8(known.layout_file);
    one["layout_origin"] = known.has_inferred_layout ? "inferred" : "described";
  }
  if (capture.run) one["run"] = run_json(*capture.run);
  if (!capture.run_problem.empty()) one["run_problem"] = capture.run_problem;
  if (!capture.listing_problem.empty())
    one["listing_problem"] = valid_utf8(capture.listing_problem);
  return one;
}

ordered_json cluster_json(const ListedCluster& cluster) {
  ordered_json one = {{"file", valid_utf8(cluster.file.string())},
                      {"time", second_text(cluster.time_ns)},
                      {"verdict_text", cluster_verdict(cluster)},
                      {"ranks", nullptr},
                      {"bytes", cluster.bytes}};
  if (!cluster.problem.empty()) {
    one["problem"] = valid_utf8(cluster.problem);
    return one;
  }
  one["ranks"] = {{"present", cluster.ranks.present.text()},
                  {"missing", cluster.ranks.missing.text()},
                  {"partial", cluster.ranks.partial.text()},
                  {"captures", cluster.captures},
                  {"hosts", cluster.ranks.hosts}};
  return one;
}

template <typename Value, typename Key>
void sort_once(std::vector<Value>& values, Key key) {
  std::sort(values.begin(), values.end(),
            [&](const Value& a, const Value& b) { return key(a) < key(b); });
  values.erase(std::unique(values.begin(), values.end(),
                           [&](const Value& a, const Value& b) { return key(a) == key(b); }),
               values.end());
}

// A named folder may be inside another one: each capture is listed once.
CapturesBelow find_all(const std::vector<std::string>& roots) {
  CapturesBelow found;
  for (const std::string& folder : roots) {
    check_search_folder(folder);
    CapturesBelow below = walk_captures(folder);
    std::move(below.captures.begin(), below.captures.end(), std::back_inserter(found.captures));
    std::move(below.cluster_files.begin(), below.cluster_files.end(),
              std::back_inserter(found.cluster_files));
    std::move(below.skipped.begin(), below.skipped.end(), std::back_inserter(found.skipped));
    if (!below.is_whole)
      log::warn("{} contains very many folders: not all of them were searched", folder);
  }
  sort_once(found.captures, [](const FoundCapture& one) { return one.folder; });
  sort_once(found.cluster_files, [](const fs::path& one) { return one; });
  sort_once(found.skipped, [](const SkippedFolder& one) { return one.folder; });
  return found;
}

// Limits the warnings for a folder with many damaged records or unreadable folders.
void warn_of_problems(const std::vector<ListedCapture>& captures) {
  constexpr std::size_t kMaxWarned = 5;
  std::size_t folders = 0;
  std::size_t records = 0;
  for (const ListedCapture& capture : captures) {
    if (!capture.listing_problem.empty() && ++folders <= kMaxWarned)
      log::warn("{}", capture.listing_problem);
    if (!capture.run_problem.empty() && ++records <= kMaxWarned)
      log::warn("{} {}", (capture.folder / kRunRecordName).string(), capture.run_problem);
  }
  if (folders > kMaxWarned)
    log::warn("the same for {} more (--json lists them)", counted(folders - kMaxWarned, "capture"));
  if (records > kMaxWarned)
    log::warn("the same for {} more", counted(records - kMaxWarned, "file"));
}

void warn_of_skipped(const std::vector<SkippedFolder>& skipped) {
  constexpr std::size_t kMaxWarned = 20;
  for (std::size_t i = 0; i < std::min(skipped.size(), kMaxWarned); ++i)
    log::warn("not listed: {}", skipped[i].reason);
  if (skipped.size() > kMaxWarned)
    log::warn("not listed: {} more (--json lists them)", skipped.size() - kMaxWarned);
}

Exit list_all(const ListArguments& arguments, ordered_json& document) {
  std::vector<std::string> roots = arguments.folders;
  if (roots.empty()) roots = {"."};
  const CapturesBelow found = find_all(roots);
  Listed listed;
  listed.captures = list_captures(found.captures);
  bool is_cut = false;
  for (const fs::path& file : found.cluster_files) {
    try {
      if (cluster::is_part(file)) listed.clusters.push_back(describe_cluster(file));
    } catch (const Error& error) {
      if (error.code() == Exit::interrupted) throw;
      log::warn("not listed: {}", error.what());
      is_cut = true;
    }
  }
  std::stable_sort(
      listed.clusters.begin(), listed.clusters.end(),
      [](const ListedCluster& a, const ListedCluster& b) { return a.time_ns > b.time_ns; });
  const bool is_empty = listed.captures.empty() && listed.clusters.empty();
  if (arguments.json) {
    for (const ListedCapture& capture : listed.captures)
      document["captures"].push_back(capture_json(capture));
    for (const ListedCluster& cluster : listed.clusters)
      document["clusters"].push_back(cluster_json(cluster));
    for (const SkippedFolder& one : found.skipped)
      document["skipped"].push_back(
          {{"folder", valid_utf8(one.folder.string())}, {"reason", valid_utf8(one.reason)}});
  } else if (!is_empty) {
    print_table(listed,
                roots.size() == 1 ? fs::path(roots.front()).lexically_normal() : fs::path());
  }
  warn_of_skipped(found.skipped);
  warn_of_problems(listed.captures);
  is_cut = is_cut ||
           std::any_of(found.skipped.begin(), found.skipped.end(),
                       [](const SkippedFolder& one) { return one.is_unlisted; }) ||
           std::any_of(listed.captures.begin(), listed.captures.end(),
                       [](const ListedCapture& one) { return !one.listing_problem.empty(); });
  if (is_cut) return Exit::partial_data;
  if (!is_empty) return Exit::ok;
  log::warn("no capture (JOB… or PROF…) in {}", fmt::join(roots, ", "));
  return Exit::nothing_to_do;
}

Exit run_list(const ListArguments& arguments) {
  apply_verbosity(arguments.verbosity);
  count_no_memory_of_stores();
  ordered_json document = {{"schema", "msprof.list/1"},
                           {"captures", ordered_json::array()},
                           {"clusters", ordered_json::array()},
                           {"skipped", ordered_json::array()}};
  const auto work = [&] { return list_all(arguments, document); };
  return arguments.json ? print_document(document, work) : work();
}

}  // namespace

void add_list_command(cli::Command& root) {
  auto arguments = std::make_shared<ListArguments>();
  cli::Command& command =
      root.add_command("list",
                       "List the captures in a folder and its subfolders, newest first: time, rank "
                       "of a training job, model, batch, executions, median time per execution, "
                       "verdict of the last import, size. Also lists results of `msprof cluster` "
                       "(cluster.db). Reads run.json and existing stores; does not import.");
  command.set_examples(
      "  msprof list                       captures in this folder and its subfolders\n"
      "  msprof list /data/profiles\n"
      "  msprof list --json | jq '.captures[0].folder'   the newest, for scripts");
  command.add_option(
      {"folders", &arguments->folders, "DIR", "folder to search (default: current folder)"});
  command.add_option({"--json", &arguments->json, "", "print one JSON document on stdout"});
  add_verbosity(command, arguments->verbosity);
  command.set_action([arguments] { return run_list(*arguments); });
}

}  // namespace msprof
