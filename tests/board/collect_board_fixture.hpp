// A user with a board: a project whose application misbehaves as instructed, a board.ini, an output
// folder, and `msprof collect` as a real process. For tests of whole runs.
#pragma once

#include <sys/types.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "board/case_sample.hpp"
#include "support/board_server.hpp"
#include "support/eventually.hpp"
#include "support/lines.hpp"
#include "support/run_program.hpp"
#include "support/temp_folder.hpp"

namespace msprof::test {

inline constexpr const char* kBoardJob = "JOBABCDEFGHIJKLMNOPQRSTUVWXYZABC";
inline constexpr const char* kOtherBoardJob = "JOBZYXWVUTSRQPONMLKJIHGFEDCBAZYX";

using Words = std::vector<std::string>;

class BoardUser {
 public:
  // `port`: a proxy in front of the board, whose host key is then accepted without a check; 0: the
  // board's own port.
  explicit BoardUser(const BoardServer& board, std::uint16_t port = 0);

  // main (tests/collect/misbehaving_app.cpp), acl.json, models/m.om
  std::filesystem::path project() const { return folder_ / "project"; }
  std::filesystem::path ini() const { return folder_ / "board.ini"; }
  std::filesystem::path output() const { return folder_ / "out"; }
  // Path in the user's folder, which the application on the board can also access.
  std::string at(const std::string& name) const { return (folder_ / name).string(); }
  // Path of a file of the capture `job` in the output folder.
  std::filesystem::path in_job(const std::string& file, const std::string& job = kBoardJob) const {
    return output() / job / file;
  }
  // Records the project's current state for project_is_untouched().
  void remember_project();
  bool project_is_untouched() const;

  // Returns the arguments of `msprof collect -m main --config board.ini --output out OPTIONS --
  // APPLICATION`.
  Words words(const Words& options, const Words& application) const;
  const RunOptions& run_options() const { return run_options_; }
  RunResult collect(const Words& options, const Words& application) const;

 private:
  TempFolder folder_;
  RunOptions run_options_;
  std::string project_before_;
};

// A running `msprof collect`. The destructor kills it.
class BoardCollecting {
 public:
  BoardCollecting(const BoardUser& user, const Words& options, const Words& application,
                  std::string_view input = "");

  void send(int signal) const { program_->send(signal); }
  bool has_ended() const { return program_->has_ended(); }
  std::string err() const;
  RunResult wait() const;

 private:
  TempFolder folder_;
  std::unique_ptr<RunningProgram> program_;
};

std::uint64_t application_bytes();

// Content of this size that the application writes to a big file; no two parts are equal.
std::string big_bytes(std::size_t size);

// Replaces the board's tar by one that runs `script` before it packs.
void before_packing(BoardServer& board, const std::string& script);
// The same, but runs `script` after packing.
void after_packing(BoardServer& board, const std::string& script);

// Number of sleeps: a board waits 15 s longer than --reconnect for a lost run.
inline constexpr int kShortSleeps = 16;

// Shortens the next `count` one-second sleeps on the board to 20 ms: with --reconnect 1, these are
// the whole wait for a lost run. Later waits, such as for the application to end, keep their
// length.
void shorten_wait_for_lost_run(BoardServer& board, int count = kShortSleeps);

// Lists everything that a run must not leave on the board, one per line; empty if it is clean.
// Waits for running cleanup. Allowed are the cache, an empty runs/ and `kept` runs in kept/.
std::string litter_on(const BoardServer& board, std::size_t kept = 0);
// The same for the user's machine: changes in the project, temporary files in the output folder.
std::string find_litter(const BoardUser& user);

inline const Words kOnlyJob = {kBoardJob};

struct BoardScene {
  explicit BoardScene(const BoardOptions& options = {}) : board(options), user(board) {}

  // Litter on the board and on the user's machine.
  std::string litter(std::size_t kept = 0) const;
  // Returns the names in the output folder.
  std::vector<std::string> arrived() const;

  BoardServer board;
  BoardUser user;
};

}  // namespace msprof::test
