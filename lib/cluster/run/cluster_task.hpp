// ClusterTask: a piece of a run as a file, for a process of another node: which captures to make
// parts of, or which parts to merge. Its result is a file, too. For `msprof cluster --task FILE`,
// which the jobs of Slurm run.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cluster/run/local_run.hpp"

namespace msprof::cluster {

enum class TaskKind {
  parts,   // parts of `captures` in `output`, merged into `part`
  merge,   // `inputs` merged into `part`
  finish,  // the same, and the products of the whole beside it
  node,    // parts of all captures below `folders` on the node that runs it, merged
};

struct ClusterTask {
  TaskKind kind = TaskKind::parts;
  std::filesystem::path output;
  std::filesystem::path part;  // `node`: not used
  std::vector<FoundCapture> captures;
  std::vector<std::filesystem::path> inputs;   // those that are not there are left out, and said
  std::vector<std::filesystem::path> folders;  // of `node`; "%n" is its name
  WorkOptions work;
};

struct TaskResult {
  RunReport report;
  bool has_part = false;
  std::string error;  // why there is none
  Exit exit = Exit::ok;
};

std::string task_text(const ClusterTask& task);
ClusterTask parse_task(const std::string& text, const std::string& name);
std::string task_result_text(const TaskResult& result);
TaskResult parse_task_result(const std::string& text, const std::string& name);

// Files of a task: `task.json` and, when it is done, `result.json` in a folder of its own.
ClusterTask read_task(const std::filesystem::path& file);
void write_task(const std::filesystem::path& file, const ClusterTask& task);
// Empty where there is none, or one that cannot be read.
std::optional<TaskResult> read_task_result(const std::filesystem::path& folder);

// Where a task of kind `node` works for a node: OUTPUT/nodes/NAME.
std::filesystem::path node_folder(const std::filesystem::path& output, const std::string& node);

// Does what `file` says and writes its result. Called for a finished merge: `write_products` makes
// the products of `output`. Returns the exit code.
Exit run_task(const std::filesystem::path& file,
              const std::function<void(const std::filesystem::path& output)>& write_products);

}  // namespace msprof::cluster
