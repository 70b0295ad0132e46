// msprof cluster: combines captures of many ranks into one result, on this machine, on Slurm, or
// over SSH.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/atomic_file.hpp"
#include "base/host_name.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "board/session/login.hpp"
#include "cluster/run/cluster_task.hpp"
#include "cluster/run/slurm_run.hpp"
#include "cluster/run/ssh_run.hpp"
#include "msprof/board_options.hpp"
#include "msprof/cluster_products.hpp"
#include "msprof/pipeline.hpp"

namespace msprof {

namespace {

namespace fs = std::filesystem;
using cluster::CaptureResult;
using cluster::CaptureSearch;
using cluster::LostNode;
using cluster::PartOutcome;
using cluster::RunLock;
using cluster::RunReport;
using cluster::SearchProblem;
using cluster::SlurmClient;
using cluster::SlurmNode;
using cluster::SlurmOptions;
using cluster::SshRunOptions;
using cluster::WorkOptions;
using nlohmann::ordered_json;

struct ClusterArguments {
  std::vector<std::string> folders;
  std::string output;
  std::string part;
  std::string task;
  std::string store;
  std::string manifest;
  std::string parquet;
  std::string msprof;
  std::optional<long> detail_rows;
  std::optional<long> jobs;
  bool slurm = false;
  std::string nodelist;
  std::string job;
  std::optional<long> group;
  std::vector<std::string> slurm_arguments;
  bool no_wait = false;
  bool attach = false;
  std::string hosts;
  KeyArguments keys;
  std::string remote_msprof = "msprof";
  bool json = false;
  Verbosity verbosity;

  bool is_on_slurm() const { return slurm || !nodelist.empty() || !job.empty() || attach; }
};

std::size_t positive(const std::optional<long>& value, const char* option) {
  if (!value) return 0;
  if (*value < 1 || *value > 1'000'000)
    throw Error(Exit::usage, fmt::format("{}: expected 1 to 1000000, got {}", option, *value));
  return static_cast<std::size_t>(*value);
}

void check_arguments(const ClusterArguments& arguments) {
  const auto refuse = [](const char* text) { throw Error(Exit::usage, text); };
  positive(arguments.jobs, "--jobs");
  positive(arguments.group, "--group");
  if (arguments.output.empty())
    refuse("--output DIR is missing: the folder for rank summaries and results");
  if (arguments.folders.empty() && !arguments.attach)
    refuse("no folder with captures given: msprof cluster FOLDER --output DIR");
  if (!arguments.folders.empty() && arguments.attach)
    refuse("--attach continues the run in --output DIR: remove the folders");
  if (arguments.is_on_slurm() && !arguments.hosts.empty())
    refuse("--slurm and --ssh cannot be combined");
  if (!arguments.parquet.empty() && !arguments.hosts.empty()) {
    refuse(
        "--parquet needs a folder shared by all machines and cannot be combined with --ssh; run "
        "`msprof export parquet` on the hosts");
  }
  if (!arguments.nodelist.empty() && !arguments.job.empty())
    refuse("--nodelist and --job cannot be combined: both select nodes");
  const bool is_on_nodes = !arguments.nodelist.empty() || !arguments.job.empty();
  if (is_on_nodes && (arguments.no_wait || arguments.attach)) {
    refuse(
        "--no-wait and --attach need captures on a shared file system; with --nodelist or --job, "
        "msprof waits for the tasks");
  }
  if (arguments.no_wait && !arguments.slurm) refuse("--no-wait needs --slurm");
  if (!arguments.part.empty() && (arguments.is_on_slurm() || !arguments.hosts.empty()))
    refuse("--part works on one machine only; runs on Slurm or over SSH write cluster.db");
}

// Makes paths absolute for processes with other working folders, on machines that share the file
// system.
fs::path absolute_or_empty(const std::string& path) {
  return path.empty() ? fs::path() : fs::absolute(path).lexically_normal();
}

std::vector<fs::path> absolute_folders(const ClusterArguments& arguments) {
  std::vector<fs::path> folders;
  for (const std::string& folder : arguments.folders)
    folders.push_back(fs::absolute(folder).lexically_normal());
  return folders;
}

WorkOptions work_options(const ClusterArguments& arguments) {
  WorkOptions work;
  work.msprof = arguments.msprof.empty() ? cluster::own_program() : fs::path(arguments.msprof);
  work.jobs = positive(arguments.jobs, "--jobs");
  work.stores = absolute_or_empty(arguments.store);
  work.manifest = absolute_or_empty(arguments.manifest);
  work.parquet = absolute_or_empty(arguments.parquet);
  if (arguments.detail_rows) {
    if (*arguments.detail_rows < 0)
      throw Error(Exit::usage, fmt::format("--detail-rows: expected a number >= 0, got {}",
                                           *arguments.detail_rows));
    work.detail_rows = std::to_string(*arguments.detail_rows);
  }
  return work;
}

void print_problems(const std::vector<SearchProblem>& problems) {
  for (const SearchProblem& problem : problems)
    log::warn("cannot search {}: {}", problem.path.string(), problem.reason);
}

CaptureSearch search(const ClusterArguments& arguments) {
  CaptureSearch found = cluster::search_captures(absolute_folders(arguments));
  if (found.captures.empty()) {
    print_problems(found.problems);
    throw Error(
        std::all_of(found.problems.begin(), found.problems.end(),
                    [](const SearchProblem& problem) { return problem.is_absent; })
            ? Exit::nothing_to_do
            : Exit::partial_data,
        fmt::format(
            "no capture (PROF_…) in {}{}", listed(arguments.folders),
            found.problems.empty() ? "" : fmt::format(": {}", found.problems.front().reason)));
  }
  log::info("{} found", counted(found.captures.size(), "capture"));
  return found;
}

std::vector<fs::path> list_parts(const std::vector<CaptureResult>& results) {
  std::vector<fs::path> parts;
  for (const CaptureResult& result : results) {
    if (result.has_part()) parts.push_back(result.part);
  }
  return parts;
}

[[noreturn]] void throw_no_part(const RunReport& report) {
  Exit exit = Exit::nothing_to_do;
  for (const CaptureResult& result : report.results) exit = gravest(exit, result.exit);
  if (!report.lost.empty()) exit = gravest(exit, Exit::board_unreachable);
  throw Error(exit, fmt::format("nothing to merge: no capture could be summarized ({}, {} lost)",
                                counted(report.results.size(), "capture"),
                                counted(report.lost.size(), "node")));
}

void merge_into(RunReport& report, const std::vector<fs::path>& parts, const fs::path& target,
                const fs::path& output, const WorkOptions& work) {
  report.merge = cluster::run_merge(parts, target, output / "merge.log", work);
  if (target.filename() == "cluster.db") write_cluster_products(output);
}

void run_here(const ClusterArguments& arguments, const fs::path& output, RunReport& report) {
  const CaptureSearch found = search(arguments);
  const WorkOptions work = work_options(arguments);
  report.problems = found.problems;
  report.results = cluster::make_parts(cluster::PartFolder(output), found.captures, work);
  const std::vector<fs::path> parts = list_parts(report.results);
  if (parts.empty()) return;
  const fs::path target = absolute_or_empty(arguments.part);
  merge_into(report, parts, target.empty() ? output / "cluster.db" : target, output, work);
}

std::vector<std::string> nodes_to_use(const ClusterArguments& arguments, const SlurmClient& slurm,
                                      std::string& job, RunReport& report) {
  std::string list = arguments.nodelist;
  if (!arguments.job.empty()) {
    const SlurmClient::JobNodes nodes = slurm.read_job_nodes(arguments.job);
    list = nodes.list;
    // The job may use its nodes exclusively, so the work runs inside the job.
    if (nodes.is_running) job = arguments.job;
  }
  std::vector<std::string> names = slurm.expand_nodes(list);
  std::set<std::string> known;
  for (const SlurmNode& node : slurm.nodes()) known.insert(node.name);
  std::erase_if(names, [&](const std::string& name) {
    if (known.contains(name)) return false;
    report.lost.push_back({name, "unknown to Slurm"});
    return true;
  });
  if (names.empty())
    throw Error(Exit::nothing_to_do, fmt::format("Slurm does not know any of the nodes {}", list));
  return names;
}

SlurmOptions slurm_options(const ClusterArguments& arguments) {
  SlurmOptions options;
  options.work = work_options(arguments);
  options.group_size = positive(arguments.group, "--group");
  options.wait = !arguments.no_wait;
  return options;
}

void run_nodes(const ClusterArguments& arguments, const SlurmClient& slurm, const fs::path& output,
               RunReport& report) {
  std::string job;
  const std::vector<std::string> nodes = nodes_to_use(arguments, slurm, job, report);
  const SlurmOptions options = slurm_options(arguments);
  std::vector<fs::path> parts;
  RunReport ran =
      cluster::run_on_nodes(slurm, output, nodes, job, absolute_folders(arguments), options, parts);
  ran.lost.insert(ran.lost.begin(), report.lost.begin(), report.lost.end());
  report = std::move(ran);
  if (!parts.empty()) merge_into(report, parts, output / "cluster.db", output, options.work);
}

// Returns false if the jobs were submitted without waiting for them.
bool run_slurm(const ClusterArguments& arguments, const SlurmClient& slurm, const fs::path& output,
               RunLock& lock, RunReport& report) {
  cluster::SlurmRun run(slurm, output, lock);
  CaptureSearch found;
  if (arguments.attach) {
    run.attach();
  } else {
    found = search(arguments);
    run.submit(found.captures, slurm_options(arguments));
  }
  if (arguments.no_wait) {
    lock.leave();
    log::info(
        "not waiting; `msprof cluster --attach --output {}` waits, retries what failed, and "
        "reports",
        shell_word(output.string()));
    return false;
  }
  report = run.finish(write_cluster_products);
  report.problems = std::move(found.problems);
  return true;
}

void run_ssh(const ClusterArguments& arguments, const fs::path& output, RunReport& report) {
  constexpr std::uint64_t kMaxHostsBytes = 16 << 20;
  std::vector<BoardConfig> hosts = cluster::parse_hosts(
      read_text_file(arguments.hosts, kMaxHostsBytes), arguments.hosts, own_account_name());
  std::optional<Secret> password = take_password_variable();
  LoginResolver resolver(ssh_config_files(arguments.keys.ssh_config));
  for (BoardConfig& host : hosts) {
    complete_login(host, arguments.keys, resolver, arguments.hosts);
    host.login.password = password_source(password, host);
  }
  SshRunOptions options;
  options.msprof = arguments.remote_msprof;
  options.folders = arguments.folders;
  options.jobs = positive(arguments.jobs, "--jobs");
  std::vector<fs::path> parts;
  report = cluster::run_over_ssh(output, hosts, options, parts);
  if (!parts.empty())
    merge_into(report, parts, output / "cluster.db", output, work_options(arguments));
}

const char* outcome_word(PartOutcome outcome) {
  switch (outcome) {
    case PartOutcome::current:
      return "current";
    case PartOutcome::made:
      return "made";
    case PartOutcome::partial:
      return "partial";
    case PartOutcome::failed:
      break;
  }
  return "failed";
}

void fill_document(const RunReport& report, ordered_json& document) {
  document["captures"] = ordered_json::array();
  for (const CaptureResult& result : report.results) {
    ordered_json one = {{"folder", valid_utf8(result.capture.folder.string())},
                        {"outcome", outcome_word(result.outcome)}};
    if (result.has_part() && !result.part.empty()) one["part"] = valid_utf8(result.part.string());
    if (!result.reason.empty()) one["reason"] = valid_utf8(result.reason);
    if (!result.lacks.empty()) one["no_parquet"] = valid_utf8(result.lacks);
    if (!result.node.empty()) one["node"] = valid_utf8(result.node);
    document["captures"].push_back(std::move(one));
  }
  document["lost_nodes"] = ordered_json::array();
  for (const LostNode& node : report.lost) {
    document["lost_nodes"].push_back(
        {{"node", valid_utf8(node.name)}, {"reason", valid_utf8(node.reason)}});
  }
  document["problems"] = ordered_json::array();
  for (const SearchProblem& problem : report.problems) {
    document["problems"].push_back(
        {{"path", valid_utf8(problem.path.string())}, {"reason", valid_utf8(problem.reason)}});
  }
}

// Prints the results of a run, the worst last; returns its exit code.
Exit print_report(const RunReport& report) {
  std::size_t counts[4] = {};
  for (const CaptureResult& result : report.results)
    ++counts[static_cast<std::size_t>(result.outcome)];
  const auto count = [&](PartOutcome outcome) { return counts[static_cast<std::size_t>(outcome)]; };
  Exit exit = report.merge.exit;
  log::info("{}: {} made, {} current, {} with partial data, {} failed",
            counted(report.results.size(), "capture"), count(PartOutcome::made),
            count(PartOutcome::current), count(PartOutcome::partial), count(PartOutcome::failed));
  if (count(PartOutcome::partial) > 0 || !report.problems.empty())
    exit = gravest(exit, Exit::partial_data);
  print_problems(report.problems);
  for (const CaptureResult& result : report.results) {
    if (!result.lacks.empty()) {
      exit = gravest(exit, Exit::partial_data);
      log::warn("NO PARQUET of {}: {}", result.capture.folder.string(), result.lacks);
    }
    if (result.has_part()) continue;
    exit = gravest(exit, Exit::partial_data);
    const auto rank = cluster::find_known_rank(result.capture);
    log::warn("MISSING: {}{}{}: {}", result.capture.folder.string(),
              rank ? fmt::format(" (rank {})", *rank) : "",
              result.node.empty() ? "" : fmt::format(" on {}", result.node), result.reason);
  }
  for (const LostNode& node : report.lost) {
    exit = gravest(exit, Exit::partial_data);
    log::warn("MISSING: all captures of {}: {}", node.name, node.reason);
  }
  // Messages of the merge about ranks, unchanged.
  for (const std::string_view line : split(report.merge.text, '\n')) {
    if (!line.empty()) log::info("{}", line);
  }
  return exit;
}

Exit run_all(const ClusterArguments& arguments, ordered_json& document) {
  check_arguments(arguments);
  create_output_folder(arguments.output);
  const fs::path output = fs::canonical(arguments.output);
  const SlurmClient slurm(arguments.slurm_arguments);
  const auto jobs_alive = [&](const std::vector<std::string>& jobs) {
    const auto queued = slurm.queued(jobs);
    return !queued || std::any_of(queued->begin(), queued->end(),
                                  [](const auto& job) { return job.second > 0; });
  };
  RunLock lock(output, jobs_alive, arguments.attach);
  RunReport report;
  if (!arguments.hosts.empty()) {
    run_ssh(arguments, output, report);
  } else if (!arguments.nodelist.empty() || !arguments.job.empty()) {
    run_nodes(arguments, slurm, output, report);
  } else if (arguments.is_on_slurm()) {
    if (!run_slurm(arguments, slurm, output, lock, report)) return Exit::ok;
  } else {
    run_here(arguments, output, report);
  }
  fill_document(report, document);
  const Exit exit = print_report(report);
  const fs::path target =
      arguments.part.empty() ? output / "cluster.db" : absolute_or_empty(arguments.part);
  if (report.merge.text.empty() && list_parts(report.results).empty()) throw_no_part(report);
  document["output"] = valid_utf8(target.string());
  log::info("{}: {}", arguments.part.empty() ? "cluster" : "part", target.string());
  if (arguments.part.empty()) log::info("next: msprof show -dir {}", shell_word(target.string()));
  return exit;
}

Exit run_cluster(const ClusterArguments& arguments) {
  apply_verbosity(arguments.verbosity);
  if (!arguments.task.empty()) return cluster::run_task(arguments.task, write_cluster_products);
  ordered_json document = {{"schema", "msprof.cluster/1"}};
  const auto work = [&] { return run_all(arguments, document); };
  return arguments.json ? print_document(document, work) : work();
}

void add_slurm_options(cli::Command& command, ClusterArguments& arguments) {
  command.add_option({"--slurm", &arguments.slurm, "",
                      "summarize ranks on a Slurm cluster whose nodes share the captures and "
                      "--output: an array of tasks with a few captures each"});
  command.add_option({"--nodelist", &arguments.nodelist, "NODES",
                      "captures are on local disks of these nodes (n[1-8]): one task per node; "
                      "only --output is shared; %n in FOLDER is the node name"});
  command.add_option({"--job", &arguments.job, "ID",
                      "like --nodelist, on the nodes and in the allocation of a Slurm job"});
  command.add_option({"--group", &arguments.group, "N",
                      "captures per task of --slurm (default: 2 to 8, more if the cluster limits "
                      "the number of tasks)"});
  cli::Option extra = {
      "--slurm-arg", &arguments.slurm_arguments, "ARG",
      "option for sbatch and srun, such as --slurm-arg=--partition=batch; can be repeated"};
  extra.takes_one_each = true;
  command.add_option(std::move(extra));
  command.add_option({"--no-wait", &arguments.no_wait, "",
                      "with --slurm: submit and return; the jobs merge on their own"});
  command.add_option({"--attach", &arguments.attach, "",
                      "wait for the Slurm run that writes to --output, retry what failed, and "
                      "report"});
}

void add_ssh_options(cli::Command& command, ClusterArguments& arguments) {
  command.add_option({"--ssh", &arguments.hosts, "FILE",
                      "file with one user@host[:port] per line: run msprof on these hosts over "
                      "SSH, on their folders"});
  add_key_options(command, arguments.keys);
  command.add_option({"--remote-msprof", &arguments.remote_msprof, "PATH",
                      "path of msprof on the --ssh hosts (default: msprof in PATH)"});
}

}  // namespace

void add_cluster_command(cli::Command& root) {
  auto arguments = std::make_shared<ClusterArguments>();
  cli::Command& command = root.add_command(
      "cluster",
      "Analyze the captures of many ranks together: finds the PROF_… folders in the given folders, "
      "summarizes each capture where it is stored (msprof rank), and merges the summaries into "
      "DIR/cluster.db. Runs on this machine, on the nodes of a Slurm cluster, or on hosts over "
      "SSH. A repeated run does only what is missing. Missing ranks are reported.");
  command.set_examples(
      "  msprof cluster /data/job17 --output result                 on this machine\n"
      "  msprof cluster /shared/job17 --output /shared/result --slurm\n"
      "  msprof cluster /local/prof --output /shared/result --nodelist 'n[1-8]'\n"
      "  msprof cluster /local/prof --output result --ssh hosts.txt\n"
      "  msprof show -dir result/cluster.db                         show the result");
  cli::Option folders = {"folders", &arguments->folders, "FOLDER",
                         "folders with captures, searched recursively"};
  folders.takes_captures = true;
  command.add_option(std::move(folders));
  command.add_option({"--output", &arguments->output, "DIR",
                      "folder for rank summaries, logs, cluster.db and its products"});
  command.add_option({"--jobs", &arguments->jobs, "N",
                      "parallel processes per machine (default: its number of cores)"});
  command.add_option({"--store", &arguments->store, "DIR",
                      "put the stores into DIR instead of into the captures"});
  command.add_option(
      {"--manifest", &arguments->manifest, "FILE", "the expected ranks, as for merge"});
  command.add_option({"--detail-rows", &arguments->detail_rows, "N",
                      "number of per-rank collective rows to keep (see merge)"});
  command.add_option({"--parquet", &arguments->parquet, "DIR",
                      "also write every task of every rank as Parquet files into DIR, for SQL over "
                      "all ranks (export parquet)"});
  command.add_option({"--part", &arguments->part, "FILE",
                      "write one merged summary to FILE instead of cluster.db, to be merged with "
                      "those of other machines"});
  add_slurm_options(command, *arguments);
  add_ssh_options(command, *arguments);
  command.add_option({"--msprof", &arguments->msprof, "PATH",
                      "path of msprof on the Slurm nodes, if different (default: this one)"});
  command.add_option(
      {"--task", &arguments->task, "FILE", "run a task of a Slurm run's file; used by its jobs"});
  command.add_option({"--json", &arguments->json, "", "print one JSON document on stdout"});
  add_verbosity(command, arguments->verbosity);
  command.set_action([arguments] { return run_cluster(*arguments); });
}

}  // namespace msprof
