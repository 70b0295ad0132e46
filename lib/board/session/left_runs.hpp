// Runs that an earlier msprof left on a board: runs that survived their connection, and runs whose
// results were never fetched. Used by SshHost, which continues one of them.
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
    running,  // has a keeper (board/session/survive.hpp)
    ended,    // has a keeper; its end is recorded
    cut,      // had a keeper that is gone, for example after a restart of the board
    kept,     // a recording that was never fetched
    busy,     // its msprof is connected
  };
  std::string name;
  std::string folder;  // our folder that contains it; empty: BoardInfo::folder
  State state = State::kept;
  std::optional<std::uint64_t> age_seconds;  // since the application started, since the last boot
                                             // of the board
  std::string who;                           // started it; empty: unknown
  std::string follower;                      // is currently attached; empty: nobody

  // "20261120_191500_9f3c2a1b (runs for 90 s, started by anna@laptop)"
  std::string in_words() const;
};

// Parses the answer of the board: a line for each folder, followed by a line for each of its runs.
// Skips invalid lines.
std::vector<LeftRun> parse_left_runs(std::string_view answer);
// Lists the runs in `folder`, and in the folder of earlier versions next to it.
std::vector<LeftRun> list_left_runs(BoardShell& shell, const std::string& folder);

struct RunChoice {
  std::string name;    // empty: the only run
  bool waits = true;   // false: a run in progress is refused
  bool force = false;  // take it over from another follower
};

// Throws Error(nothing_to_do) if there is no run, or the run is in progress and `choice.waits` is
// false; Error(usage) if there are several and no name is given; Error(board_unreachable) if it is
// followed by somebody else.
LeftRun choose_left_run(const std::vector<LeftRun>& runs, const RunChoice& choice,
                        const std::string& board);

// Returns the runs whose results can be fetched now and reports the others. Throws
// Error(nothing_to_do) if there are none.
std::vector<LeftRun> fetchable_runs(const std::vector<LeftRun>& runs, const std::string& board);

// Returns a description with size of each result that the board keeps and that was never fetched.
// Throws Error(cannot_write) if they cannot be listed.
std::vector<std::string> list_kept_results(BoardShell& shell, const std::string& folder);

// Turns a kept result into a run again; the caller holds its lock. Throws Error(nothing_to_do).
void bring_back_run(BoardLink& link);

// Returns the text of a file in survive/; empty if it does not exist.
std::string survival_text(BoardLink& link, const std::string& name);

}  // namespace msprof
