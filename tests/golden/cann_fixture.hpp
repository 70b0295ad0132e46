// A hand-made PROF folder and runs of msprof on it. For the CANN golden tests.
#pragma once

#include <nlohmann/json.hpp>

#include "golden/csv_table.hpp"
#include "support/files.hpp"
#include "support/prof/prof_scene.hpp"
#include "support/run_program.hpp"
#include "support/temp_folder.hpp"

namespace msprof::test {

using Lines = std::vector<std::string>;

// The default thread of the tests, and the hash of a group of ranks, whose last digits are part of
// operator names.
inline constexpr std::uint32_t kThread = 100;
inline constexpr std::uint64_t kGroupHash = 12'345'678'900'000'026;

struct ProfCapture {
  explicit ProfCapture(const prof::ProfSetup& setup = {})
      : prof(folder.path(), setup), scene(prof) {}

  TempFolder folder;
  prof::ProfFolder prof;
  prof::ProfScene scene;

  // Runs msprof <words> -dir <capture>.
  RunResult run(std::vector<std::string> words) const;
  // Runs import --json and returns the verdict of the only capture; checks the exit code.
  nlohmann::json import(int exit_code) const;
  // Writes the files, then imports and exports all summaries; each command must end with one of
  // `exit_codes`.
  void products(const std::vector<int>& exit_codes = {0});
  CsvTable table(std::string_view stem) const { return read_product(prof.products(), stem); }
  Lines rows(const std::string& sql) const { return query(prof.store(), sql); }
};

// "1700000000000012.340": the moment `ns` after the start of the default capture, as printed in
// products.
std::string moment(std::uint64_t ns);

// A task of stream 3 and device 0.
inline prof::DeviceSpan device_task(std::uint16_t task, std::uint64_t start, std::uint64_t end) {
  return {3, task, start, end, 0};
}

}  // namespace msprof::test
