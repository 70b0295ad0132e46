// What several runs came to, a line each on stderr: of boards, of a series. For the verb collect.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace msprof {

// A row, read from the document that --json gives of a run, or of a series of runs.
struct RunRow {
  std::string name;         // of the board or the run
  std::string outcome;      // "ok", "exit code 3", or why there is none, in a few words
  std::string capture;      // the first, and how many more; or the folder of a series
  double seconds = 0;       // that the application ran
  std::uint64_t bytes = 0;  // that came home
  int exit_code = 0;
};

RunRow row_of(std::string name, const nlohmann::ordered_json& document);

// `what`: the title of the first column. Nothing with -q.
void print_runs(const std::string& what, const std::vector<RunRow>& rows);

// Captures with data in the document of a run.
std::vector<std::string> captures_of(const nlohmann::ordered_json& document);

}  // namespace msprof
