// A PROF folder of our own and msprof run on it. For the CANN golden tests.
#pragma once

#include <nlohmann/json.hpp>

#include "golden/csv_table.hpp"
#include "support/files.hpp"
#include "support/prof/prof_scene.hpp"
#include "support/run_program.hpp"
#include "support/temp_folder.hpp"

namespace msprof::test {

using Lines = std::vector<std::string>;

// The thread of tests that need one, and a group of ranks; its last digits are in names of
// operators.
inline constexpr std::uint32_t kThread = 100;
inline constexpr std::uint64_t kGroupHash = 12'345'678'900'000'026;

struct ProfCapture {
  explicit ProfCapture(const prof::ProfSetup& setup = {})
      : prof(folder.path(), setup), scene(prof) {}

  TempFolder folder;
  prof::ProfFolder prof;
  prof::ProfScene scene;

  // msprof <words> -dir <capture>
  RunResult run(std::vector<std::string> words) const;
  // import --json: the verdict of the one capture; `exit_code` is what is expected.
  nlohmann::json import(int exit_code) const;
  // Writes what was built, imports and exports all summaries; each ends with one of `exit_codes`.
  void products(const std::vector<int>& exit_codes = {0});
  CsvTable table(std::string_view stem) const { return read_product(prof.products(), stem); }
  Lines rows(const std::string& sql) const { return query(prof.store(), sql); }
};

// "1700000000000012.340": the moment `ns` after the begin of the default capture, as products
// print it.
std::string moment(std::uint64_t ns);

// A task of stream 3 and device 0.
inline prof::DeviceSpan device_task(std::uint16_t task, std::uint64_t start, std::uint64_t end) {
  return {3, task, start, end, 0};
}

}  // namespace msprof::test
