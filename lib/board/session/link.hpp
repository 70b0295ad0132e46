// BoardLink: a board in use by a run: the connection, the facts about the board, and its lock.
// Reconnects after a lost connection. Used by SshHost and its parts.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "board/session/config.hpp"
#include "board/session/info.hpp"
#include "board/session/shell.hpp"
#include "board/session/steps.hpp"

namespace msprof {

// Shell functions for scripts. `marked RUN` prints the pids of all processes with MSPROF_RUN=RUN in
// their environment, whatever their session and parent.
extern const char* const kMarkedFunction;
// Requires kMarkedFunction. `await_run RUN SECONDS` waits until a run has no process, at most
// SECONDS; `end_run RUN` terminates all its processes and gives them time to exit properly.
extern const char* const kEndFunctions;
// `look` reads lock/owner of the current folder into pid, start, holder, state, who and since
// (seconds since the board's boot); `alive PID START` is true if process PID still exists and was
// started at START.
extern const char* const kLockFunctions;
// Requires the functions above. `sign STATE` makes this process the holder, for the run $run of the
// user $me; `keep_recording RUN` moves the recording of a run from runs/ to kept/; `drop RUN`
// removes its folder; `up_now` sets $up to the board's uptime in seconds.
extern const char* const kKeepFunctions;

// `unmount FOLDER` unmounts the share of a run's folder (BoardNfs), if any. Fails if it stays
// mounted; then nothing below it may be removed.
extern const char* const kUnmountFunction;

// Holds the lock of a board. A small script on the board holds the lock while the connection is
// alive. If the connection is lost and not re-established, the script stops the run, keeps the
// recording and removes everything else.
class BoardLease {
 public:
  // Requests the lock in <board_dir>/msprof, or takes it over from the same `run` after a lost
  // connection. The board then removes the remains of earlier runs and moves their recordings to
  // kept/. Then it runs as many steps of `first` as fit into the command, in msprof's folder.
  BoardLease(BoardShell& shell, const std::string& board_dir, const std::string& run,
             double reconnect_seconds, bool force, const std::vector<BoardStep>& first = {});
  // Closes the connection; without release() the board treats it as lost.
  ~BoardLease();
  BoardLease(const BoardLease&) = delete;
  BoardLease& operator=(const BoardLease&) = delete;

  // Waits until the lock is held. Throws Error(board_unreachable) if another run holds it and
  // `force` was not set.
  void await();
  // Returns the answers of `first`; call after await(). If some are missing, returns those up to
  // the failed step.
  std::vector<BoardAnswer> take_first_answers();
  // Releases the lock. The script first removes the folder of `run`, if given. Returns false if the
  // release is uncertain: the script was gone, gave up or did not end in time.
  bool release(const std::string& run = "");
  // Sends a line to the script that holds the lock. Throws ConnectionLost.
  void send_line(std::string_view line);
  // Takes over the lock, and the results of the run, from the run's keeper
  // (board/session/survive.hpp), which has recorded the end. Returns false if the board or another
  // msprof was faster.
  bool take(const std::string& token);

 private:
  void take_output(std::string_view bytes);

  std::string host_;
  std::string answer_;
  std::string errors_;
  bool is_held_ = false;
  std::vector<BoardStep> first_;
  std::optional<StepAnswers> first_answers_;  // if set, receives the output of the script
  std::unique_ptr<SshCommand> command_;
};

// Returns the name of the local user that others see on the board: "anna@laptop", one word.
std::string own_name();

// The board waits this much longer than this machine tries to reconnect, so that it never stops or
// removes a run during a reconnect.
inline constexpr int kBeyondReconnectSeconds = 15;

class BoardLink {
 public:
  BoardLink(const BoardConfig& config, double reconnect_seconds);

  // Connects, probes and takes the lock, concurrently if the board supports it. Throws
  // Error(board_unreachable), Error(cannot_write). `first` is as for BoardLease.
  void open(bool force, const std::vector<BoardStep>& first = {});
  // Waits for the remaining facts and reports them.
  void complete_facts();
  // The two halves of open(); the caller may choose an earlier run to resume between them.
  void connect();
  void lock(bool force);
  // `folder`: msprof's folder that contains the run, if it is not info().folder.
  void resume(const std::string& run, const std::string& folder);
  // Sets what error messages say about the run if the board stays unreachable; empty: the board
  // stops it.
  void set_outlook(std::string sentences) { outlook_ = std::move(sentences); }
  // Opens a new connection for the same run after ConnectionLost. Throws ConnectionLost if the
  // board stays unreachable, ConnectFailure if another attempt is not allowed. Ignores pending
  // signals; a new Ctrl-C aborts.
  void recover();
  int recoveries() const { return recoveries_; }  // number of attempts so far
  // Runs `work` and repeats it after a lost connection. Throws the last ConnectionLost if
  // `progress` (for example bytes transferred; may be empty) has not grown between three losses.
  void with_reconnect(const std::function<void()>& work,
                      const std::function<std::uint64_t()>& progress = {});
  // Calls BoardLease::release() of the current lease; returns false if there is none.
  bool release(const std::string& run);
  // Releases the lock, if held, and disconnects. Never throws.
  void close();

  BoardShell& shell() { return shell_; }
  const BoardInfo& info() const { return info_; }
  // Throws ConnectionLost if there is no lease.
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
  std::unique_ptr<InfoQuestion> question_;  // set until the facts are complete
  std::unique_ptr<BoardLease> lease_;
};

}  // namespace msprof
