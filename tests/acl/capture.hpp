// What applications of tests/acl/programs leave: their PROF folders, imported by the real msprof.
// For the tests of the host runtime for CANN.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "store/database.hpp"
#include "support/run_program.hpp"
#include "support/temp_folder.hpp"

namespace msprof::test {

// Path of the program acl_program_<name>.
std::string acl_program(const std::string& name);

// A model of two layers of the core and one of the CPU, for batches 1 to 4; the path of its file in
// `folder`.
inline constexpr int kSmallModelLayers = 3;
std::string small_model(const std::filesystem::path& folder);

// A run of acl_program_workload: what it printed, and its PROF folders in the order of their
// numbers.
struct WorkloadRun {
  RunResult result;
  std::map<std::string, long> counts;
  std::vector<std::filesystem::path> folders;
};
WorkloadRun run_workload(const std::filesystem::path& output, const std::string& scenario,
                         const RunOptions& options = {});
std::vector<std::filesystem::path> prof_folders(const std::filesystem::path& output);

// The store of an imported folder.
class ImportedCapture {
 public:
  // Imports with the real msprof.
  explicit ImportedCapture(const std::filesystem::path& folder);

  const RunResult& import() const { return import_; }
  // First column of the first row; 0 where there is none.
  long number(const std::string& sql) const;
  std::string text(const std::string& sql) const;

 private:
  std::filesystem::path folder_;
  RunResult import_;
};

// Number of calls of that name.
long calls_of(const ImportedCapture& capture, const std::string& name);
// Number of tasks that run an operator.
long operator_tasks(const ImportedCapture& capture);

}  // namespace msprof::test
