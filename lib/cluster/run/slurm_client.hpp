// SlurmClient wraps the Slurm commands: limits and nodes of the cluster; submitting, watching and
// cancelling jobs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace msprof::cluster {

// Limits from slurm.conf; initialized with Slurm's defaults.
struct SlurmLimits {
  std::uint64_t max_array_size = 1001;  // array indices are smaller than this
  std::uint64_t max_job_count = 10'000;
};
// Parses the output of `scontrol show config`.
SlurmLimits parse_limits(const std::string& text);

struct SlurmNode {
  std::string name;
  std::uint64_t cpus = 1;
  std::string state;  // "idle", "mix*", "down"

  bool is_usable() const;
};
// Parses the output of `sinfo -h -N -o "%N %c %t"`; lists a node in several partitions once.
std::vector<SlurmNode> parse_nodes(const std::string& text);

// Distribution of captures over the tasks of a job array.
struct SlurmGroups {
  std::size_t count = 0;  // Distribution of captures over the tasks of a job array.
  std::size_t size = 0;   // captures per task; the last may have fewer
};
// Plans 2 to 8 captures per task, more only if the cluster's limits require it, so that a lost task
// costs little and the scheduler is not flooded. If `size` is not 0, it is the user's choice.
SlurmGroups plan_groups(std::size_t captures, std::size_t nodes, const SlurmLimits& limits,
                        std::size_t size = 0);

// Returns indices for --array: "3-5,9".
std::string index_list(const std::set<std::size_t>& indices);

struct SlurmJob {
  std::vector<std::string> arguments;  // options for sbatch
  std::filesystem::path script;
  std::vector<std::string> words;  // arguments of the script
};

class SlurmClient {
 public:
  // `extra`: the user's options for sbatch and srun.
  explicit SlurmClient(std::vector<std::string> extra) : extra_(std::move(extra)) {}

  // The following functions throw Error(board_unreachable) if Slurm does not respond or refuses.
  SlurmLimits limits() const;
  // Returns all nodes, or those of a list in Slurm's format: "n[1-8]".
  std::vector<SlurmNode> nodes(const std::string& list = "") const;
  // Expands a list in Slurm's format to names.
  std::vector<std::string> expand_nodes(const std::string& list) const;
  // Returns the nodes of a job, as a list in Slurm's format, and whether it is running. Throws
  // Error(nothing_to_do) for an unknown job.
  struct JobNodes {
    std::string list;
    bool is_running = false;
  };
  JobNodes read_job_nodes(const std::string& job) const;
  std::string submit(const SlurmJob& job) const;

  // Returns the number of queued and running tasks for each of `jobs`; empty if the controller does
  // not respond.
  std::optional<std::map<std::string, std::size_t>> queued(
      const std::vector<std::string>& jobs) const;
  // Cancels the remaining tasks of `jobs`. Reports failures as warnings.
  void cancel(const std::vector<std::string>& jobs) const;

  const std::vector<std::string>& extra() const { return extra_; }

 private:
  std::vector<std::string> extra_;
};

}  // namespace msprof::cluster
