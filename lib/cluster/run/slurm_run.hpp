// SlurmRun: a run over many captures on the nodes of a cluster with Slurm. Captures on a shared
// file system: an array of tasks, a group of captures each, and merges level by level behind it.
// Captures on the disks of nodes: one task on each of these nodes. For `msprof cluster --slurm`.
//
// All that the tasks read and write is below the output folder, which every node must see:
//   slurm/RUN/parts.N/   a group: task.json, group.part, result.json, log
//   slurm/RUN/mergeL.N/  a merge of level L; the last writes OUTPUT/cluster.db
//   slurm/run.json       the newest run, for --attach
//   nodes/NAME/          what a node made of its own captures
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
  std::size_t group_size = 0;  // captures of a task; 0: as plan_groups() has it
  std::size_t fan_in = 512;    // parts of one merge
  int retries = 2;             // of tasks and merges that failed
  bool wait = true;
};

// A run over captures that every node sees.
class SlurmRun {
 public:
  SlurmRun(const SlurmClient& slurm, std::filesystem::path output, RunLock& lock);

  // Submits tasks for `captures` and the merges behind them; parts that are current are merged as
  // they are. Throws Error(board_unreachable) when Slurm refuses; nothing is left in its queue
  // then.
  void submit(const std::vector<FoundCapture>& captures, const SlurmOptions& options);
  // Goes on with the run that OUTPUT/slurm/run.json names. Throws Error(nothing_to_do) where there
  // is none.
  void attach();
  // Jobs of the run that the queue may have.
  const std::vector<std::string>& jobs() const { return state_.jobs; }

  // Waits for the end, submits what failed again, and gives what came of it. On Ctrl-C all jobs are
  // cancelled. Where Slurm stops answering it throws Error(board_unreachable) and leaves the jobs.
  // `write_products` for a merge that had to be made here.
  RunReport finish(const std::function<void(const std::filesystem::path&)>& write_products);

 private:
  // What run.json holds.
  struct State {
    std::string run;
    std::vector<std::string> jobs;
    std::size_t groups = 0;
    std::vector<std::size_t> merges;  // tasks of each level; the last has one
    int tries = 1;
    int retries = 2;
    std::size_t cpus = 1;  // of a task
    std::vector<std::string> extra;
  };

  std::filesystem::path folder_of(const std::string& stage, std::size_t index) const;
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

// Makes parts of what lies below `folders` on each of `nodes`, there; `job`: these nodes are those
// of this running job, inside which the tasks run. Nodes that fail are tried again, and named when
// they stay lost. Gives the results of all, not merged yet; the parts of nodes are in `node_parts`.
RunReport run_on_nodes(const SlurmClient& slurm, const std::filesystem::path& output,
                       const std::vector<std::string>& nodes, const std::string& job,
                       const std::vector<std::filesystem::path>& folders,
                       const SlurmOptions& options, std::vector<std::filesystem::path>& node_parts);

}  // namespace msprof::cluster
