// SlurmRun runs an analysis of many captures on a Slurm cluster (`msprof cluster --slurm`). For
// captures on a shared file system it submits an array of tasks, each with a group of captures,
// followed by merges, level by level. For captures on the disks of nodes, run_on_nodes() runs one
// task on each node.
//
// All files of the tasks are below the output folder, which every node must be able to access:
//   slurm/RUN/parts.N/   a group: task.json, group.part, result.json, log
//   slurm/RUN/mergeL.N/  a merge of level L; the last writes OUTPUT/cluster.db
//   slurm/run.json       the latest run, for --attach
//   nodes/NAME/          results of a node for its own captures
#pragma once

#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "cluster/run/local_run.hpp"
#include "cluster/run/run_lock.hpp"
#include "cluster/run/slurm_client.hpp"

namespace msprof::cluster {

struct SlurmOptions {
  WorkOptions work;
  std::size_t group_size = 0;  // captures per task; 0: see plan_groups()
  std::size_t fan_in = 512;    // parts per merge
  int retries = 2;             // retries of failed tasks and merges
  bool wait = true;
};

// A run over captures on a shared file system.
class SlurmRun {
 public:
  SlurmRun(const SlurmClient& slurm, std::filesystem::path output, RunLock& lock);

  // Submits tasks for `captures`, followed by merges. Existing up-to-date parts are reused. If
  // Slurm refuses, cancels all submitted jobs and throws Error(board_unreachable).
  void submit(const std::vector<ClusterCapture>& captures, const SlurmOptions& options);
  // Resumes the run recorded in OUTPUT/slurm/run.json. Throws Error(nothing_to_do) if there is
  // none.
  void attach();
  // Jobs of the run that may still be queued.
  const std::vector<std::string>& jobs() const { return state_.jobs; }

  // Waits for the jobs, resubmits failed ones and returns the result. Cancels all jobs on Ctrl-C.
  // If Slurm stops responding, throws Error(board_unreachable) and keeps the jobs. `write_products`
  // is called if the final merge had to be done locally.
  RunReport finish(const std::function<void(const std::filesystem::path&)>& write_products);

 private:
  struct State {
    std::string run;
    std::vector<std::string> jobs;
    std::size_t groups = 0;
    std::vector<std::size_t> merges;  // number of merge tasks per level; 1 in the last level
    int tries = 1;
    int retries = 2;
    std::size_t cpus = 1;  // cores per task
    std::vector<std::string> extra;
  };

  std::filesystem::path stage_folder(const std::string& stage, std::size_t index) const;
  std::filesystem::path run_folder() const { return output_ / "slurm" / state_.run; }
  static std::string merge_stage(std::size_t level);
  void write_merge_tasks(std::vector<std::filesystem::path> inputs, const SlurmOptions& options);
  void submit_jobs(const std::set<std::size_t>& groups);
  std::string submit_stage(const std::string& stage, const std::set<std::size_t>& tasks,
                           const std::string& after, std::size_t cpus);
  void save() const;
  void load();
  void wait_for_jobs();
  std::set<std::size_t> failed_groups() const;
  bool has_answer() const;
  RunReport collect(const std::function<void(const std::filesystem::path&)>& write_products) const;
  void merge_here(RunReport& report,
                  const std::function<void(const std::filesystem::path&)>& write_products) const;

  const SlurmClient& slurm_;
  std::filesystem::path output_;
  RunLock& lock_;
  State state_;
};

// Summarizes the captures below `folders` on each of `nodes`, locally on that node. If `job` is
// set, the tasks run inside this running job, which owns the nodes. Retries failed nodes and
// reports those that fail repeatedly. Returns the results of all nodes, without merging their
// parts, and adds these to `node_parts`.
RunReport run_on_nodes(const SlurmClient& slurm, const std::filesystem::path& output,
                       const std::vector<std::string>& nodes, const std::string& job,
                       const std::vector<std::filesystem::path>& folders,
                       const SlurmOptions& options, std::vector<std::filesystem::path>& node_parts);

}  // namespace msprof::cluster
