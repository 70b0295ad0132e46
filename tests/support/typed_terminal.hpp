// TypedTerminal: a program on its own terminal, which a test reads and types on. For tests of
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
  bool controlling = true;     // /dev/tty is this terminal; otherwise the program has none
  bool stdin_is_it = true;     // otherwise stdin is empty
  bool stdout_is_file = true;  // the output is then in RunResult::out
  int columns = 0;             // size of the terminal; 0: unknown
  int rows = 0;
};

class TypedTerminal {
 public:
  TypedTerminal(const std::string& program, const std::vector<std::string>& arguments,
                const TerminalOptions& options = {});
  ~TypedTerminal();
  TypedTerminal(const TypedTerminal&) = delete;
  TypedTerminal& operator=(const TypedTerminal&) = delete;

  // Waits until `text` has been printed `times` times; false if the program ended before, or after
  // kHangLimit.
  bool wait_for(std::string_view text, int times = 1);
  void type(std::string_view keys);
  void send(int signal) const;
  // Closes the terminal, like closing its window, and waits for the program's end. Later output is
  // lost.
  RunResult hang_up();
  // Returns true if typed characters are shown.
  bool echoes() const;
  // Returns true if the settings are those a shell leaves: line mode, echo, with Ctrl-C and Ctrl-Z.
  bool is_as_usual() const;
  void resize(int columns, int rows) const;
  const std::string& screen() const { return screen_; }
  // Waits for the end; `err` is the screen content.
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
