// BoardProgram: an application that runs on a board, in a session of its own, its streams passed on
// as they come; on a terminal of the board they are one stream. For SshHost.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "board/shell.hpp"
#include "board/steps.hpp"
#include "collect/host.hpp"
#include "collect/output_rewriter.hpp"
#include "ssh/ssh_connection.hpp"

namespace msprof {

// The terminal that msprof was started at, while the application on a board has one of its own:
// keys go there as they are pressed and unshown, because that terminal shows them.
//
// Ctrl-C stays ours: it is a signal to msprof as in every run, which passes it on. What other keys
// mean is the board's business, also Ctrl-Z and Ctrl-\.
class UserTerminal {
 public:
  UserTerminal() : size_(probe_size()) {}
  // Restores, like restore().
  ~UserTerminal() { restore(); }
  UserTerminal(const UserTerminal&) = delete;
  UserTerminal& operator=(const UserTerminal&) = delete;

  // Kind and size that the board's terminal shall have.
  const SshTerminal& size() const { return size_; }
  // True when the size differs from that of the last call.
  bool has_changed();

  // Starts, if stdin is a terminal and we are in its foreground; may be called again and
  // again.
  void take_keys();
  // Restores the terminal's settings. A signal that ends msprof at once restores them, too.
  void restore();

 private:
  static SshTerminal probe_size();
  SshTerminal size_;
};

// A terminal gives input to the programs in its foreground only; anything else than a terminal to
// all.
bool may_read_input();

// Program to start; all paths absolute, on the board.
struct BoardRun {
  std::string id;  // becomes MSPROF_RUN in its environment, by which it is found again
  std::string working_folder;
  std::string main;
  std::string acl_json;
  std::string libraries;        // goes in front of LD_LIBRARY_PATH; empty: nothing
  std::string modules;          // likewise of PYTHONPATH
  bool in_login_shell = false;  // its environment is that of a login shell, not that of a command
  std::vector<std::string> environment;
  std::vector<std::string> arguments;
  bool stdout_to_stderr = false;
  bool on_terminal = false;
  OutputChanges output_changes{};
};

// What a script does before it begins an application: it takes $count variables from the front of
// its parameters and enters $folder. Expects $run, $folder, $main, $acl, $libraries, $modules, and
// `failed REASON`, which does not return.
extern const std::string_view kEnterApplication;

// Adds the parameters behind those of the script itself: $folder, $main, $acl, $libraries, $modules
// and $count, then the variables and the application's arguments.
void add_application(std::vector<std::string>& parameters, const BoardRun& run);

class BoardProgram : public RunningProgram {
 public:
  // `recover` opens a lost connection again, or throws.
  BoardProgram(BoardShell& shell, const BoardRun& run, std::function<void()> recover);
  ~BoardProgram() override;
  BoardProgram(const BoardProgram&) = delete;
  BoardProgram& operator=(const BoardProgram&) = delete;

  // What is asked together with the sweep at the application's own end, and who takes the answers,
  // as they come.
  using TakeEnd = std::function<void(std::unique_ptr<StepsUnderWay>)>;
  void ask_at_end(std::vector<BoardStep> steps, TakeEnd take) {
    end_steps_ = std::move(steps);
    take_end_ = std::move(take);
  }

  // Our stdin goes to the application, but not that of a terminal where we are in the background.
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

  BoardShell& shell_;
  std::string run_id_;
  std::function<void()> recover_;
  std::vector<BoardStep> end_steps_;
  TakeEnd take_end_;
  int stdout_fd_;
  OutputRewriter rewriter_;
  std::string first_line_;  // until it is whole
  bool started_ = false;    // the application's pid has arrived
  std::uint64_t shown_bytes_ = 0;
  std::string held_;         // on a terminal: output that may be the begin of the word of a failure
  bool failed_ = false;      // it could not be started
  std::string errors_tail_;  // reason, then
  std::string group_ = "0";  // its process group where that is its own
  std::vector<char> input_buffer_;
  std::string_view input_;
  bool input_open_ = true;
  bool line_begun_ = false;                 // by the input so far
  std::unique_ptr<UserTerminal> terminal_;  // null: the board's streams are no terminal
  ProgramEnd end_;
  bool finished_ = false;
  std::unique_ptr<SshCommand> command_;
};

}  // namespace msprof
