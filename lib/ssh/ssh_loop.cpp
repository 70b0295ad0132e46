#include "ssh/ssh_loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "base/interrupt.hpp"
#include "base/log.hpp"

namespace msprof {

namespace {

// What is handled before sinks get their turn: enough that a call costs nothing beside the bytes.
constexpr std::size_t kPumpBytes = 256 << 10;
constexpr int kLookMilliseconds = 1000;

}  // namespace

SshLoop::SshLoop(std::unique_ptr<SshSession> session, std::string name, OpenSession open_another)
    : name_(std::move(name)), open_another_(std::move(open_another)), event_(ssh_event_new()) {
  if (!event_) throw std::bad_alloc();
  const std::string_view server = ssh_get_serverbanner(session->get());
  one_process_each_ = server.find("dropbear") != std::string_view::npos;
  add_lane(std::move(session));
}

SshLoop::~SshLoop() {
  close();
}

void SshLoop::close() {
  // The library frees its channels with the session.
  for (SshChannel* channel : channels_) channel->handle_ = nullptr;
  for (const auto& lane : lanes_) ssh_event_remove_session(event_.get(), lane->session->get());
  lanes_.clear();
}

SshLane& SshLoop::add_lane(std::unique_ptr<SshSession> session) {
  auto lane = std::make_unique<SshLane>(std::move(session));
  if (ssh_event_add_session(event_.get(), lane->session->get()) != SSH_OK) throw std::bad_alloc();
  lanes_.push_back(std::move(lane));
  return *lanes_.back();
}

SshLane& SshLoop::lane_for_channel() {
  if (!one_process_each_) return *lanes_.front();
  for (const auto& lane : lanes_) {
    if (lane->channels == 0 && !lane->retired) return *lane;
  }
  try {
    // Also to end an application after Ctrl-C.
    const interrupt::Aside aside;
    SshLane& lane = add_lane(open_another_());
    drop_retired();
    return lane;
  } catch (const Error& error) {
    log::verbose("{}; going on with one connection", error.what());
    lanes_.front()->retired = false;
    return *lanes_.front();
  }
}

void SshLoop::drop_retired() {
  std::erase_if(lanes_, [this](const auto& lane) {
    if (!lane->retired || lane->channels > 0) return false;
    ssh_event_remove_session(event_.get(), lane->session->get());
    return true;
  });
}

const SshLane* SshLoop::dead_lane() const {
  const auto dead = std::find_if(lanes_.begin(), lanes_.end(), [](const auto& lane) {
    const bool is_used = !lane->retired || lane->channels > 0;
    return is_used && (!lane->session->is_alive() || lane->pulse.is_stuck());
  });
  return dead != lanes_.end() ? dead->get() : nullptr;
}

void SshLoop::pump(int milliseconds) {
  waiting_bytes_ = 0;
  int code = is_alive() ? ssh_event_dopoll(event_.get(), milliseconds) : SSH_ERROR;
  while (code == SSH_OK && is_alive() && waiting_bytes_ < kPumpBytes) {
    code = ssh_event_dopoll(event_.get(), 0);
  }
  if (out_of_memory_) throw std::bad_alloc();
  for (const auto& lane : lanes_) {
    if (lane->session->is_alive()) lane->pulse.look();
  }
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
  if (lanes_.empty()) throw ConnectionLost(fmt::format("{}: the connection was closed", name_));
  const SshLane* dead = dead_lane();
  if (dead == nullptr) return;
  constexpr std::string_view kPrefix = "Socket error: ";
  std::string reason = dead->session->error();
  if (reason.starts_with(kPrefix)) reason.erase(0, kPrefix.size());
  if (dead->pulse.is_stuck()) {
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
