// Runs that an earlier msprof left on a board: runs that continued without a connection, and runs
// whose results were never fetched. Used by SshHost, which resumes one of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "board/session/link.hpp"

namespace msprof {

struct LeftRun {
  enum class State {
    running,  // its keeper (board/session/survive.hpp) is running
    ended,    // the keeper still exists and has recorded the end
    cut,      // its keeper is gone, for example after a restart of the board
    kept,     // a recording that was never fetched
    busy,     // its msprof is connected, or the board still waits for it
  };
  std::string name;
  std::string folder;  // folder that contains it; empty: BoardInfo::folder
  State state = State::kept;
  std::optional<std::uint64_t> age_seconds;  // since the application started; empty: unknown
  std::string who;                           // user who started it; empty: unknown
  std::string follower;                      // user whose msprof follows it; empty: nobody

  // "20261120_191500_9f3c2a1b (runs for 90 s, started by anna@laptop)"
  std::string in_words() const;
};

// Parses the answer of the board: a line for each folder, followed by a line for each of its runs.
// Skips invalid lines.
std::vector<LeftRun> parse_left_runs(std::string_view answer);
// Lists the runs in `folder`, and in the adjacent folder of earlier versions.
std::vector<LeftRun> list_left_runs(BoardShell& shell, const std::string& folder);

struct RunChoice {
  std::string name;    // empty: the only run
  bool waits = true;   // false: a run in progress is refused
  bool force = false;  // take it over from another follower
};

// Throws Error(nothing_to_do) if there is no run, or the run is in progress and `choice.waits` is
// false; Error(usage) if there are several and no name is given; Error(board_unreachable) if
// another msprof follows it.
LeftRun choose_left_run(const std::vector<LeftRun>& runs, const RunChoice& choice,
                        const std::string& board);

// Returns the runs whose results can be fetched now and reports the others. Throws
// Error(nothing_to_do) if there are none.
std::vector<LeftRun> fetchable_runs(const std::vector<LeftRun>& runs, const std::string& board);

// Describes each result on the board, other than those of `own_run`, that was never fetched, with
// its size. Throws Error(cannot_write) if they cannot be listed.
std::vector<std::string> list_kept_results(BoardShell& shell, const std::string& folder,
                                           const std::string& own_run);

// Moves a kept result back to the runs; the caller holds its lock. Throws Error(nothing_to_do).
void bring_back_run(BoardLink& link);

// Moves a run, or only its recording, to kept/ and removes the rest; a run with a keeper is left to
// it. Returns true if the run is in kept/. Throws Error(cannot_write).
bool save_run(BoardLink& link, bool is_whole);

// Returns the text of a file in survive/; empty if it does not exist.
std::string survival_text(BoardLink& link, const std::string& name);

}  // namespace msprof
