// Prints the results of several runs, of boards or of a series, one line each on stderr. For the
// verb collect.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace msprof {

// A row, read from the --json document of a run or of a series.
struct RunRow {
  std::string name;         // of the board or the run
  std::string outcome;      // "ok", "exit code 3", or a short reason for the failure
  std::string capture;      // the first capture and the number of others, or the folder of a series
  double seconds = 0;       // run time of the application
  std::uint64_t bytes = 0;  // downloaded
  int exit_code = 0;
};

RunRow make_run_row(std::string name, const nlohmann::ordered_json& document);

// `what`: title of the first column. Prints nothing with -q.
void print_runs(const std::string& what, const std::vector<RunRow>& rows);

// Returns the captures with data in the document of a run.
std::vector<std::string> captures_with_data(const nlohmann::ordered_json& document);

}  // namespace msprof
