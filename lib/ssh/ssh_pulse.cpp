#include "ssh/ssh_pulse.hpp"

#include <libssh/server.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>

#include <algorithm>

#include "ssh/ssh_connection.hpp"

namespace msprof {

namespace {

// Later than TCP finds a machine that is gone: what is asked would make it begin anew.
constexpr std::chrono::seconds kAskAfter{kSilenceSeconds + 1};
constexpr std::chrono::seconds kStuckAfter{kStuckSeconds};
constexpr std::chrono::seconds kQuiet{4};  // nothing is looked at before
// More than our own question takes.
constexpr int kSlowLinkBytes = 16 << 10;
// A longer pause between two looks is ours, not the host's.
constexpr std::chrono::seconds kLongestLook{1};

}  // namespace

SshPulse::SshPulse(ssh_session session) : session_(session), looked_at_(Clock::now()) {
  ssh_set_counters(session_, &socket_counter_, &packet_counter_);
}

// Also when a slow link takes what is sent: an answer waits behind it.
bool SshPulse::has_moved() {
  int unsent = 0;
  (void)::ioctl(ssh_get_fd(session_), SIOCOUTQ, &unsent);
  const bool moved = socket_counter_.in_bytes != heard_bytes_ ||
                     (unsent < unsent_bytes_ && unsent_bytes_ > kSlowLinkBytes);
  heard_bytes_ = socket_counter_.in_bytes;
  unsent_bytes_ = unsent;
  return moved;
}

void SshPulse::look() {
  const auto now = Clock::now();
  silence_ += std::min<Clock::duration>(now - looked_at_, kLongestLook);
  looked_at_ = now;
  if (socket_counter_.in_bytes == heard_bytes_ && silence_ < kQuiet) return;
  if (has_moved()) {
    silence_ = {};
    asked_ = false;
  } else if (silence_ >= kAskAfter && !asked_) {
    ask();
  } else if (silence_ >= kStuckAfter && can_ask_) {
    stuck_ = true;
  }
}

void SshPulse::ask() {
  asked_ = true;
  const auto before = packet_counter_.out_packets;
  // The first call takes in the answer to the last question and asks nothing then. Servers that do
  // not know the request say so, which is a sign of life; one that says even that in another way
  // keeps the library waiting, and cannot be asked again.
  ssh_send_keepalive(session_);
  if (packet_counter_.out_packets == before) ssh_send_keepalive(session_);
  can_ask_ = packet_counter_.out_packets != before;
}

}  // namespace msprof
