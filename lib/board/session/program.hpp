// BoardProgram: an application that runs on a board, in a separate session. Forwards its stdout and
// stderr as data arrives; on a terminal of the board they are a single stream. Used by SshHost.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "board/session/link.hpp"
#include "board/session/steps.hpp"
#include "collect/host.hpp"
#include "collect/output_rewriter.hpp"
#include "ssh/ssh_connection.hpp"

namespace msprof {

// The user's local terminal, while the application on a board has another one: forwards each key
// immediately and without echo, because the board's terminal echoes.
//
// Ctrl-C is handled locally: it sends a signal to msprof, which forwards it to the application. The
// board's terminal interprets all other keys, including Ctrl-Z and Ctrl-\.
class UserTerminal {
 public:
  UserTerminal() : size_(probe_size()) {}
  ~UserTerminal() { restore(); }
  UserTerminal(const UserTerminal&) = delete;
  UserTerminal& operator=(const UserTerminal&) = delete;

  // Terminal type and size for the board's terminal.
  const SshTerminal& size() const { return size_; }
  // Returns true if the size has changed since the last call.
  bool has_changed();

  // Starts forwarding keys if stdin is a terminal and msprof is in its foreground. May be called
  // repeatedly.
  void take_keys();
  // Restores the terminal's settings. Signals that terminate msprof also restore them.
  void restore();

 private:
  static SshTerminal probe_size();
  SshTerminal size_;
};

// Returns true if a read from stdin does not stop this process: stdin is not a terminal, or msprof
// is in its foreground.
bool may_read_input();

// Runs the script in its first argument, with the other arguments, as the leader of a session:
// OpenSSH starts a command so, dropbear does not.
extern const BoardScript kStartInSession;

// Script fragment that prepares the start of an application: exports $count variables from its
// first parameters and changes to $folder. Expects $run, $folder, $main, $acl, $libraries,
// $modules, and a function `failed REASON` that does not return.
extern const char* const kEnterApplication;

// Shell function `sweep RUN`, which requires kMarkedFunction: kills the remaining processes of a
// run and sets $left to their number.
extern const char* const kSweepFunction;

// Appends to `parameters`: $folder, $main, $acl, $libraries, $modules and $count, then the
// variables and the application's arguments.
void add_application(std::vector<std::string>& parameters, const RunCommand& command);

class BoardProgram : public RunningProgram {
 public:
  // Over the connection of `link`, which is re-established after a loss. The paths of `command` are
  // absolute and on the board. MSPROF_RUN in the environment of its processes is the run of `link`.
  BoardProgram(BoardLink& link, const RunCommand& command, bool runs_in_login_shell = false);
  ~BoardProgram() override;
  BoardProgram(const BoardProgram&) = delete;
  BoardProgram& operator=(const BoardProgram&) = delete;

  // Sets steps to run with the cleanup of processes when the application has ended by itself.
  // `take` receives their answers, which may still be arriving.
  using TakeEnd = std::function<void(std::unique_ptr<StepsUnderWay>)>;
  void ask_at_end(std::vector<BoardStep> steps, TakeEnd take) {
    end_steps_ = std::move(steps);
    take_end_ = std::move(take);
  }

  // Also forwards stdin to the application, unless stdin is a terminal and msprof is in the
  // background.
  std::optional<ProgramEnd> wait(std::chrono::milliseconds limit) override;
  void signal(int number) override;

 private:
  void take_first_line(std::string_view bytes);
  void take_output(std::string_view bytes);
  void take_errors(std::string_view bytes);
  void show_until_failure(std::string_view bytes);
  void show(std::string_view bytes);
  void follow_terminal();
  void read_input();
  bool pass_input();
  std::optional<ProgramEnd> wait_for_streams(std::chrono::milliseconds limit);
  void finish(const CommandEnd& end);
  std::string why_not_started() const;
  void sweep();
  void end_after_loss();

  BoardLink& link_;
  std::vector<BoardStep> end_steps_;
  TakeEnd take_end_;
  int stdout_fd_;
  OutputRewriter rewriter_;
  std::string first_line_;    // collects the line until it is complete
  bool has_started_ = false;  // the application's pid was received
  std::uint64_t shown_bytes_ = 0;
  std::string held_;         // on a terminal: output that may be the start of kFailed
  bool has_failed_ = false;  // the application could not be started
  std::string errors_tail_;  // contains the reason for a failed start
  std::string group_ = "0";  // the process group, if the application has its own
  std::vector<char> input_buffer_;
  std::string_view input_;
  bool is_input_open_ = true;
  bool has_line_begun_ = false;             // the forwarded input ends within a line
  std::unique_ptr<UserTerminal> terminal_;  // null: the board's streams are not a terminal
  ProgramEnd end_;
  bool is_finished_ = false;
  std::unique_ptr<SshCommand> command_;
};

}  // namespace msprof
