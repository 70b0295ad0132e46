// Child processes and pipes. Programs get argument lists, never a shell.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/file_reader.hpp"

namespace msprof {

// Programs do not inherit either end. Both are above 2: a lower one would become stdin, stdout or
// stderr of a child if that was closed.
struct Pipe {
  FileDescriptor read_end;
  FileDescriptor write_end;
};
// Throws Error(cannot_write).
Pipe make_pipe();

// Returns pointers to `texts`, and a null pointer, for exec functions.
std::vector<char*> exec_pointers(const std::vector<std::string>& texts);

struct ProcessEnd {
  int exit_code = -1;  // -1: killed by a signal
  int signal = 0;

  bool has_succeeded() const { return exit_code == 0; }
  // "killed by signal 9 (Killed)", "exit code 5".
  std::string text() const;
};

// A child process with an empty stdin, in its own process group so that Ctrl-C at the terminal does
// not reach it. It gets SIGTERM when the thread that started it ends. The destructor kills its
// process group.
class ChildProcess {
 public:
  // Starts a program: `arguments` are the program, searched in PATH if it has no '/', and its
  // arguments. Its output goes to `out_fd` and `err_fd`. Throws Error(cannot_write) if no process
  // can be created; a program that cannot be started ends with exit code 127.
  ChildProcess(const std::vector<std::string>& arguments, int out_fd, int err_fd,
               const std::filesystem::path& folder = {});
  // Forks: calls `work` in the child, which ends with its result and without destructors.
  ChildProcess(const std::function<int()>& work, int out_fd, int err_fd);
  ~ChildProcess();
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;

  // The process has ended, but poll() or wait() has not returned its result yet.
  bool has_ended() const;
  // Returns the result; empty while the process is running.
  std::optional<ProcessEnd> poll();
  ProcessEnd wait();
  // Sends a signal to the process group of the child.
  void signal(int number) const;
  // Sends SIGTERM and waits at most `patience` for the end.
  void stop(std::chrono::milliseconds patience) const;

 private:
  std::optional<ProcessEnd> reap(int options);

  pid_t pid_ = -1;  // -1: ended and reaped
};

// A memory file for the output of a child. Unlike a pipe, it never fills up and blocks the child.
// Throws Error(cannot_write).
FileDescriptor output_file();
std::size_t output_bytes(const FileDescriptor& file);
std::string read_output(const FileDescriptor& file, std::size_t max_bytes);

struct ToolAnswer {
  ProcessEnd end;
  std::string out;  // out and err are limited to 64 MB each
  std::string err;
  bool has_succeeded() const { return end.has_succeeded(); }
  // Returns stderr on one line or, if that is empty, how the program ended.
  std::string reason() const;
};

// Runs a program and returns its output. Kills it after `limit` or if it prints too much, and kills
// the processes that it started. Throws Error(interrupted) on Ctrl-C, unless `in_farewell` is set.
ToolAnswer run_tool(const std::vector<std::string>& arguments, std::chrono::milliseconds limit,
                    bool in_farewell = false);

}  // namespace msprof
