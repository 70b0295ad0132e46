// BoardLink: a board while a run uses it: the connection, the facts about the board, and its lock;
// opened again when it is lost. For SshHost and its parts.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "board/config.hpp"
#include "board/info.hpp"
#include "board/shell.hpp"
#include "board/steps.hpp"

namespace msprof {

// Shell functions for scripts that find the processes of a run: `marked RUN` prints the pids of
// all that have MSPROF_RUN=RUN in their environment, whatever session or parent they have now.
extern const char* const kMarkedFunction;
// With that: `await_run RUN SECONDS` waits until a run has no process, at most that long; `end_run
// RUN` ends all that it has, with time to end in order.
extern const char* const kEndFunctions;
// Likewise: `look` reads lock/owner of the current folder into pid, start, holder, state, who and
// since (seconds since the board's start); `alive PID START` is true if that process is the one
// that started then.
extern const char* const kLockFunctions;
// With those: `sign STATE` makes this process the holder, for the run $run of the user $me;
// `keep_recording RUN` moves what a run left from runs/ to kept/; `drop RUN` removes its folder;
// `up_now` sets up, the board's seconds.
extern const char* const kKeepFunctions;

// Likewise: `unmount FOLDER` ends the mount of a run's folder (BoardNfs), where there is one; false
// where it is still mounted, so that nothing below it may be removed.
extern const char* const kUnmountFunction;

// Our presence on a board. A small script there holds the lock while the connection lives; when the
// connection is gone and none is made again, it ends the run, keeps what was recorded and leaves
// nothing else behind.
class BoardLease {
 public:
  // Asks for the lock in <board_dir>/msprof, or for taking it over from the same `run` after a
  // lost connection. What earlier runs left is removed then, and what they recorded goes to kept/.
  // Behind that the board runs `first`, as far as it fits into the command, in that folder.
  BoardLease(BoardShell& shell, const std::string& board_dir, const std::string& run,
             double reconnect_seconds, bool force, const std::vector<BoardStep>& first = {});
  // Ends the connection; without release() the board takes it for a lost one.
  ~BoardLease();
  BoardLease(const BoardLease&) = delete;
  BoardLease& operator=(const BoardLease&) = delete;

  // Waits until it is held. Throws Error(board_unreachable) when another run holds it and `force`
  // was not set.
  void await();
  // The answers of `first`, after await(); fewer, up to the one that failed, where not all came.
  std::vector<BoardAnswer> take_first_answers();
  // Gives the lock back; before that the script removes the folder of `run`, if one is given. False
  // where that cannot be relied on: the script was gone, gave up or did not end in time.
  bool release(const std::string& run = "");
  // Says a line to the script that holds the lock. Throws ConnectionLost.
  void tell(std::string_view line);
  // Takes the lock, and what the run left, from the run's own keeper (board/survive.hpp), which has
  // recorded the end. False: the board, or another msprof, was faster.
  bool take(const std::string& token);

 private:
  void take_output(std::string_view bytes);

  std::string host_;
  std::string answer_;
  std::string errors_;
  bool is_held_ = false;
  std::vector<BoardStep> first_;
  std::optional<StepAnswers> first_answers_;  // while they come, what the script prints is theirs
  std::unique_ptr<SshCommand> command_;
};

// This machine's user as others at the board see it: "anna@laptop", one word.
std::string own_name();

// Longer than this side tries to reconnect, so that the board never ends, or puts away, a run that
// is being reconnected.
inline constexpr int kBeyondReconnectSeconds = 15;

class BoardLink {
 public:
  BoardLink(const BoardConfig& config, double reconnect_seconds);

  // Connects, probes and takes the lock, all at once where the board can. Throws
  // Error(board_unreachable), Error(cannot_write). `first` as of BoardLease.
  void open(bool force, const std::vector<BoardStep>& first = {});
  // Waits for what of the facts has not come yet, and says what they are.
  void complete_facts();
  std::vector<BoardAnswer> take_first_answers() { return lease().take_first_answers(); }
  // The two halves of open(); between them, an earlier run may be chosen that is gone on with.
  void connect();
  void lock(bool force);
  // `folder`: where the run is, if that is not info().folder.
  void resume(const std::string& run, const std::string& folder);
  // What becomes of the run where the board stays away, as sentences for the message; empty: the
  // board ends it.
  void set_outlook(std::string sentences) { outlook_ = std::move(sentences); }
  // Opens a new connection for the same run, after ConnectionLost. Throws ConnectionLost when the
  // board stays away, ConnectFailure where it may not be tried again; signals from before are set
  // aside, a new Ctrl-C ends it.
  void recover();
  int recoveries() const { return recoveries_; }  // so far, the tries too
  // Does `work`, again after a lost connection. Gives up, with the last ConnectionLost, when
  // `progress` (bytes moved so far, say; empty: there is none) has not grown between three losses.
  void with_reconnect(const std::function<void()>& work,
                      const std::function<std::uint64_t()>& progress = {});
  // BoardLease::release(), once, of the lease that there is.
  bool release(const std::string& run);
  // Gives the lock back, if it is held, and disconnects. Never throws.
  void close();

  BoardShell& shell() { return shell_; }
  const BoardInfo& info() const { return info_; }
  // Throws ConnectionLost where there is no lease.
  BoardLease& lease();
  double reconnect_seconds() const { return reconnect_seconds_; }
  std::string name() const { return shell_.login().name(); }
  // Identifies the run on the board: "20261120_191500_9f3c2a1b".
  const std::string& run() const { return run_; }
  std::string run_folder() const { return info_.folder + "/runs/" + run_; }
  std::string kept_folder() const { return info_.folder + "/kept/" + run_; }

 private:
  BoardShell shell_;
  std::string board_dir_;
  double reconnect_seconds_;
  std::string run_;
  std::string outlook_;
  int recoveries_ = 0;
  BoardInfo info_;
  std::unique_ptr<InfoQuestion> question_;  // until the facts are complete
  std::unique_ptr<BoardLease> lease_;
};

}  // namespace msprof
