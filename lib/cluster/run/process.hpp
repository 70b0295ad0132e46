// Programs that work for a run: started with argument lists, never through a shell. For the pool
// and the commands of Slurm.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace msprof::cluster {

// How a program ended.
struct ProgramResult {
  int exit_code = -1;  // -1: by a signal
  int signal = 0;

  bool ok() const { return exit_code == 0; }
  // "it was killed by signal 9 (Killed)", "it ended with exit code 5".
  std::string text() const;
};

// A child in a process group of its own, which Ctrl-C at the terminal does not reach, with stdin
// from nowhere. It gets SIGTERM when the thread that started it ends; where it still runs when this
// goes, its group is killed.
class ChildProcess {
 public:
  // `arguments`: the program, looked up in PATH where it has no '/', and its arguments. Both
  // streams go to `stdout_fd` and `stderr_fd`. Throws Error(cannot_write) where no process can be
  // made.
  ChildProcess(const std::vector<std::string>& arguments, int stdout_fd, int stderr_fd,
               const std::filesystem::path& folder = {});
  ~ChildProcess();
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;

  // Empty while it runs.
  std::optional<ProgramResult> poll();
  // Sends a signal to it and what it started.
  void signal(int number) const;

 private:
  pid_t pid_ = -1;  // -1: ended and reaped
};

// Ends `children` with SIGTERM, and with SIGKILL those that are left after `patience`.
void end_children(std::vector<ChildProcess>& children, std::chrono::milliseconds patience);

struct ToolAnswer {
  ProgramResult end;
  std::string out;  // at most 64 MB of each
  std::string err;
  bool ok() const { return end.ok(); }
  // What it said on stderr in one line, else how it ended.
  std::string reason() const;
};

// Runs a program to its end and gives what it printed. One that takes longer than `limit` is
// killed. Throws Error(interrupted) on Ctrl-C, but not while `in_farewell`.
ToolAnswer run_tool(const std::vector<std::string>& arguments, std::chrono::seconds limit,
                    bool in_farewell = false);

// The last line of text in a log; empty where there is none.
std::string last_line(const std::filesystem::path& log);

}  // namespace msprof::cluster
