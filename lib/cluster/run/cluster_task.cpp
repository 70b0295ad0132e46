#include "cluster/run/cluster_task.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/atomic_file.hpp"
#include "base/file_reader.hpp"
#include "base/host_name.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "cluster/run/run_json.hpp"

namespace msprof::cluster {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr std::uint64_t kMaxTaskBytes = 256 << 20;
constexpr const char* kTaskSchema = "msprof.cluster-task/1";
constexpr const char* kResultSchema = "msprof.cluster-result/1";
constexpr std::string_view kTaskKinds[] = {"parts", "merge", "finish", "node"};

json paths_json(const std::vector<fs::path>& paths) {
  json list = json::array();
  for (const fs::path& path : paths) list.push_back(path_to_utf8(path));
  return list;
}

std::vector<fs::path> parse_paths(const json& list) {
  std::vector<fs::path> paths;
  for (const json& one : list) paths.push_back(utf8_to_path(one.get<std::string>()));
  return paths;
}

template <typename Parse>
auto parse_document(const std::string& text, const std::string& name, const char* schema,
                    Parse&& parse) {
  return parse_json(text, name, [&](const json& document) {
    if (document.at("schema") != schema)
      throw Error(Exit::partial_data, fmt::format("{} is of another version of msprof", name));
    return parse(document);
  });
}

std::string own_node() {
  const char* const slurm = std::getenv("SLURMD_NODENAME");
  if (slurm != nullptr && *slurm != '\0') return file_name_part(slurm);
  return file_name_part(own_host_name());
}

// Returns the folders of a node task with "%n" replaced by the node name.
std::vector<fs::path> find_node_folders(const std::vector<fs::path>& folders) {
  std::vector<fs::path> named;
  for (const fs::path& folder : folders) {
    std::string text = folder.native();
    for (auto at = text.find("%n"); at != std::string::npos; at = text.find("%n", at)) {
      text.replace(at, 2, own_node());
      at += own_node().size();
    }
    named.emplace_back(text);
  }
  return named;
}

// Merges parts. Records a failure in `result` instead of throwing, so that other results are kept.
void merge_into(TaskResult& result, const std::vector<fs::path>& parts, const fs::path& target,
                const WorkOptions& work) {
  try {
    result.report.merge = run_merge(parts, target, target.parent_path() / "merge.log", work);
    result.has_part = true;
    result.exit = gravest(result.exit, result.report.merge.exit);
  } catch (const Error& error) {
    if (error.code() == Exit::interrupted) throw;
    result.error = error.what();
    result.exit = gravest(result.exit, error.code());
  }
}

void make_and_merge(TaskResult& result, const PartFolder& folder,
                    const std::vector<ClusterCapture>& captures, const fs::path& target,
                    const WorkOptions& work) {
  result.report.results = make_parts(folder, captures, work);
  std::vector<fs::path> parts;
  for (CaptureResult& one : result.report.results) {
    one.node = own_node();
    result.exit = gravest(result.exit, one.exit);
    if (one.has_part()) parts.push_back(one.part);
  }
  if (parts.empty()) {
    result.error = captures.empty() ? "no capture found" : "no capture could be summarized";
    result.exit = gravest(result.exit, Exit::nothing_to_do);
    return;
  }
  WorkOptions in_between = work;
  in_between.manifest.clear();  // other tasks have the other ranks, so none are missing here
  merge_into(result, parts, target, in_between);
}

}  // namespace

std::string task_text(const ClusterTask& task) {
  const json document = {{"schema", kTaskSchema},
                         {"kind", kTaskKinds[static_cast<std::size_t>(task.kind)]},
                         {"output", path_to_utf8(task.output)},
                         {"part", path_to_utf8(task.part)},
                         {"captures", as_json(task.captures)},
                         {"inputs", paths_json(task.inputs)},
                         {"folders", paths_json(task.folders)},
                         {"msprof", path_to_utf8(task.work.msprof)},
                         {"jobs", task.work.jobs},
                         {"stores", path_to_utf8(task.work.stores)},
                         {"manifest", path_to_utf8(task.work.manifest)},
                         {"detail_rows", task.work.detail_rows},
                         {"parquet", path_to_utf8(task.work.parquet)}};
  return document.dump(1) + "\n";
}

ClusterTask parse_task(const std::string& text, const std::string& name) {
  return parse_document(text, name, kTaskSchema, [&](const json& document) {
    ClusterTask task;
    const auto path = [&](const char* key) {
      return utf8_to_path(document.at(key).get<std::string>());
    };
    const std::string kind = document.at("kind").get<std::string>();
    const auto* known = std::find(std::begin(kTaskKinds), std::end(kTaskKinds), kind);
    if (known == std::end(kTaskKinds))
      throw Error(Exit::partial_data, fmt::format("{} is damaged: unknown kind of task", name));
    task.kind = static_cast<ClusterTaskKind>(known - std::begin(kTaskKinds));
    task.output = path("output");
    task.part = path("part");
    task.captures = parse_captures(document.at("captures"));
    task.inputs = parse_paths(document.at("inputs"));
    task.folders = parse_paths(document.at("folders"));
    task.work.msprof = path("msprof");
    task.work.jobs = document.at("jobs").get<std::size_t>();
    task.work.stores = path("stores");
    task.work.manifest = path("manifest");
    task.work.parquet = path("parquet");
    task.work.detail_rows = document.at("detail_rows").get<std::string>();
    return task;
  });
}

std::string task_result_text(const TaskResult& result) {
  json problems = json::array();
  for (const SearchProblem& problem : result.report.problems) {
    problems.push_back(
        {{"path", path_to_utf8(problem.path)}, {"reason", valid_utf8(problem.reason)}});
  }
  const json document = {{"schema", kResultSchema},
                         {"results", as_json(result.report.results)},
                         {"problems", problems},
                         {"merge_exit", static_cast<int>(result.report.merge.exit)},
                         {"merge_text", valid_utf8(result.report.merge.text)},
                         {"has_part", result.has_part},
                         {"error", valid_utf8(result.error)},
                         {"exit", static_cast<int>(result.exit)}};
  return document.dump(1) + "\n";
}

TaskResult parse_task_result(const std::string& text, const std::string& name) {
  return parse_document(text, name, kResultSchema, [&](const json& document) {
    TaskResult result;
    result.report.results = parse_results(document.at("results"));
    for (const json& one : document.at("problems")) {
      result.report.problems.push_back(
          {utf8_to_path(one.at("path").get<std::string>()), one.at("reason").get<std::string>()});
    }
    result.report.merge.exit = to_exit(document.at("merge_exit").get<int>());
    result.report.merge.text = document.at("merge_text").get<std::string>();
    result.has_part = document.at("has_part").get<bool>();
    result.error = document.at("error").get<std::string>();
    result.exit = to_exit(document.at("exit").get<int>());
    return result;
  });
}

ClusterTask read_task(const fs::path& file) {
  return parse_task(read_text_file(file, kMaxTaskBytes), file.string());
}

void write_task(const fs::path& file, const ClusterTask& task) {
  create_output_folder(file.parent_path());
  write_text_file(file, task_text(task));
}

std::optional<TaskResult> read_task_result(const fs::path& folder) {
  const fs::path file = folder / "result.json";
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return std::nullopt;
  try {
    return parse_task_result(read_text_file(file, kMaxTaskBytes), file.string());
  } catch (const Error& damaged) {
    log::warn("{}", damaged.what());
    return std::nullopt;
  }
}

fs::path node_folder(const fs::path& output, const std::string& node) {
  return output / "nodes" / file_name_part(node);
}

Exit run_task(const fs::path& file, const std::function<void(const fs::path&)>& write_products) {
  const ClusterTask task = read_task(file);
  TaskResult result;
  fs::path folder = file.parent_path();
  if (task.kind == ClusterTaskKind::parts) {
    make_and_merge(result, PartFolder(task.output), task.captures, task.part, task.work);
  } else if (task.kind == ClusterTaskKind::node) {
    folder = node_folder(task.output, own_node());
    CaptureSearch search = search_captures(find_node_folders(task.folders));
    result.report.problems = std::move(search.problems);
    make_and_merge(result, PartFolder(folder), search.captures, folder / "node.part", task.work);
  } else {
    std::vector<fs::path> inputs;
    std::error_code error;
    for (const fs::path& input : task.inputs) {
      if (fs::is_regular_file(input, error)) {
        inputs.push_back(input);
      } else {
        log::warn("{} is missing, with all its captures", input.string());
        result.exit = gravest(result.exit, Exit::partial_data);
      }
    }
    merge_into(result, inputs, task.part, task.work);
    if (task.kind == ClusterTaskKind::finish && result.has_part) write_products(task.output);
  }
  write_text_file(folder / "result.json", task_result_text(result));
  if (!result.error.empty()) log::error("{}", result.error);
  return result.exit;
}

}  // namespace msprof::cluster
