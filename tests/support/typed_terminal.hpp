// TypedTerminal: a program at a terminal of its own, where a test reads and types. For the tests of
// questions to the user.
#pragma once

#include <sys/types.h>
#include <termios.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/run_program.hpp"

namespace msprof::test {

struct TerminalOptions {
  std::vector<std::pair<std::string, std::string>> variables{};  // added to the environment
  bool controlling = true;     // /dev/tty is this terminal; else the program has none
  bool stdin_is_it = true;     // else stdin is empty
  bool stdout_is_file = true;  // then what is printed there is in RunResult::out
  int columns = 0;             // its size; 0: unknown
  int rows = 0;
};

class TypedTerminal {
 public:
  TypedTerminal(const std::string& program, const std::vector<std::string>& arguments,
                const TerminalOptions& options = {});
  ~TypedTerminal();
  TypedTerminal(const TypedTerminal&) = delete;
  TypedTerminal& operator=(const TypedTerminal&) = delete;

  // Waits until the screen has `text` so many times; false when the program ended, or kHangLimit
  // passed, without.
  bool wait_for(std::string_view text, int times = 1);
  void type(std::string_view keys);
  void send(int signal) const;
  // Closes the terminal under the program, as who closes its window does, and waits for its end.
  // What it shows from then on is lost.
  RunResult hang_up();
  // What is typed is shown.
  bool echoes() const;
  // As a shell leaves it to a program: lines, shown, with Ctrl-C and Ctrl-Z.
  bool is_as_usual() const;
  void resize(int columns, int rows) const;
  const std::string& screen() const { return screen_; }
  // Waits for the end; `err` is the screen.
  RunResult wait();

 private:
  termios settings() const;
  bool look();  // reads the screen; false once the program has ended
  pid_t pid_ = -1;
  int ours_ = -1;
  int theirs_ = -1;
  int out_fd_ = -1;  // an unlinked file
  bool ended_ = false;
  int status_ = 0;
  std::string screen_;
};

}  // namespace msprof::test
