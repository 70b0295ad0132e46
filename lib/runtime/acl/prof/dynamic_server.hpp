// Where a collector tells a running application when to record: PROFILING_MODE=dynamic.
// One socket a process, ~/dynamic_profiling_socket_<pid>. Protocol: docs/dynamic.md.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "runtime/engine/held_descriptor.hpp"

namespace msprof::acl {

// What came of a command: the PROF folder, or a sentence that says why not.
struct DynamicResult {
  bool is_good = false;
  std::string text;
};

struct DynamicLimits {
  std::chrono::milliseconds idle = std::chrono::minutes(30);  // then a client is left
  std::uint32_t starts = 100;                                 // of a process
};

// Serves one client at a time, of the same user, in a thread of its own that takes no signal.
class DynamicServer {
 public:
  // Both are called by the thread of the server. `start` gets the object "config" as JSON.
  struct Commands {
    std::function<DynamicResult(const std::string& config)> start;
    std::function<DynamicResult()> stop;
  };

  // Makes the socket in `home`. Null with a sentence in `why` where that fails.
  static std::unique_ptr<DynamicServer> open(const std::string& home, Commands commands,
                                             DynamicLimits limits, std::string& why);
  // Ends the thread, which ends a recording that its client began; the socket is gone.
  ~DynamicServer();
  DynamicServer(const DynamicServer&) = delete;
  DynamicServer& operator=(const DynamicServer&) = delete;

  // At the end of the process: removes the socket and waits for nothing. The object must stay.
  void leave();
  // A child made by fork has neither the thread nor the descriptors; there the object must stay.
  void before_fork();
  void after_fork(bool child);

 private:
  using Clock = std::chrono::steady_clock;

  DynamicServer(Commands commands, DynamicLimits limits);
  bool listen_in(const std::string& home, std::string& why);
  void serve();
  int wait_ms() const;
  void take_client();
  void read_client();
  void refuse_long_line();
  void answer_line(const std::string& line);
  void on_start(const std::string& config);
  void on_quit();
  void answer(const DynamicResult& result);
  void send_line(const std::string& line);
  void end_recording();
  void end_client();
  void close_descriptors();

  const Commands commands_;
  const DynamicLimits limits_;
  std::string path_;
  std::mutex mutex_;  // of the descriptors, for fork
  runtime::HeldDescriptor wake_;
  runtime::HeldDescriptor listener_;
  runtime::HeldDescriptor client_;
  int client_process_ = 0;
  std::string unread_;
  Clock::time_point idle_end_;
  bool is_recording_ = false;
  std::uint32_t starts_ = 0;
  std::thread thread_;
};

// The folder where the sockets are: HOME, else the one of the user; empty where there is none.
std::string home_of_sockets();

}  // namespace msprof::acl
