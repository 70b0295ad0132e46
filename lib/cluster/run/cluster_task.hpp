// ClusterTask describes a unit of work of a run in a file: the captures to summarize or the parts
// to merge. A process on another node executes it (`msprof cluster --task FILE`, started by Slurm
// jobs) and writes the result to a file.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cluster/run/local_run.hpp"

namespace msprof::cluster {

enum class ClusterTaskKind {
  parts,   // summarizes `captures` in `output` and merges the parts into `part`
  merge,   // merges `inputs` into `part`
  finish,  // like `merge`, and writes the cluster products next to it
  node,    // summarizes and merges all captures below `folders` on the executing node
};

struct ClusterTask {
  ClusterTaskKind kind = ClusterTaskKind::parts;
  std::filesystem::path output;
  std::filesystem::path part;  // not used by `node`
  std::vector<ClusterCapture> captures;
  std::vector<std::filesystem::path> inputs;   // missing files are skipped with a warning
  std::vector<std::filesystem::path> folders;  // for `node`; "%n" is the node name
  WorkOptions work;
};

struct TaskResult {
  RunReport report;
  bool has_part = false;
  std::string error;  // reason why there is no part
  Exit exit = Exit::ok;
};

std::string task_text(const ClusterTask& task);
ClusterTask parse_task(const std::string& text, const std::string& name);
std::string task_result_text(const TaskResult& result);
TaskResult parse_task_result(const std::string& text, const std::string& name);

// A task has its own folder with `task.json` and, once it has ended, `result.json`.
ClusterTask read_task(const std::filesystem::path& file);
void write_task(const std::filesystem::path& file, const ClusterTask& task);
// Returns empty if the result is missing or cannot be read.
std::optional<TaskResult> read_task_result(const std::filesystem::path& folder);

// Folder used by a `node` task on a node: OUTPUT/nodes/NAME.
std::filesystem::path node_folder(const std::filesystem::path& output, const std::string& node);

// Executes the task in `file` and writes its result. After a successful `finish` merge, calls
// `write_products` to write the products of `output`. Returns the exit code.
Exit run_task(const std::filesystem::path& file,
              const std::function<void(const std::filesystem::path& output)>& write_products);

}  // namespace msprof::cluster
