// Creates and merges rank summaries (parts) with processes on this machine. Used by `msprof
// cluster`, and by the tasks that it starts on other machines.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cluster/run/part_folder.hpp"

namespace msprof::cluster {

struct WorkOptions {
  std::filesystem::path msprof;    // program to start
  std::size_t jobs = 0;            // concurrent processes; 0: one per usable core
  std::filesystem::path stores;    // folder for stores (rank --store); empty: rank's default
  std::filesystem::path manifest;  // passed to merge; empty: no manifest
  std::string detail_rows;         // passed to merge; empty: merge's default
  std::filesystem::path parquet;   // folder for Parquet files; empty: do not write any
};

// own_program() returns the running program, to start it again. find_program() maps the path of a
// running executable to the program to start: the launcher, for the loader of a release archive.
std::filesystem::path own_program();
std::filesystem::path find_program(const std::filesystem::path& running);
std::size_t usable_cores();

// Creates the parts that are missing or outdated, at most `jobs` at a time, and the Parquet files
// if requested. Deletes outdated parts first. Results are in the order of `captures`. Throws
// Error(interrupted).
std::vector<CaptureResult> make_parts(const PartFolder& folder,
                                      const std::vector<ClusterCapture>& captures,
                                      const WorkOptions& options);

// Result of a merge: ok, or partial_data if ranks are missing or parts were refused.
struct MergeEnd {
  Exit exit = Exit::ok;
  std::string text;  // output of the merge
};

// A node or host that returned no result, and the reason.
struct LostNode {
  std::string name;
  std::string reason;
};

struct RunReport {
  std::vector<CaptureResult> results;
  std::vector<SearchProblem> problems;
  std::vector<LostNode> lost;
  MergeEnd merge;
};

// Merges `parts` into `output` with `msprof merge`, in several steps if they do not fit on one
// command line. The merge's output goes to `log`. A process killed by a signal is retried twice.
// Throws Error with the merge's exit code if there is no result.
MergeEnd run_merge(const std::vector<std::filesystem::path>& parts,
                   const std::filesystem::path& output, const std::filesystem::path& log,
                   const WorkOptions& options);

}  // namespace msprof::cluster
