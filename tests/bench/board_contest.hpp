// Two ways to do the same, measured in turns; and a board with both of them ready: our connection
// and the public ssh client's, logged in before any clock starts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "board/info.hpp"
#include "board/shell.hpp"
#include "board/transfer.hpp"
#include "support/board_server.hpp"
#include "support/run_program.hpp"
#include "support/temp_folder.hpp"

namespace msprof::bench {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

// Something that is timed; returns seconds.
using Timed = std::function<double()>;

// Seconds that `task` takes.
double seconds_of(const std::function<void()>& task);

// Medians over the rounds; a ratio above 1: ours is so many times as fast.
struct Outcome {
  double ours_seconds = 0;
  double theirs_seconds = 0;
  double ratio = 0;
  double lowest_ratio = 0;
  double highest_ratio = 0;
};

// Both once to warm up, then in turns, each first as often as the other. The ratio is the median of
// those of the rounds: what else the machine does meets both runs of a round alike.
Outcome contest(int rounds, const Timed& ours, const Timed& theirs);

// A line of the report: "fetch, 256 MB", 0.9 and so on.
void print_row(const std::string& name, const Outcome& outcome, const std::string& goal);

// Throws with what a failed program printed.
test::RunResult run_or_throw(const std::string& program, const Words& words,
                             const test::RunOptions& options);

// A file of bytes that do not repeat, or `count` of them in a folder.
void make_big_file(const fs::path& path, std::uint64_t bytes);
void make_small_files(const fs::path& folder, int count, std::uint64_t bytes);

// Nothing below `folder` counts as changed just now, which would have it sent once more.
void make_old(const fs::path& folder);

// Throws where `folder` does not hold so many bytes in so many files.
void require_tree(const fs::path& folder, std::uint64_t files, std::uint64_t bytes);

// A board seen through a port: its own, or that of a network in front of it.
class BoardPeers {
 public:
  BoardPeers(const test::BoardServer& board, std::uint16_t port);

  BoardShell& shell() { return shell_; }
  // Brings `folder` of the board, or a folder of this machine there, into an empty `into`.
  double fetch(TransferWay way, const fs::path& folder, const fs::path& into);
  // The same with a login of its own.
  double log_in_and_fetch(const fs::path& folder, const fs::path& into);
  double send(const fs::path& folder, const fs::path& into);
  // The same by `ssh` and `tar`.
  double fetch_by_tools(const fs::path& folder, const fs::path& into);
  double log_in_and_fetch_by_tools(const fs::path& folder, const fs::path& into);
  double send_by_tools(const fs::path& folder, const fs::path& into);

 private:
  double timed_script(const Words& ssh, const std::string& script, const Words& arguments) const;
  test::TempFolder folder_;
  Words ssh_;         // with a login of its own, up to the command
  Words shared_ssh_;  // over the master's connection
  test::RunOptions options_;
  std::unique_ptr<test::RunningProgram> master_;
  BoardShell shell_;
  BoardInfo facts_;
};

}  // namespace msprof::bench
