// Runs that an earlier msprof left on a board: those that survive their connection, those whose
// results nobody fetched. For SshHost, which goes on with one of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "board/link.hpp"

namespace msprof {

struct LeftRun {
  enum class State {
    running,  // with a keeper (board/survive.hpp)
    ended,    // likewise; its end is recorded
    cut,      // likewise; the board was restarted, say
    kept,     // a recording that was never fetched
    busy,     // its msprof is connected
  };
  std::string name;
  std::string folder;  // of ours, that has it; empty: BoardInfo::folder
  State state = State::kept;
  std::optional<std::uint64_t> age_seconds;  // since the application started, in this life of the
                                             // board
  std::string who;                           // who started it; empty: unknown
  std::string follower;                      // who follows it now; empty: nobody

  // "20261120_191500_9f3c2a1b (runs for 90 s, started by anna@laptop)"
  std::string in_words() const;
};

// Parses the answer of the board: a line for each run, after one for its folder. Skips lines that
// make no sense.
std::vector<LeftRun> parse_left_runs(std::string_view answer);
// Those in `folder`, and in the one of earlier versions beside it.
std::vector<LeftRun> list_left_runs(BoardShell& shell, const std::string& folder);

struct RunChoice {
  std::string name;    // empty: the only one that is there
  bool waits = true;   // else a run that still goes on is refused
  bool force = false;  // take it from who follows it
};

// Throws Error(nothing_to_do) where there is none, or it still runs and is not waited for,
// Error(usage) where there are several and none is named, Error(board_unreachable) where somebody
// else follows it.
LeftRun choose_left_run(const std::vector<LeftRun>& runs, const RunChoice& choice,
                        const std::string& board);

// Those whose results can be fetched now; the others are named. Throws Error(nothing_to_do) where
// there is none.
std::vector<LeftRun> fetchable_runs(const std::vector<LeftRun>& runs, const std::string& board);

// The results that a board keeps there and that were never fetched, each with its size, as words.
// Throws Error(cannot_write) where they cannot be listed.
std::vector<std::string> list_kept_results(BoardShell& shell, const std::string& folder);

// What was kept is a run again, whose lock is ours. Throws Error(nothing_to_do).
void bring_back_run(BoardLink& link);

// Text of a file of survive/; empty: there is none.
std::string survival_text(BoardLink& link, const std::string& name);

}  // namespace msprof
