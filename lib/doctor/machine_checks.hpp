// Checks before a run: this machine, where results arrive and, without a board, where the
// application runs. For `msprof doctor`.
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
// Checks what of the project depends on this machine: its architecture, libraries, space for the
// copy.
void check_project_here(CheckList& list, const ProjectInfo& project);

// Shared with the checks of a board.
void check_free_space(CheckList& list, std::string_view name, const std::string& folder,
                      std::uint64_t free_bytes, std::uint64_t wanted_bytes,
                      const std::string& remedy);
void report_libraries(CheckList& list, const ProjectInfo& project,
                      const std::vector<std::string>& missing, std::string_view where);
// Checks for the pitfall of NFS mounts: a name of this machine that leads to 127.0.1.1.
void check_own_address(CheckList& list);

// Finds what would disturb a profiled run here: processes that have a file of a capture's data/
// open for writing: "12 main: /path/JOB…/data/aicore…". Those of other accounts are seen by root
// alone.
std::vector<std::string> processes_that_record();

// Run folders below `runs` that no process holds any more. No lock is taken for it.
std::vector<std::string> stale_runs(const std::filesystem::path& runs);

}  // namespace msprof
