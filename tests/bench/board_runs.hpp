// Whole `msprof collect` runs on a board.
#pragma once

#include <chrono>
#include <cstdint>

#include "support/board_server.hpp"

namespace msprof::bench {

// Compares a run whose capture has `bytes` with the manual steps: send the project, run, fetch and
// remove, each by `ssh` or `ssh tar`.
void compare_collect(const test::BoardServer& board, int rounds, std::uint64_t bytes);

// Compares a run with few files on a distant board with one `ssh` command that runs `tar` on both
// ends.
void compare_far_collect(const test::BoardServer& board, int rounds,
                         std::chrono::microseconds round_trip);

// Counts the bytes sent to the board by the second run of a project with this many files. Throws if
// the content of a file is sent again.
void count_unchanged_upload(const test::BoardServer& board, int files, std::uint64_t bytes);

}  // namespace msprof::bench
