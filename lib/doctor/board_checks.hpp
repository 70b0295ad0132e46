// Before a run on a board: the way there and what is there. For `msprof doctor`. Nothing is changed
// on the board, and no lock is taken.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "board/config.hpp"
#include "doctor/check.hpp"
#include "doctor/project_checks.hpp"

namespace msprof {

// The ini file itself: who may read it, a password in clear text, an NFS mount of the vendor's
// tool. `config` is what it says.
void check_board_file(CheckList& list, const std::filesystem::path& file,
                      const BoardConfig& config);

// Checks about the board, from its address to its libraries; what comes after a failed step is
// skipped. `config.login.password` must be set. Throws Error(interrupted) alone.
void check_board(CheckList& list, const BoardConfig& config, const ProjectFacts& project);
// All of them skipped, with the reason.
void skip_board(CheckList& list, std::string_view reason);

}  // namespace msprof
