// A running application that records when it is told to: its end of the host runtime's socket.
// Protocol: docs/dynamic.md.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/file_reader.hpp"

namespace msprof {

// Throws Error(nothing_to_do) unless the process is there and of this user.
void check_process(pid_t process);
// "process 1234 (python3)"
std::string process_name(pid_t process);
// Whether the process has loaded the libascendcl.so of the host runtime.
bool has_host_runtime(pid_t process);

// Processes whose socket is in `home` and that were started with DYNAMIC_PROFILING_KEY_PID=`key`,
// or by one that was; ascending.
std::vector<pid_t> dynamic_processes_of(const std::filesystem::path& home, pid_t key);

// A folder, or a sentence that says why there is none.
struct DynamicAnswer {
  bool is_good = false;
  std::string text;
};

class DynamicClient {
 public:
  // Throws Error(nothing_to_do) with a sentence where the process is not to be reached.
  explicit DynamicClient(pid_t process);
  // Leaves: an application that is recorded completes its folder. Removes the socket of a process
  // that is gone.
  ~DynamicClient();
  DynamicClient(DynamicClient&&) = default;
  DynamicClient& operator=(DynamicClient&&) = default;

  pid_t process() const { return process_; }
  const std::string& name() const { return name_; }
  // To be waited for: something came, or the end.
  int descriptor() const { return socket_.get(); }
  // False once the application has ended, or has left us; `said` is then its last sentence, if any.
  bool is_there(std::string& said);

  // Each waits for the answer; `config` is the object of PROFILER_SAMPLECONFIG, on one line.
  DynamicAnswer start(const std::string& config);
  DynamicAnswer stop();
  DynamicAnswer quit();

 private:
  void connect();
  DynamicAnswer ask(const std::string& line);
  bool receive(int limit_ms, std::string& line);
  DynamicAnswer parse(const std::string& line) const;

  pid_t process_;
  std::string name_;
  std::filesystem::path path_;
  FileDescriptor socket_;
  std::string unread_;
  bool has_ended_ = false;
};

}  // namespace msprof
