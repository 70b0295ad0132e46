// BoardLink: a board while a run uses it: the connection, the facts about the board, and its lock;
// opened again when it is lost. For SshHost and its parts.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "board/config.hpp"
#include "board/info.hpp"
#include "board/shell.hpp"

namespace msprof {

// Shell functions for scripts that find the processes of a run: `marked RUN` prints the pids of
// all that have MSPROF_RUN=RUN in their environment, whatever session or parent they have now.
extern const char* const kMarkedFunction;
// Likewise: `look` reads lock/owner of the current folder into pid, start, holder and state;
// `alive PID START` is true if that process is the one that started then.
extern const char* const kLockFunctions;

// Likewise: `unmount FOLDER` ends the mount of a run's folder (BoardNfs), where there is one; false
// where it is still mounted, so that nothing below it may be removed.
extern const char* const kUnmountFunction;

// Our presence on a board. A small script there holds the lock while the connection lives; when the
// connection is gone and none is made again, it ends the run, keeps what was recorded and leaves
// nothing else behind.
class BoardLease {
 public:
  // Takes <folder>/lock, or takes it over from the same `run` after a lost connection. Throws
  // Error(board_unreachable) when another run holds it and `force` is not set. What earlier runs
  // left is removed, and what they recorded goes to <folder>/kept.
  BoardLease(BoardShell& shell, const BoardInfo& info, const std::string& run,
             double reconnect_seconds, bool force);
  // Ends the connection; without release() the board takes it for a lost one.
  ~BoardLease();
  BoardLease(const BoardLease&) = delete;
  BoardLease& operator=(const BoardLease&) = delete;

  // Gives the lock back.
  void release();

 private:
  void wait_for_lock(const std::string& host);

  std::string answer_;
  std::string errors_;
  std::unique_ptr<SshCommand> command_;
};

class BoardLink {
 public:
  BoardLink(const BoardConfig& config, double reconnect_seconds);

  // Connects, probes and takes the lock. Throws Error(board_unreachable), Error(cannot_write).
  void open(bool force);
  // Opens a new connection for the same run, after ConnectionLost. Throws ConnectionLost when the
  // board stays away; signals from before are set aside, a new Ctrl-C ends it.
  void recover();
  // Does `work`, again after a lost connection. Gives up, with the last ConnectionLost, when
  // `progress` (bytes moved so far, say; empty: there is none) has not grown between three losses.
  void with_reconnect(const std::function<void()>& work,
                      const std::function<std::uint64_t()>& progress = {});
  // Gives the lock back and disconnects. Never throws.
  void close();

  BoardShell& shell() { return shell_; }
  const BoardInfo& info() const { return info_; }
  std::string name() const { return shell_.login().name(); }
  // Identifies the run on the board: "20261120-191500-4711".
  const std::string& run() const { return run_; }
  std::string run_folder() const { return info_.folder + "/runs/" + run_; }
  std::string kept_folder() const { return info_.folder + "/kept/" + run_; }

 private:
  BoardShell shell_;
  std::string board_dir_;
  double reconnect_seconds_;
  std::string run_;
  BoardInfo info_;
  std::unique_ptr<BoardLease> lease_;
};

}  // namespace msprof
