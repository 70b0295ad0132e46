// Client of the host runtime's socket in a running application that can be recorded on request.
// Protocol: docs/dynamic.md.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/file_reader.hpp"

namespace msprof {

// Throws Error(nothing_to_do) unless the process exists and belongs to this user.
void check_process(pid_t process);
// Returns "process 1234 (python3)".
std::string process_name(pid_t process);
// Returns true if the process has loaded the host runtime's libascendcl.so.
bool has_host_runtime(pid_t process);

// Returns processes whose socket is in `home` and that were started with
// DYNAMIC_PROFILING_KEY_PID=`key`, directly or by a process that was; ascending.
std::vector<pid_t> find_dynamic_processes(const std::filesystem::path& home, pid_t key);

// `text` is the folder on success, else a sentence that explains the failure.
struct DynamicAnswer {
  bool is_good = false;
  std::string text;
};

class DynamicClient {
 public:
  // Throws Error(nothing_to_do) if the process cannot be reached.
  explicit DynamicClient(pid_t process);
  // Disconnects; an application that is being recorded then completes its folder. Removes the
  // socket of a process that has ended.
  ~DynamicClient();
  DynamicClient(DynamicClient&&) = default;
  DynamicClient& operator=(DynamicClient&&) = default;

  pid_t process() const { return process_; }
  const std::string& name() const { return name_; }
  // Becomes readable when a message or the end of the connection arrives.
  int descriptor() const { return socket_.get(); }
  // Returns false once the application has ended or disconnected; `said` is then its last message,
  // if any.
  bool is_there(std::string& said);

  // Each waits for the answer; `config` is the PROFILER_SAMPLECONFIG object on one line.
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
