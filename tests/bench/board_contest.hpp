// Compares two ways to do the same work in alternating rounds, and provides a board with two
// connections, msprof's and the public ssh client's, both logged in before any clock starts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "board/session/info.hpp"
#include "board/session/shell.hpp"
#include "board/transfer/transfer.hpp"
#include "support/board_server.hpp"
#include "support/run_program.hpp"
#include "support/temp_folder.hpp"

namespace msprof::bench {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

// A task to be timed; returns seconds.
using Timed = std::function<double()>;

double measure_seconds(const std::function<void()>& task);

// Medians over the rounds. `ratio`: time of the tools divided by msprof's time.
struct Outcome {
  double ours_seconds = 0;
  double theirs_seconds = 0;
  double ratio = 0;
  double lowest_ratio = 0;
  double highest_ratio = 0;
};

// Runs both once to warm up, then alternates; each goes first equally often. The ratio is the
// median of the ratios of the rounds, because other load affects both runs of a round alike.
Outcome contest(int rounds, const Timed& ours, const Timed& theirs);

// Prints one row of the report; `name` is for example "fetch, 256 MB".
void print_row(const std::string& name, const Outcome& outcome, const std::string& goal);

// If the program fails, throws its output.
test::RunResult run_or_throw(const std::string& program, const Words& words,
                             const test::RunOptions& options);

// Makes a file of bytes that do not repeat, or `count` such files in a folder.
void make_big_file(const fs::path& path, std::uint64_t bytes);
void make_small_files(const fs::path& folder, int count, std::uint64_t bytes);

// Sets old file times, so that no file below `folder` counts as just changed and is sent again.
void make_old(const fs::path& folder);

// Throws unless `folder` has this number of files and bytes.
void require_tree(const fs::path& folder, std::uint64_t files, std::uint64_t bytes);

// A board reached through a port: its own, or a proxy's.
class BoardPeers {
 public:
  BoardPeers(const test::BoardServer& board, std::uint16_t port);

  BoardShell& shell() { return shell_; }
  // Copies `folder` from the board (fetch) or to it (send), into an empty `into`.
  double fetch(TransferWay way, const fs::path& folder, const fs::path& into);
  // Like fetch(), with a separate login.
  double log_in_and_fetch(const fs::path& folder, const fs::path& into);
  double send(const fs::path& folder, const fs::path& into);
  // The same with `ssh` and `tar`.
  double fetch_by_tools(const fs::path& folder, const fs::path& into);
  double log_in_and_fetch_by_tools(const fs::path& folder, const fs::path& into);
  double send_by_tools(const fs::path& folder, const fs::path& into);

 private:
  double timed_script(const Words& ssh, const std::string& script, const Words& arguments) const;
  test::TempFolder folder_;
  Words ssh_;         // words up to the command; logs in separately
  Words shared_ssh_;  // uses the shared connection
  test::RunOptions options_;
  std::unique_ptr<test::RunningProgram> master_;
  BoardShell shell_;
  BoardInfo facts_;
};

}  // namespace msprof::bench
