// Programs as real processes: what they print, how they end. For all tests.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace msprof::test {

struct RunOptions {
  std::filesystem::path folder{};                                // working folder; empty: ours
  std::vector<std::pair<std::string, std::string>> variables{};  // added to the environment
  int terminal_columns = 0;  // above 0: stdout and stderr are a terminal of that width
};

struct RunResult {
  std::string out;
  std::string err;
  int exit_code = -1;  // -1: ended by a signal
  int signal = 0;
};

// A program that runs; killed and waited for when it goes.
class RunningProgram {
 public:
  RunningProgram(const std::string& program, const std::vector<std::string>& arguments,
                 const RunOptions& options = {});
  ~RunningProgram();
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;

  pid_t pid() const { return pid_; }
  void send(int signal) const;
  // True once it has ended; wait() does not block then.
  bool has_ended();
  // Waits for the end and gives what was printed.
  RunResult wait();

 private:
  void open_terminal(int columns);
  void read_terminal();
  void take_status(int status);
  pid_t pid_ = -1;
  bool ended_ = false;
  int out_fd_ = -1;  // unlinked files, so that no pipe can fill up
  int err_fd_ = -1;
  int terminal_fd_ = -1;  // our end; then all output is in `out`
  RunResult result_;
};

RunResult run_program(const std::string& program, const std::vector<std::string>& arguments,
                      const RunOptions& options = {});

// The msprof of this build.
std::string msprof_path();
RunResult run_msprof(const std::vector<std::string>& arguments, const RunOptions& options = {});

}  // namespace msprof::test
