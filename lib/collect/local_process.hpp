// LocalProcess: an application that runs on this machine under a supervisor. For LocalHost.
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
  bool stdout_to_stderr = false;
  bool without_input = false;    // stdin is empty
  OutputChanges output_changes;  // where there are any, stdout is a pipe
};

// The application has the descriptors 0, 1 and 2 of this process, unless the program says
// otherwise, and no shell in between. It lives in a session of its own: Ctrl-C reaches it through
// signal() alone.
class LocalProcess : public RunningProgram {
 public:
  // Throws Error(internal_error) when the machine has no processes or descriptors left.
  explicit LocalProcess(const LocalProgram& program);
  // Ends the application and everything it started, at once, and waits for that.
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
  std::unique_ptr<RewritingPump> pump_;  // null: the application has our stdout
  ProgramEnd end_;
  bool finished_ = false;
};

}  // namespace msprof
