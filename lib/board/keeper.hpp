// BoardKeeper: our presence on a board. A small script there holds the lock while the connection
// lives; when the connection is gone and nobody comes back, it ends the run, keeps what was
// recorded and leaves nothing else behind. For the board host.
#pragma once

#include <memory>
#include <string>

#include "board/facts.hpp"
#include "board/shell.hpp"

namespace msprof {

// Shell functions for scripts that look for the processes of a run: `marked RUN` prints the pids of
// all that have MSPROF_RUN=RUN in their environment, whatever session or parent they have now.
extern const char* const kMarkedFunction;
// Likewise: `look` reads lock/owner of the current folder into pid, start, holder and state;
// `alive PID START` tells whether that process is the one that started then.
extern const char* const kLockFunctions;

class BoardKeeper {
 public:
  // Takes <folder>/lock, or takes it over from the same `run` after a lost connection. Throws
  // Error(board_unreachable) when another run holds it and `force` is not set. What earlier runs
  // left is removed, and what they recorded goes to <folder>/kept.
  BoardKeeper(BoardShell& shell, const BoardFacts& facts, const std::string& run,
              double reconnect_seconds, bool force);
  // Without release() the board takes it for a lost connection.
  ~BoardKeeper();
  BoardKeeper(const BoardKeeper&) = delete;
  BoardKeeper& operator=(const BoardKeeper&) = delete;

  // Gives the lock back.
  void release();

 private:
  void wait_for_lock(const std::string& host);

  std::string answer_;
  std::string errors_;
  std::unique_ptr<SshCommand> command_;
};

}  // namespace msprof
