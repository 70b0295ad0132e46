// Server through which a collector starts and stops recordings in a running application:
// PROFILING_MODE=dynamic. One socket per process, ~/dynamic_profiling_socket_<pid>. Protocol:
// acl/prof/README.md.
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

// Result of a command: the PROF folder, or an error message.
struct DynamicResult {
  bool is_good = false;
  std::string text;
};

struct DynamicLimits {
  std::chrono::milliseconds idle = std::chrono::minutes(30);  // after this time an idle client is
                                                              // disconnected
  std::uint32_t starts = 100;                                 // maximum per process
};

// Serves one client at a time, of the same user, in its own thread with all signals blocked.
class DynamicServer {
 public:
  // Called on the server's thread. `start` gets the object "config" as JSON.
  struct Commands {
    std::function<DynamicResult(const std::string& config)> start;
    std::function<DynamicResult()> stop;
  };

  // Creates the socket in `home`. Null with a message in `why` on error.
  static std::unique_ptr<DynamicServer> open(const std::string& home, Commands commands,
                                             DynamicLimits limits, std::string& why);
  // Ends a recording started by the client, stops the thread and removes the socket.
  ~DynamicServer();
  DynamicServer(const DynamicServer&) = delete;
  DynamicServer& operator=(const DynamicServer&) = delete;

  // At exit of the process: removes the socket without waiting. The object must not be destroyed.
  void leave();
  // A forked child has neither the thread nor the descriptors; it must not destroy the object.
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
  std::mutex mutex_;  // guards the descriptors during a fork
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

// The folder of the sockets: HOME, else the user's home folder; empty if there is none.
std::string socket_home();

}  // namespace msprof::acl
