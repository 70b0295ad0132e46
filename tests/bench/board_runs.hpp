// Whole `msprof collect` runs on a board.
#pragma once

#include <chrono>
#include <cstdint>

#include "support/board_server.hpp"

namespace msprof::bench {

// A run whose capture has `bytes`, against what a user without msprof does: send the project, run,
// fetch and remove, each by `ssh` or `ssh tar`.
void compare_collect(const test::BoardServer& board, int rounds, std::uint64_t bytes);

// A run of few files on a board so far away, against the same by one `ssh` with `tar` on both ends.
void compare_far_collect(const test::BoardServer& board, int rounds,
                         std::chrono::microseconds round_trip);

// The second run of a project with so many files: what goes to the board then. Throws where that
// holds the content of a file.
void count_unchanged_upload(const test::BoardServer& board, int files, std::uint64_t bytes);

}  // namespace msprof::bench
