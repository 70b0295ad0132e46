// Parts of captures made by processes of this machine, and merged. For `msprof cluster`, and for
// the tasks that it starts on other machines.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cluster/run/part_folder.hpp"

namespace msprof::cluster {

// How parts are made and merged, on whatever machine.
struct WorkOptions {
  std::filesystem::path msprof;  // the program that is started
  std::size_t jobs = 0;          // processes at a time; 0: one a core that this process may use
  std::filesystem::path stores;  // folder for the stores of captures (rank --store); empty: as rank
  std::filesystem::path manifest;  // of merge; empty: none
  std::string detail_rows;         // of merge; empty: its default
  std::filesystem::path parquet;   // folder of the Parquet files of all tasks; empty: none
};

// This program as it was started, for a process that shall do the same; and the one that a running
// file stands for: of an archive with a loader of its own that is its bin/msprof.
std::filesystem::path own_program();
std::filesystem::path program_of(const std::filesystem::path& running);
// Cores that this process may use.
std::size_t usable_cores();

// Makes what parts are not current, at most `jobs` at a time; a part that is not of its capture as
// it is is removed first. Likewise the Parquet files, where they are wanted. Results are in the
// order of `captures`. Throws Error(interrupted).
std::vector<CaptureResult> make_parts(const PartFolder& folder,
                                      const std::vector<FoundCapture>& captures,
                                      const WorkOptions& options);

// How a merge ended: ok, or partial_data where ranks are missing or parts were refused.
struct MergeEnd {
  Exit exit = Exit::ok;
  std::string text;  // what it printed
};

// A node or host that gave no result, and why.
struct LostNode {
  std::string name;
  std::string reason;
};

// What a run came to, wherever it worked.
struct RunReport {
  std::vector<CaptureResult> results;
  std::vector<SearchProblem> problems;
  std::vector<LostNode> lost;
  MergeEnd merge;
};

// Merges `parts` into `output` with `msprof merge`; more than fit on a command line in several
// steps. `log` takes what it prints. A process that a signal killed is started again twice. Throws
// Error with its exit code where there is no result.
MergeEnd run_merge(const std::vector<std::filesystem::path>& parts,
                   const std::filesystem::path& output, const std::filesystem::path& log,
                   const WorkOptions& options);

}  // namespace msprof::cluster
