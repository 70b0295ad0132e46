// What runs on this machine that a profiled run would meet. For check_machine().
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace msprof {

// Processes that have a file of a capture's data/ open for writing: "12 main:
// /path/JOB…/data/aicore…". Those of other accounts are seen by root alone.
std::vector<std::string> processes_that_record();

// Run folders below `runs` that no process holds any more. No lock is taken for it.
std::vector<std::string> stale_runs(const std::filesystem::path& runs);

}  // namespace msprof
