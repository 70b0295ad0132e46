// Runs programs as real processes and returns their output and exit status. For all tests.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace msprof::test {

struct RunOptions {
  std::filesystem::path folder{};  // working folder; empty: the test's
  std::vector<std::pair<std::string, std::string>> variables{};  // added to the environment
  int terminal_columns = 0;  // above 0: stdout and stderr are a terminal of this width
};

struct RunResult {
  std::string out;
  std::string err;
  int exit_code = -1;  // -1: ended by a signal
  int signal = 0;
};

// A running program; the destructor kills it and waits for it.
class RunningProgram {
 public:
  RunningProgram(const std::string& program, const std::vector<std::string>& arguments,
                 const RunOptions& options = {});
  ~RunningProgram();
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;

  pid_t pid() const { return pid_; }
  void send(int signal) const;
  // Returns true once it has ended; wait() then does not block.
  bool has_ended();
  // Waits for the end and returns the output.
  RunResult wait();

 private:
  void open_terminal(int columns);
  void read_terminal();
  void take_status(int status);
  pid_t pid_ = -1;
  bool ended_ = false;
  int out_fd_ = -1;  // unlinked files, so that no pipe can fill up
  int err_fd_ = -1;
  int terminal_fd_ = -1;  // the test's end; all output is then in `out`
  RunResult result_;
};

RunResult run_program(const std::string& program, const std::vector<std::string>& arguments,
                      const RunOptions& options = {});

// The msprof of this build.
std::string msprof_path();
RunResult run_msprof(const std::vector<std::string>& arguments, const RunOptions& options = {});

}  // namespace msprof::test
