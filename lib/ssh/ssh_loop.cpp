#include "ssh/ssh_loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>

namespace msprof {

namespace {

// What is handled before sinks get their turn: enough that a call costs nothing beside the bytes.
constexpr std::size_t kPumpBytes = 256 << 10;
constexpr int kLookMilliseconds = 1000;

}  // namespace

SshLoop::SshLoop(std::unique_ptr<SshSession> session, std::string name)
    : name_(std::move(name)),
      pulse_(session->get()),
      session_(std::move(session)),
      event_(ssh_event_new()) {
  if (!event_ || ssh_event_add_session(event_.get(), session_->get()) != SSH_OK) {
    throw std::bad_alloc();
  }
}

SshLoop::~SshLoop() {
  close();
}

void SshLoop::close() {
  if (!session_) return;
  // The library frees its channels with the session.
  for (SshChannel* channel : channels_) channel->handle_ = nullptr;
  ssh_event_remove_session(event_.get(), session_->get());
  session_.reset();
}

void SshLoop::pump(int milliseconds) {
  waiting_bytes_ = 0;
  int code = is_alive() ? ssh_event_dopoll(event_.get(), milliseconds) : SSH_ERROR;
  while (code == SSH_OK && is_alive() && waiting_bytes_ < kPumpBytes) {
    code = ssh_event_dopoll(event_.get(), 0);
  }
  if (out_of_memory_) throw std::bad_alloc();
  if (is_alive()) pulse_.look();
}

void SshLoop::deliver() {
  // A sink may start or destroy commands.
  const std::vector<SshChannel*> channels = channels_;
  for (SshChannel* channel : channels) {
    if (std::find(channels_.begin(), channels_.end(), channel) != channels_.end()) {
      channel->deliver();
    }
  }
}

bool SshLoop::is_waiting() const {
  return std::any_of(channels_.begin(), channels_.end(),
                     [](const SshChannel* channel) { return channel->is_waiting(); });
}

void SshLoop::check() const {
  if (is_alive()) return;
  if (!session_) throw ConnectionLost(fmt::format("{}: the connection was closed", name_));
  constexpr std::string_view kPrefix = "Socket error: ";
  std::string reason = session_->error();
  if (reason.starts_with(kPrefix)) reason.erase(0, kPrefix.size());
  if (pulse_.is_stuck()) {
    reason = fmt::format("its SSH server has given no sign of life for {} s", kStuckSeconds);
  } else if (reason == "disconnected") {
    reason = "the board closed it";
  } else if (reason.find("timed out") != std::string::npos) {
    reason = fmt::format("nothing came from the board for {} s", kSilenceSeconds);
  }
  throw ConnectionLost(fmt::format(
      "{}: the connection was lost: {}; is the board still on and on the network?", name_, reason));
}

void SshLoop::throw_silent(std::string_view what) const {
  throw ConnectionLost(fmt::format("{}: the connection was lost: no answer to {} for {} s", name_,
                                   what, kSilenceSeconds));
}

int SshLoop::finish(std::string_view what, const std::function<int()>& step) {
  const Deadline deadline{std::chrono::seconds(kSilenceSeconds)};
  for (;;) {
    const int code = step();
    if (code != SSH_AGAIN) return code;
    check();
    if (deadline.is_over()) throw_silent(what);
    pump(deadline.milliseconds(kLookMilliseconds));
  }
}

}  // namespace msprof
