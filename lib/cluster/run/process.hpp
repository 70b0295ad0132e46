// Starts programs with argument lists, never through a shell.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace msprof::cluster {

struct ProgramResult {
  int exit_code = -1;  // -1: killed by a signal
  int signal = 0;

  bool has_succeeded() const { return exit_code == 0; }
  // "it was killed by signal 9 (Killed)", "it ended with exit code 5".
  std::string text() const;
};

// A child process with an empty stdin, in its own process group so that Ctrl-C at the terminal does
// not reach it. It gets SIGTERM when the thread that started it ends. The destructor kills its
// process group.
class ChildProcess {
 public:
  // `arguments` are the program, searched in PATH if it has no '/', and its arguments. The
  // program's output goes to `stdout_fd` and `stderr_fd`. Throws Error(cannot_write) if no process
  // can be created.
  ChildProcess(const std::vector<std::string>& arguments, int stdout_fd, int stderr_fd,
               const std::filesystem::path& folder = {});
  ~ChildProcess();
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;

  // Returns the result; empty while the process is running.
  std::optional<ProgramResult> poll();
  // Sends a signal to the process group of the child.
  void signal(int number) const;

 private:
  pid_t pid_ = -1;  // -1: ended and reaped
};

// Sends SIGTERM to `children`; after `patience`, kills those still running.
void end_children(std::vector<ChildProcess>& children, std::chrono::milliseconds patience);

struct ToolAnswer {
  ProgramResult end;
  std::string out;  // out and err are limited to 64 MB each
  std::string err;
  bool has_succeeded() const { return end.has_succeeded(); }
  // Returns stderr on one line or, if that is empty, how the program ended.
  std::string reason() const;
};

// Runs a program and returns its output. Kills it after `limit`. Throws Error(interrupted) on
// Ctrl-C, unless `in_farewell` is set.
ToolAnswer run_tool(const std::vector<std::string>& arguments, std::chrono::seconds limit,
                    bool in_farewell = false);

// Returns the last line of a log; empty if there is none.
std::string last_line(const std::filesystem::path& log);

}  // namespace msprof::cluster
