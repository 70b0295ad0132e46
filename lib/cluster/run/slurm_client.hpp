// SlurmClient: the commands of Slurm as functions: what the cluster allows, which nodes there are,
// jobs submitted, watched, cancelled. For the runs on Slurm.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace msprof::cluster {

// slurm.conf; Slurm's own defaults where it says nothing.
struct SlurmLimits {
  std::uint64_t max_array_size = 1001;  // indices are below it
  std::uint64_t max_job_count = 10'000;
};
// Of the output of `scontrol show config`.
SlurmLimits parse_limits(const std::string& text);

struct SlurmNode {
  std::string name;
  std::uint64_t cpus = 1;
  std::string state;  // "idle", "mix*", "down"

  bool is_usable() const;
};
// Of the output of `sinfo -h -N -o "%N %c %t"`; a node of several partitions once.
std::vector<SlurmNode> parse_nodes(const std::string& text);

// How captures are spread over the tasks of an array.
struct SlurmGroups {
  std::size_t count = 0;  // of tasks
  std::size_t size = 0;   // captures of a task; the last may have fewer
};
// Never a task a capture: at least 2 of them, at most 8 where the limits allow it, so that a lost
// task costs little and the scheduler is not flooded. `size`: as the user wants it; 0: nothing.
SlurmGroups plan_groups(std::size_t captures, std::size_t nodes, const SlurmLimits& limits,
                        std::size_t size = 0);

// "3-5,9": indices for --array.
std::string index_list(const std::set<std::size_t>& indices);

struct SlurmJob {
  std::vector<std::string> arguments;  // options of sbatch
  std::filesystem::path script;
  std::vector<std::string> words;  // arguments of the script
};

class SlurmClient {
 public:
  // `extra`: options of the user for sbatch and srun.
  explicit SlurmClient(std::vector<std::string> extra) : extra_(std::move(extra)) {}

  // These throw Error(board_unreachable) where Slurm does not answer or refuses.
  SlurmLimits limits() const;
  // All nodes, or those of a list in Slurm's form: "n[1-8]".
  std::vector<SlurmNode> nodes(const std::string& list = "") const;
  // Every name of such a list.
  std::vector<std::string> names_of(const std::string& list) const;
  // Nodes of a job, in that form, and whether it runs. Throws Error(nothing_to_do) for an unknown
  // job.
  struct JobNodes {
    std::string list;
    bool is_running = false;
  };
  JobNodes nodes_of_job(const std::string& job) const;
  // Returns the number of the job.
  std::string submit(const SlurmJob& job) const;

  // Number of tasks that each of `jobs` still has in the queue, running or waiting; empty while the
  // controller does not answer.
  std::optional<std::map<std::string, std::size_t>> queued(
      const std::vector<std::string>& jobs) const;
  // Cancels what is left of `jobs`; never throws.
  void cancel(const std::vector<std::string>& jobs) const;

  const std::vector<std::string>& extra() const { return extra_; }

 private:
  std::vector<std::string> extra_;
};

}  // namespace msprof::cluster
