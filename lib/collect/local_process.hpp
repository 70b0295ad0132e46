// LocalProcess: an application that runs on this machine under a supervisor process. Used by
// LocalHost.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/file_reader.hpp"
#include "collect/host.hpp"
#include "collect/output_rewriter.hpp"

namespace msprof {

struct LocalProgram {
  std::filesystem::path path;  // absolute
  std::vector<std::string> arguments;
  std::vector<std::string> environment;  // "NAME=value"
  std::filesystem::path working_folder;
  bool sends_stdout_to_stderr = false;
  bool without_input = false;
  OutputChanges output_changes;  // if not empty, stdout is a pipe
};

// Starts the application without an intermediate shell. It inherits descriptors 0, 1 and 2 unless
// the program specifies otherwise. It runs in a separate session: Ctrl-C reaches it only through
// signal().
class LocalProcess : public RunningProgram {
 public:
  // Throws Error(cannot_write) if no process or descriptor can be created.
  explicit LocalProcess(const LocalProgram& program);
  // Kills the application and all its child processes, and waits for their end.
  ~LocalProcess() override;
  LocalProcess(const LocalProcess&) = delete;
  LocalProcess& operator=(const LocalProcess&) = delete;

  std::optional<ProgramEnd> wait(std::chrono::milliseconds limit) override;
  void signal(int number) override;

 private:
  bool read_report();
  void finish();

  pid_t supervisor_ = 0;
  FileDescriptor control_;
  FileDescriptor reports_;
  std::unique_ptr<RewritingPump> pump_;  // null: the application writes directly to msprof's stdout
  ProgramEnd end_;
  bool is_finished_ = false;
};

}  // namespace msprof
