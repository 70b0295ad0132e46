// Before a run: this machine, where results arrive and, without a board, where the application
// runs. For `msprof doctor`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/check.hpp"
#include "doctor/project_checks.hpp"

namespace msprof {

// Output folder, cache, umask, clock; `output` is --output. `runs_here`: the run is on this
// machine.
void check_machine(CheckList& list, const std::filesystem::path& output, bool runs_here);
// What of the project depends on this machine: its architecture, libraries, room for the copy.
void check_project_here(CheckList& list, const ProjectFacts& project);

// Shared with the checks of a board.
void check_free_space(CheckList& list, std::string_view name, const std::string& folder,
                      std::uint64_t free_bytes, std::uint64_t wanted_bytes,
                      const std::string& remedy);
void report_libraries(CheckList& list, const ProjectFacts& project,
                      const std::vector<std::string>& missing, std::string_view where);
// The pitfall of NFS mounts: a name of this machine that leads to 127.0.1.1.
void check_own_address(CheckList& list);

}  // namespace msprof
