// A user in front of a board: a project with an application that misbehaves as told, a board.ini,
// an output folder, and `msprof collect` as a real process. For the tests of whole runs.
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
  // `port` is that of a proxy in front of the board, whose key the user then takes unseen; 0: the
  // board's own.
  explicit BoardUser(const BoardServer& board, std::uint16_t port = 0);

  // main (tests/collect/misbehaving_app.cpp), acl.json, models/m.om
  std::filesystem::path project() const { return folder_ / "project"; }
  std::filesystem::path ini() const { return folder_ / "board.ini"; }
  std::filesystem::path output() const { return folder_ / "out"; }
  // In the user's own folder, which the application on the board can reach, too.
  std::string at(const std::string& name) const { return (folder_ / name).string(); }
  // A file of the capture `job` in the output folder.
  std::filesystem::path in_job(const std::string& file, const std::string& job = kBoardJob) const {
    return output() / job / file;
  }
  // Changes of the project from now on are not the user's; the next check of it finds them.
  void remember_project();
  bool project_is_untouched() const;

  // What `msprof collect -m main --config board.ini --output out OPTIONS -- APPLICATION` needs.
  Words words(const Words& options, const Words& application) const;
  const RunOptions& run_options() const { return run_options_; }
  RunResult collect(const Words& options, const Words& application) const;

 private:
  TempFolder folder_;
  RunOptions run_options_;
  std::string project_before_;
};

// `msprof collect` that runs while the test goes on. Killed when it goes.
class BoardCollecting {
 public:
  BoardCollecting(const BoardUser& user, const Words& options, const Words& application,
                  std::string_view input = "");

  void send(int signal) const { program_->send(signal); }
  bool has_ended() const { return program_->has_ended(); }
  // What it has said on stderr so far.
  std::string err() const;
  RunResult wait() const;

 private:
  TempFolder folder_;
  std::unique_ptr<RunningProgram> program_;
};

// The size of the application.
std::uint64_t application_bytes();

// What the application writes as a big file of that size: every place differs.
std::string big_bytes(std::size_t size);

// From now on the board's tar does what `script` says whenever it packs, and then packs.
void before_packing(BoardServer& board, const std::string& script);
// The same whenever it has packed.
void after_packing(BoardServer& board, const std::string& script);

// A board waits 15 s longer than --reconnect for a run that was lost.
inline constexpr int kShortSleeps = 16;

// The next `count` sleeps of a second on the board take 20 ms: with --reconnect 1, its whole wait
// for a run that was lost. What it waits for afterwards, such as the end of the application, has
// its time.
void shorten_wait_for_lost_run(BoardServer& board, int count = kShortSleeps);

// What a run must not leave, a line each; empty: nothing. Waits for what is about to go. Allowed
// are the cache, an empty runs/ and, in kept/, `kept` runs.
std::string litter_on(const BoardServer& board, std::size_t kept = 0);
// The same of the user's side: changes of the project, temporary files in the output folder.
std::string litter_of(const BoardUser& user);

inline const Words kOnlyJob = {kBoardJob};

// A board and its only user.
struct BoardScene {
  explicit BoardScene(const BoardOptions& options = {}) : board(options), user(board) {}

  // Of both sides.
  std::string litter(std::size_t kept = 0) const;
  // The names in the output folder.
  std::vector<std::string> arrived() const;

  BoardServer board;
  BoardUser user;
};

}  // namespace msprof::test
