#include "cluster/run/slurm_run.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <thread>

#include "base/atomic_file.hpp"
#include "base/file_reader.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/random_name.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "cluster/run/cluster_task.hpp"
#include "cluster/run/pool.hpp"
#include "cluster/run/run_json.hpp"

namespace msprof::cluster {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kQueueInterval{2};
constexpr std::chrono::minutes kSilentController{15};
constexpr std::uint64_t kMaxRunFile = 16 << 20;
constexpr const char* kRunSchema = "msprof.cluster-run/1";
constexpr const char* kScriptName = "task.sh";

// Arguments: $1 msprof, $2 path of the task folders without the task number.
constexpr std::string_view kTaskScript =
    "#!/bin/sh\n"
    "exec \"$1\" cluster --task \"$2.$SLURM_ARRAY_TASK_ID/task.json\"\n";

std::string new_run_id() {
  return fmt::format("{:%Y%m%d-%H%M%S}-{}", fmt::gmtime(std::time(nullptr)),
                     random_name().substr(0, 8));
}

// In log names, '%' starts a field for Slurm and must be doubled.
std::string log_pattern(const fs::path& path) {
  std::string text;
  for (const char c : path.native()) text += c == '%' ? std::string("%%") : std::string(1, c);
  return text;
}

void check_output_name(const fs::path& output) {
  const std::string& text = output.native();
  if (printable(text) != text || text.find('\\') != std::string::npos) {
    throw Error(
        Exit::usage,
        fmt::format(
            "--output {}: Slurm does not accept paths with control characters or a backslash",
            printable(text)));
  }
}

// Returns true if a retry may succeed, perhaps on another node: for all failures except those of
// the capture itself or the command line.
bool may_pass(const CaptureResult& result) {
  if (!result.lacks.empty()) return true;
  return !result.has_part() && result.exit != Exit::nothing_to_do && result.exit != Exit::usage;
}

void sleep_interruptibly(std::chrono::milliseconds time) {
  const auto end = Clock::now() + time;
  while (Clock::now() < end && interrupt::received() == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

std::size_t smallest_cpus(const std::vector<SlurmNode>& nodes) {
  std::uint64_t cpus = 0;
  for (const SlurmNode& node : nodes) {
    if (node.is_usable()) cpus = cpus == 0 ? node.cpus : std::min(cpus, node.cpus);
  }
  return static_cast<std::size_t>(std::max<std::uint64_t>(1, cpus));
}

}  // namespace

SlurmRun::SlurmRun(const SlurmClient& slurm, fs::path output, RunLock& lock)
    : slurm_(slurm), output_(std::move(output)), lock_(lock) {
  check_output_name(output_);
}

fs::path SlurmRun::stage_folder(const std::string& stage, std::size_t index) const {
  return run_folder() / fmt::format("{}.{}", stage, index);
}

std::string SlurmRun::merge_stage(std::size_t level) {
  return fmt::format("merge{}", level + 1);
}

void SlurmRun::submit(const std::vector<ClusterCapture>& captures, const SlurmOptions& options) {
  const PartFolder parts(output_);
  std::vector<ClusterCapture> to_do;
  std::vector<fs::path> inputs;
  std::vector<CaptureResult> ready;
  for (const ClusterCapture& capture : captures) {
    interrupt::check();
    std::error_code error;
    const bool has_part = fs::exists(parts.part_path(capture), error);
    const std::string fingerprint = has_part ? PartFolder::fingerprint(capture) : "";
    if (auto current = parts.find_current(capture, fingerprint)) {
      inputs.push_back(current->part);
      ready.push_back(std::move(*current));
    } else {
      to_do.push_back(capture);
    }
  }
  const std::vector<SlurmNode> nodes = slurm_.nodes();
  const auto usable = static_cast<std::size_t>(std::count_if(
      nodes.begin(), nodes.end(), [](const SlurmNode& node) { return node.is_usable(); }));
  const SlurmGroups groups = plan_groups(to_do.size(), usable, slurm_.limits(), options.group_size);
  state_ = State{};
  state_.run = new_run_id();
  state_.groups = groups.count;
  state_.retries = options.retries;
  state_.cpus =
      options.work.jobs != 0 ? options.work.jobs : std::min(groups.size, smallest_cpus(nodes));
  state_.cpus = std::max<std::size_t>(1, state_.cpus);
  state_.extra = slurm_.extra();
  create_output_folder(run_folder());
  write_text_file(run_folder() / kScriptName, kTaskScript);
  ::chmod((run_folder() / kScriptName).c_str(), 0755);
  write_text_file(run_folder() / "ready.json", as_json(ready).dump(1) + "\n");

  std::set<std::size_t> all;
  std::vector<fs::path> merged;
  for (std::size_t group = 0; group < groups.count; ++group) {
    const std::size_t begin = group * groups.size;
    const std::size_t end = std::min(begin + groups.size, to_do.size());
    const fs::path folder = stage_folder("parts", group);
    ClusterTask task;
    task.kind = ClusterTaskKind::parts;
    task.output = output_;
    task.part = folder / "group.part";
    task.captures.assign(to_do.begin() + static_cast<std::ptrdiff_t>(begin),
                         to_do.begin() + static_cast<std::ptrdiff_t>(end));
    task.work = options.work;
    task.work.jobs = state_.cpus;
    write_task(folder / "task.json", task);
    merged.push_back(task.part);
    all.insert(group);
  }
  merged.insert(merged.end(), inputs.begin(), inputs.end());
  write_merge_tasks(std::move(merged), options);
  submit_jobs(all);
  log::info("submitted {} of {} in {} and {} to Slurm: jobs {}", counted(to_do.size(), "capture"),
            captures.size(), counted(groups.count, "task"),
            counted(state_.merges.size(), "level of merges", "levels of merges"),
            listed(state_.jobs));
}

void SlurmRun::write_merge_tasks(std::vector<fs::path> inputs, const SlurmOptions& options) {
  const std::size_t fan_in = std::max<std::size_t>(2, options.fan_in);
  for (;;) {
    const std::size_t level = state_.merges.size();
    const bool is_last = inputs.size() <= fan_in;
    std::vector<fs::path> outputs;
    for (std::size_t begin = 0; begin < std::max<std::size_t>(1, inputs.size()); begin += fan_in) {
      const fs::path folder = stage_folder(merge_stage(level), outputs.size());
      ClusterTask task;
      task.kind = is_last ? ClusterTaskKind::finish : ClusterTaskKind::merge;
      task.output = output_;
      task.part = is_last ? output_ / "cluster.db" : folder / "merged.part";
      const std::size_t end = std::min(begin + fan_in, inputs.size());
      task.inputs.assign(inputs.begin() + static_cast<std::ptrdiff_t>(begin),
                         inputs.begin() + static_cast<std::ptrdiff_t>(end));
      task.work = options.work;
      if (!is_last) task.work.manifest.clear();
      write_task(folder / "task.json", task);
      outputs.push_back(task.part);
    }
    state_.merges.push_back(outputs.size());
    if (is_last) return;
    inputs = std::move(outputs);
  }
}

std::string SlurmRun::submit_stage(const std::string& stage, const std::set<std::size_t>& tasks,
                                   const std::string& after, std::size_t cpus) {
  std::error_code ignored;
  for (const std::size_t task : tasks)
    fs::remove(stage_folder(stage, task) / "result.json", ignored);
  SlurmJob job;
  // --requeue: if a node dies, its task runs on another node.
  job.arguments = {"--array=" + index_list(tasks),
                   "--job-name=msprof-" + stage,
                   "--output=" + log_pattern(run_folder()) + "/" + stage + ".%a/log",
                   "--open-mode=append",
                   "--requeue",
                   "--nodes=1",
                   "--ntasks=1",
                   fmt::format("--cpus-per-task={}", cpus),
                   "--chdir=" + output_.string()};
  if (!after.empty()) {
    // afterany: a merge also runs after failed tasks and reports what is missing.
    job.arguments.push_back("--dependency=afterany:" + after);
    job.arguments.push_back("--kill-on-invalid-dep=yes");
  }
  const ClusterTask task = read_task(stage_folder(stage, *tasks.begin()) / "task.json");
  job.script = run_folder() / kScriptName;
  job.words = {task.work.msprof.string(), (run_folder() / stage).string()};
  return slurm_.submit(job);
}

void SlurmRun::submit_jobs(const std::set<std::size_t>& groups) {
  state_.jobs.clear();
  std::error_code ignored;
  try {
    std::string last;
    const auto add = [&](const std::string& job) {
      last = job;
      state_.jobs.push_back(job);
      save();
    };
    if (!groups.empty()) add(submit_stage("parts", groups, "", state_.cpus));
    for (std::size_t level = 0; level < state_.merges.size(); ++level) {
      std::set<std::size_t> tasks;
      for (std::size_t task = 0; task < state_.merges[level]; ++task) tasks.insert(task);
      add(submit_stage(merge_stage(level), tasks, last, 1));
    }
  } catch (const Error&) {
    slurm_.cancel(state_.jobs);
    state_.jobs.clear();
    throw;
  }
}

void SlurmRun::save() const {
  const json document = {
      {"schema", kRunSchema},      {"run", state_.run},       {"jobs", state_.jobs},
      {"groups", state_.groups},   {"merges", state_.merges}, {"tries", state_.tries},
      {"retries", state_.retries}, {"cpus", state_.cpus},     {"extra", state_.extra}};
  write_text_file(output_ / "slurm" / "run.json", document.dump(1) + "\n");
  lock_.set_jobs(state_.jobs);
}

void SlurmRun::load() {
  const fs::path file = output_ / "slurm" / "run.json";
  std::error_code error;
  if (!fs::is_regular_file(file, error)) {
    throw Error(Exit::nothing_to_do,
                fmt::format("{} has no run on Slurm to wait for", output_.string()));
  }
  parse_json(read_text_file(file, kMaxRunFile), file.string(), [&](const json& document) {
    state_.run = document.at("run").get<std::string>();
    state_.jobs = document.at("jobs").get<std::vector<std::string>>();
    state_.groups = document.at("groups").get<std::size_t>();
    state_.merges = document.at("merges").get<std::vector<std::size_t>>();
    state_.tries = document.at("tries").get<int>();
    state_.retries = document.at("retries").get<int>();
    state_.cpus = document.at("cpus").get<std::size_t>();
    state_.extra = document.at("extra").get<std::vector<std::string>>();
    const bool is_own = document.at("schema") == kRunSchema &&
                        state_.run.find('/') == std::string::npos && !state_.merges.empty() &&
                        state_.merges.back() == 1;
    if (!is_own) throw Error(Exit::partial_data, fmt::format("{} is damaged", file.string()));
  });
}

void SlurmRun::attach() {
  load();
  lock_.set_jobs(state_.jobs);
  if (!state_.jobs.empty()) log::info("waiting for the Slurm jobs {}", listed(state_.jobs));
}

void SlurmRun::wait_for_jobs() {
  CountedProgress progress("tasks on Slurm", state_.groups + state_.merges.size());
  auto answered = Clock::now();
  for (int empty = 0; empty < 2;) {
    if (const auto queued = slurm_.queued(state_.jobs)) {
      answered = Clock::now();
      std::size_t left = 0;
      for (const auto& [job, tasks] : *queued) left += tasks;
      // Checked twice: a task that is being requeued is not listed for a moment.
      empty = left == 0 ? empty + 1 : 0;
      const std::size_t all = state_.groups + state_.merges.size();
      progress.update(all > left ? all - left : 0, 0);
    } else if (Clock::now() - answered > kSilentController) {
      lock_.leave();
      throw Error(Exit::board_unreachable,
                  fmt::format("Slurm has not answered for 15 minutes. The jobs continue; `msprof "
                              "cluster --attach --output {}` waits for them again",
                              shell_word(output_.string())));
    }
    if (empty < 2)
      sleep_interruptibly(empty == 1 ? std::chrono::milliseconds(500) : kQueueInterval);
    interrupt::check();
  }
}

std::set<std::size_t> SlurmRun::failed_groups() const {
  std::set<std::size_t> failed;
  for (std::size_t group = 0; group < state_.groups; ++group) {
    const auto result = read_task_result(stage_folder("parts", group));
    const bool is_well =
        result &&
        std::none_of(result->report.results.begin(), result->report.results.end(), may_pass) &&
        (result->has_part ||
         std::none_of(result->report.results.begin(), result->report.results.end(),
                      [](const CaptureResult& one) { return one.has_part(); }));
    if (!is_well) failed.insert(group);
  }
  return failed;
}

bool SlurmRun::has_answer() const {
  for (std::size_t level = 0; level < state_.merges.size(); ++level) {
    for (std::size_t task = 0; task < state_.merges[level]; ++task) {
      const auto result = read_task_result(stage_folder(merge_stage(level), task));
      if (!result) return false;
      const bool is_last = level + 1 == state_.merges.size();
      if (is_last && !result->has_part && result->exit != Exit::nothing_to_do) return false;
    }
  }
  return true;
}

RunReport SlurmRun::finish(const std::function<void(const fs::path&)>& write_products) {
  try {
    for (;;) {
      wait_for_jobs();
      const std::set<std::size_t> failed = failed_groups();
      if ((failed.empty() && has_answer()) || state_.tries > state_.retries) break;
      ++state_.tries;
      log::info("{}: submitted again, attempt {} of {}",
                failed.empty() ? std::string("the merge failed")
                               : fmt::format("{} failed", counted(failed.size(), "task")),
                state_.tries, state_.retries + 1);
      submit_jobs(failed);
    }
  } catch (const Error& error) {
    if (error.code() == Exit::interrupted) {
      slurm_.cancel(state_.jobs);
      log::info("cancelled the jobs {}; run the command again to do what is missing",
                listed(state_.jobs));
    }
    throw;
  }
  state_.jobs.clear();
  save();
  return collect(write_products);
}

RunReport SlurmRun::collect(const std::function<void(const fs::path&)>& write_products) const {
  RunReport report;
  const fs::path ready = run_folder() / "ready.json";
  report.results = parse_json(read_text_file(ready, 256 << 20), ready.string(), parse_results);
  const PartFolder parts(output_);
  for (std::size_t group = 0; group < state_.groups; ++group) {
    const fs::path folder = stage_folder("parts", group);
    if (auto result = read_task_result(folder)) {
      for (CaptureResult& one : result->report.results) report.results.push_back(std::move(one));
      continue;
    }
    // The task failed in each try; use the parts that it made.
    for (const ClusterCapture& capture : read_task(folder / "task.json").captures) {
      if (auto current = parts.find_current(capture, PartFolder::fingerprint(capture))) {
        report.results.push_back(std::move(*current));
        continue;
      }
      CaptureResult lost{
          capture, parts.part_path(capture), PartOutcome::failed, Exit::internal_error, "", "", ""};
      lost.reason = fmt::format("its task ended {} without a result (log: {})",
                                counted(static_cast<std::uint64_t>(state_.tries), "time"),
                                (folder / "log").string());
      report.results.push_back(std::move(lost));
    }
  }
  std::sort(report.results.begin(), report.results.end(),
            [](const CaptureResult& a, const CaptureResult& b) {
              return a.capture.folder.native() < b.capture.folder.native();
            });
  const auto last = read_task_result(stage_folder(merge_stage(state_.merges.size() - 1), 0));
  if (failed_groups().empty() && has_answer() && last && last->has_part) {
    report.merge = last->report.merge;
  } else {
    merge_here(report, write_products);
  }
  return report;
}

// Merges all existing parts locally, because merged results are incomplete if a group or a merge
// failed on Slurm.
void SlurmRun::merge_here(RunReport& report,
                          const std::function<void(const fs::path&)>& write_products) const {
  std::vector<fs::path> inputs;
  for (const CaptureResult& result : report.results) {
    if (result.has_part()) inputs.push_back(result.part);
  }
  if (inputs.empty()) return;
  const ClusterTask task =
      read_task(stage_folder(merge_stage(state_.merges.size() - 1), 0) / "task.json");
  report.merge = run_merge(inputs, task.part, output_ / "merge.log", task.work);
  write_products(output_);
}

RunReport run_on_nodes(const SlurmClient& slurm, const fs::path& output,
                       const std::vector<std::string>& nodes, const std::string& job,
                       const std::vector<fs::path>& folders, const SlurmOptions& options,
                       std::vector<fs::path>& node_parts) {
  check_output_name(output);
  RunReport report;
  const fs::path folder = output / "slurm" / new_run_id();
  ClusterTask task;
  task.kind = ClusterTaskKind::node;
  task.output = output;
  task.folders = folders;
  task.work = options.work;
  write_task(folder / "task.json", task);
  std::set<std::string> left(nodes.begin(), nodes.end());
  std::error_code ignored;
  for (const std::string& node : left) {
    create_output_folder(node_folder(output, node));
    fs::remove(node_folder(output, node) / "result.json", ignored);
  }
  const auto is_done = [&](const std::string& node) {
    const auto result = read_task_result(node_folder(output, node));
    return result &&
           std::none_of(result->report.results.begin(), result->report.results.end(), may_pass);
  };
  for (int tries = 0; tries <= options.retries && !left.empty(); ++tries) {
    std::vector<std::string> usable;
    std::vector<SlurmNode> states = slurm.nodes();
    std::erase_if(states, [&](const SlurmNode& node) {
      return !node.is_usable() || !left.contains(node.name);
    });
    for (const SlurmNode& node : states) usable.push_back(node.name);
    if (usable.empty()) break;
    std::string list;
    for (const std::string& node : usable) list += (list.empty() ? "" : ",") + node;
    const std::size_t cpus = options.work.jobs != 0 ? options.work.jobs : smallest_cpus(states);
    // A failed node or task must not end the others.
    std::vector<std::string> arguments = {"srun",
                                          "--nodelist=" + list,
                                          fmt::format("--nodes={}", usable.size()),
                                          fmt::format("--ntasks={}", usable.size()),
                                          "--ntasks-per-node=1",
                                          fmt::format("--cpus-per-task={}", cpus),
                                          "--job-name=msprof-nodes",
                                          "--no-kill",
                                          "--kill-on-bad-exit=0",
                                          "--wait=0",
                                          "--chdir=" + output.string(),
                                          "--output=" + log_pattern(folder) + "/%N.log",
                                          "--open-mode=append"};
    if (!job.empty()) {
      arguments.push_back("--jobid=" + job);
      arguments.push_back("--overlap");
    }
    arguments.insert(arguments.end(), slurm.extra().begin(), slurm.extra().end());
    arguments.insert(arguments.end(), {options.work.msprof.string(), "cluster", "--task",
                                       (folder / "task.json").string()});
    PoolOptions pool;
    pool.label = "nodes";
    pool.retries = 0;
    pool.patience = std::chrono::seconds(30);  // time for srun to end its job step
    log::info("running on {}: {}", counted(usable.size(), "node"), list);
    run_pool({{arguments, folder / "srun.log"}}, pool,
             [](std::size_t, const PoolEnd&) { return true; });
    for (const std::string& node : usable) {
      if (is_done(node)) left.erase(node);
    }
  }
  for (const std::string& node : nodes) {
    auto result = read_task_result(node_folder(output, node));
    if (!result) {
      const std::string said = last_line(folder / (node + ".log"));
      const std::string by_srun = last_line(folder / "srun.log");
      report.lost.push_back({node, !said.empty()      ? said
                                   : !by_srun.empty() ? by_srun
                                                      : "the node is currently unavailable"});
      continue;
    }
    for (CaptureResult& one : result->report.results) report.results.push_back(std::move(one));
    for (SearchProblem& one : result->report.problems) {
      one.reason += fmt::format(" (on {})", node);
      report.problems.push_back(std::move(one));
    }
    if (result->has_part) {
      node_parts.push_back(node_folder(output, node) / "node.part");
    } else if (!result->error.empty()) {
      report.lost.push_back({node, result->error});
    }
  }
  return report;
}

}  // namespace msprof::cluster
