#include "acl/capture.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "support/files.hpp"

namespace msprof::test {

namespace fs = std::filesystem;

std::string acl_program(const std::string& name) {
  return std::string(MSPROF_ACL_PROGRAMS) + "/acl_program_" + name;
}

std::string small_model(const fs::path& folder) {
  const fs::path file = folder / "small.json";
  write_file(file, R"({"format": "msprof-model", "version": 1, "name": "small", "seed": 7,
    "batch": 1, "max_batch": 4, "inputs": [{"name": "image", "shape": [3, 16, 16]}],
    "layers": [
      {"name": "conv", "type": "Conv2D", "inputs": ["image"], "out_channels": 8, "kernel": 3, "pad": 1},
      {"name": "relu", "type": "Relu", "inputs": ["conv"]},
      {"name": "top", "type": "Softmax", "inputs": ["relu"], "run_on": "AA_CPU"}],
    "outputs": ["top"]})");
  return file.string();
}

std::vector<fs::path> prof_folders(const fs::path& output) {
  std::vector<fs::path> folders;
  if (!fs::exists(output)) return folders;
  for (const auto& entry : fs::directory_iterator(output))
    if (entry.path().filename().string().starts_with("PROF_")) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  return folders;
}

WorkloadRun run_workload(const fs::path& output, const std::string& scenario,
                         const RunOptions& options) {
  WorkloadRun run;
  const std::string model = small_model(output.parent_path());
  run.result = run_program(acl_program("workload"), {output.string(), model, scenario}, options);
  std::istringstream lines(run.result.out);
  std::string name;
  long value = 0;
  while (lines >> name >> value) run.counts[name] = value;
  run.folders = prof_folders(output);
  return run;
}

ImportedCapture::ImportedCapture(const fs::path& folder)
    : folder_(folder), import_(run_msprof({"import", "-dir", folder.string()})) {}

long ImportedCapture::number(const std::string& sql) const {
  const auto db = Database::open_read_only(folder_ / "sqlite" / "msprof.db");
  auto read = db.prepare(sql);
  return read.step() ? static_cast<long>(read.integer(0)) : 0;
}

std::string ImportedCapture::text(const std::string& sql) const {
  const auto db = Database::open_read_only(folder_ / "sqlite" / "msprof.db");
  auto read = db.prepare(sql);
  return read.step() ? std::string(read.text(0)) : std::string();
}

long count_calls(const ImportedCapture& capture, const std::string& name) {
  return capture.number(
      "SELECT count(*) FROM api_call JOIN name ON name.id = name_id WHERE text = '" + name + "'");
}

long operator_tasks(const ImportedCapture& capture) {
  return capture.number(
      "SELECT count(*) FROM task WHERE op_id IS NOT NULL AND device_type_name_id IS NOT NULL");
}

}  // namespace msprof::test
