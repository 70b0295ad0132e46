// PROF folders left by the applications in tests/acl/programs, imported by the real msprof. For
// tests of the host runtime for CANN.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "store/database.hpp"
#include "support/run_program.hpp"
#include "support/temp_folder.hpp"

namespace msprof::test {

// Returns the path of the program acl_program_<name>.
std::string acl_program(const std::string& name);

// Writes a model with two layers on the core and one on the CPU, for batches 1 to 4, into `folder`;
// returns its path.
inline constexpr int kSmallModelLayers = 3;
std::string small_model(const std::filesystem::path& folder);

// A run of acl_program_workload: its output, and its PROF folders in numeric order.
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
  explicit ImportedCapture(const std::filesystem::path& folder);

  const RunResult& import() const { return import_; }
  // First column of the first row; 0 if there is no row.
  long number(const std::string& sql) const;
  std::string text(const std::string& sql) const;

 private:
  std::filesystem::path folder_;
  RunResult import_;
};

long count_calls(const ImportedCapture& capture, const std::string& name);
// Returns the number of tasks with an operator.
long operator_tasks(const ImportedCapture& capture);

}  // namespace msprof::test
