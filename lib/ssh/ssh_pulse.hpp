// SshPulse: finds a host whose SSH server is stuck while its TCP still answers: a frozen board
// behind a port forwarding, a server that was stopped. Inside lib/ssh.
#pragma once

#include <libssh/libssh.h>

#include <chrono>
#include <cstdint>

namespace msprof {

class SshPulse {
 public:
  explicit SshPulse(ssh_session session);
  SshPulse(const SshPulse&) = delete;
  SshPulse& operator=(const SshPulse&) = delete;

  // After each look at the connection: asks the server for a sign of life when it has been silent
  // for a while.
  void look();
  // The server has not answered for kStuckSeconds.
  bool is_stuck() const { return stuck_; }

 private:
  using Clock = std::chrono::steady_clock;
  bool has_moved();
  void ask();

  ssh_session session_;
  ssh_counter_struct socket_counter_ = {};
  ssh_counter_struct packet_counter_ = {};
  std::uint64_t heard_bytes_ = 0;
  int unsent_bytes_ = 0;  // in the kernel
  Clock::time_point looked_at_;
  Clock::duration silence_{};
  bool asked_ = false;
  bool can_ask_ = true;
  bool stuck_ = false;
};

}  // namespace msprof
