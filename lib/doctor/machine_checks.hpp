// Checks of this machine before a run: it receives the results and, without a board, runs the
// application. Used by `msprof doctor`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/check.hpp"
#include "doctor/project_checks.hpp"

namespace msprof {

// Checks output folder, cache, umask, clock; `output` is --output. `runs_here`: the run is on this
// machine.
void check_machine(CheckList& list, const std::filesystem::path& output, bool runs_here);
// Checks the requirements of the project on this machine: architecture, libraries, space for the
// copy.
void check_project_here(CheckList& list, const ProjectInfo& project);

// Also used by the checks of a board.
void check_free_space(CheckList& list, std::string_view name, const std::string& folder,
                      std::uint64_t free_bytes, std::uint64_t wanted_bytes,
                      const std::string& remedy);
void report_libraries(CheckList& list, const ProjectInfo& project,
                      const std::vector<std::string>& missing, std::string_view where);
// Checks for a pitfall of NFS mounts: this machine's name resolves to 127.0.1.1.
void check_own_address(CheckList& list);

// Returns processes that would disturb a profiled run here because they have a file in a capture's
// data/ open for writing: "12 main: /path/JOB…/data/aicore…". Only root can see those of other
// accounts.
std::vector<std::string> processes_that_record();

// Returns the run folders below `runs` that no process has locked; takes no lock itself.
std::vector<std::string> stale_runs(const std::filesystem::path& runs);

}  // namespace msprof
