#include "ssh/jump_host.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/text.hpp"
#include "ssh/deadline.hpp"

namespace msprof {

namespace {

constexpr std::size_t kTunnelChunk = 64 << 10;
constexpr std::size_t kMaxTunnelBytes = 256 << 10;  // buffered per direction
constexpr int kMaxRoundsOfPackets = 64;             // packets handled before bytes are moved
constexpr std::chrono::milliseconds kTunnelFarewell{200};
// Time in which a live server answers the probe of SshPulse.
constexpr double kAnswerSeconds = 4;

std::uint64_t now_seconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(now).count());
}

// Extracts the reason from libssh's "Channel opening failure: channel 43 error (2) open failed".
std::string refusal_reason(const std::string& error) {
  if (error.find("error (1)") != std::string::npos) {
    return "its SSH server does not allow forwarding (AllowTcpForwarding, PermitOpen)";
  }
  const auto at = error.find("error (2)");
  if (at == std::string::npos) return error;
  const std::string text(trim(std::string_view(error).substr(at + 9)));
  return text.empty() ? "it cannot reach that address" : text;
}

}  // namespace

JumpHost::JumpHost(std::unique_ptr<SshSession> session, const SshLogin& login)
    : name_(login.name()),
      patience_(login.patience),
      lane_(std::move(session), login.patience),
      event_(ssh_event_new()),
      bell_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      buffer_(kTunnelChunk),
      heard_at_(now_seconds()) {
  if (!event_ || ssh_event_add_session(event_.get(), lane_.session->get()) != SSH_OK) {
    throw std::bad_alloc();
  }
  if (!bell_) throw Error(Exit::internal_error, "eventfd: " + errno_text(errno));
  // Signals are handled by the main thread only.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

JumpHost::~JumpHost() {
  is_stopped_ = true;
  ring();
  thread_.join();
  ssh_event_remove_session(event_.get(), lane_.session->get());
}

void JumpHost::ring() const {
  const std::uint64_t one = 1;
  (void)!::write(bell_.get(), &one, sizeof one);
}

FileDescriptor JumpHost::connect(const SshLogin& target) {
  const auto request = std::make_shared<Request>();
  request->host = target.host;
  request->port = target.port;
  const Deadline deadline{std::chrono::duration<double>(target.connect_timeout_seconds)};
  std::unique_lock lock(mutex_);
  if (end_reason_.empty()) requests_.push_back(request);
  ring();
  while (!request->is_done && end_reason_.empty()) {
    answered_.wait_for(lock, std::chrono::milliseconds(deadline.milliseconds(kInterruptPollMs)));
    if (request->is_done) break;
    request->is_abandoned = interrupt::received() != 0 || deadline.is_over();
    if (!request->is_abandoned) continue;
    interrupt::check();
    throw ConnectFailure(
        ConnectFailure::Why::unreachable,
        fmt::format(
            "{}: no answer within {:g} s through the jump host {}; is the {} on, and can the jump "
            "host reach it? (limit: --connect-timeout, or connect_timeout in the ini)",
            target.name(), target.connect_timeout_seconds, name_, target.role));
  }
  if (request->socket) return std::move(request->socket);
  if (request->refusal.empty()) {
    throw ConnectFailure(ConnectFailure::Why::unreachable,
                         fmt::format("{}: {}", target.name(), end_reason_));
  }
  throw ConnectFailure(
      ConnectFailure::Why::unreachable,
      fmt::format("{}: the jump host {} cannot connect to {} port {}: {}", target.name(), name_,
                  target.host, target.port, request->refusal));
}

std::string JumpHost::trouble() const {
  const std::lock_guard lock(mutex_);
  if (!end_reason_.empty()) return end_reason_;
  const std::uint64_t silence = now_seconds() - std::min(heard_at_.load(), now_seconds());
  if (static_cast<double>(silence) < patience_.ask_seconds + kAnswerSeconds) return {};
  return fmt::format("the jump host {} has not responded for {} s", name_, silence);
}

void JumpHost::run() noexcept {
  std::string reason;
  try {
    while (!is_stopped_ && lane_.session->is_alive() && !lane_.pulse.is_stuck()) work();
    if (is_stopped_) {
      drain();
    } else if (lane_.pulse.is_stuck()) {
      reason = fmt::format("the SSH server of the jump host {} has not responded for {:g} s", name_,
                           patience_.stuck_seconds);
    } else {
      const std::string error = lane_.session->error();
      const bool is_silent = error.find("timed out") != std::string::npos;
      reason = is_silent ? fmt::format("no data from the jump host {} for {:g} s", name_,
                                       patience_.silence_seconds)
                         : fmt::format("the connection to the jump host {} was closed", name_);
    }
  } catch (const std::exception& error) {
    reason = fmt::format("the connection through the jump host {} ended: {}", name_, error.what());
  }
  end_all(reason.empty() ? fmt::format("the connection to the jump host {} ended", name_) : reason);
}

void JumpHost::work() {
  const auto heard = lane_.pulse.heard_bytes();
  wait(kLongPollMs);
  handle_packets();
  if (!lane_.session->is_alive()) return;
  open_requested();
  move_bytes();
  lane_.pulse.probe();
  if (lane_.pulse.heard_bytes() != heard) heard_at_ = now_seconds();
}

void JumpHost::handle_packets() {
  for (int i = 0; i < kMaxRoundsOfPackets && lane_.session->is_alive(); ++i) {
    if (ssh_event_dopoll(event_.get(), 0) != SSH_OK) break;
  }
  lane_.mark_seen();
}

bool JumpHost::can_send() const {
  return (ssh_get_status(lane_.session->get()) & SSH_WRITE_PENDING) == 0;
}

bool JumpHost::can_move_up(const Tunnel& tunnel) const {
  return !tunnel.up.empty() && can_send() && ssh_channel_window_size(tunnel.channel) > 0;
}

// Returns at once if work may be pending: moving the bytes of one tunnel handles packets and output
// of all, so other tunnels may have new bytes or a larger window.
void JumpHost::wait(int most_ms) {
  const bool can_move = std::any_of(tunnels_.begin(), tunnels_.end(), [this](const Tunnel& tunnel) {
    return !tunnel.is_held && can_move_up(tunnel);
  });
  const bool pending = !can_send();
  const auto session_events = static_cast<short>(pending ? POLLIN | POLLOUT : POLLIN);
  std::vector<pollfd> fds = {{bell_.get(), POLLIN, 0},
                             {ssh_get_fd(lane_.session->get()), session_events, 0}};
  for (const Tunnel& tunnel : tunnels_) {
    int events = 0;
    if (tunnel.up.empty() && !tunnel.has_up_ended) events |= POLLIN;
    if (!tunnel.down.empty()) events |= POLLOUT;
    // A tunnel that waits only for the session is not polled: if its socket is hung up, poll()
    // would return at once each time.
    if (events != 0) fds.push_back({tunnel.socket.get(), static_cast<short>(events), 0});
  }
  (void)::poll(fds.data(), fds.size(), can_move || lane_.has_unseen() ? 0 : most_ms);
  std::uint64_t rung = 0;
  (void)!::read(bell_.get(), &rung, sizeof rung);
}

void JumpHost::open_requested() {
  {
    const std::lock_guard lock(mutex_);
    being_opened_.insert(being_opened_.end(), requests_.begin(), requests_.end());
    requests_.clear();
  }
  std::erase_if(being_opened_, [this](const auto& request) { return try_to_open(*request); });
}

// Returns true when the request is finished, successfully or not.
bool JumpHost::try_to_open(Request& request) {
  if (request.channel == nullptr) request.channel = ssh_channel_new(lane_.session->get());
  if (request.channel == nullptr) throw std::bad_alloc();
  const int code =
      ssh_channel_open_forward(request.channel, request.host.c_str(), request.port, "127.0.0.1", 0);
  const std::lock_guard lock(mutex_);
  if (code == SSH_AGAIN && !request.is_abandoned) return false;
  if (code == SSH_ERROR && !lane_.session->is_alive()) return false;  // see end_all()
  ssh_channel channel = std::exchange(request.channel, nullptr);
  int ends[2] = {-1, -1};
  if (code == SSH_OK && !request.is_abandoned &&
      ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0) {
    request.socket.reset(ends[0]);
    tunnels_.emplace_back();
    tunnels_.back().channel = channel;
    tunnels_.back().socket.reset(ends[1]);
  } else {
    request.refusal = code == SSH_OK ? "cannot create a socket: " + errno_text(errno)
                                     : refusal_reason(lane_.session->error());
    ssh_channel_free(channel);
  }
  request.is_done = true;
  answered_.notify_all();
  return true;
}

void JumpHost::move_bytes() {
  for (Tunnel& tunnel : tunnels_) {
    move_up(tunnel);
    move_down(tunnel);
  }
  // If the host is lost, end_all() first stores the reason and then closes the tunnels.
  if (!lane_.session->is_alive()) return;
  std::erase_if(tunnels_, [](Tunnel& tunnel) {
    const bool is_over = tunnel.is_broken || (tunnel.has_up_ended && tunnel.up.empty()) ||
                         (tunnel.has_down_ended && tunnel.down.empty());
    if (!is_over) return false;
    ssh_channel_send_eof(tunnel.channel);
    ssh_channel_free(tunnel.channel);
    return true;
  });
}

void JumpHost::move_up(Tunnel& tunnel) {
  while (!tunnel.is_broken) {
    if (tunnel.up.empty() && !tunnel.has_up_ended) {
      const ssize_t count = ::read(tunnel.socket.get(), buffer_.data(), buffer_.size());
      if (count > 0) tunnel.up.assign(buffer_.data(), static_cast<std::size_t>(count));
      if (count == 0 || (count < 0 && errno == ECONNRESET)) tunnel.has_up_ended = true;
    }
    if (!can_move_up(tunnel)) return;
    const std::size_t window = ssh_channel_window_size(tunnel.channel);
    const std::size_t size = std::min(window, tunnel.up.size());
    const int taken =
        ssh_channel_write(tunnel.channel, tunnel.up.data(), static_cast<std::uint32_t>(size));
    if (taken < 0) tunnel.is_broken = true;
    tunnel.is_held = taken == 0;
    if (taken <= 0) return;
    tunnel.up.erase(0, static_cast<std::size_t>(taken));
  }
}

void JumpHost::move_down(Tunnel& tunnel) {
  while (!tunnel.is_broken) {
    if (tunnel.down.size() < kMaxTunnelBytes && !tunnel.has_down_ended) {
      const int count = ssh_channel_read_nonblocking(tunnel.channel, buffer_.data(),
                                                     static_cast<std::uint32_t>(buffer_.size()), 0);
      if (count > 0) tunnel.down.append(buffer_.data(), static_cast<std::size_t>(count));
      if (count < 0 && count != SSH_AGAIN) tunnel.has_down_ended = true;
    }
    if (tunnel.down.empty()) return;
    const ssize_t sent = ::send(tunnel.socket.get(), tunnel.down.data(), tunnel.down.size(),
                                MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) tunnel.is_broken = true;
    if (sent <= 0) return;
    tunnel.down.erase(0, static_cast<std::size_t>(sent));
  }
}

// Sends the last bytes written, such as a disconnect message, within kTunnelFarewell.
void JumpHost::drain() {
  const Deadline deadline{kTunnelFarewell};
  while (lane_.session->is_alive() && !deadline.is_over()) {
    move_bytes();
    const bool is_sent =
        can_send() && std::all_of(tunnels_.begin(), tunnels_.end(),
                                  [](const Tunnel& one) { return one.up.empty(); });
    if (is_sent) return;
    wait(deadline.milliseconds(kInterruptPollMs));
    handle_packets();
  }
}

void JumpHost::end_all(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  // Set first: users of a closed socket read the reason.
  end_reason_ = reason;
  for (Tunnel& tunnel : tunnels_) ssh_channel_free(tunnel.channel);
  tunnels_.clear();
  for (const auto& request : being_opened_) {
    if (request->channel != nullptr) ssh_channel_free(request->channel);
    request->channel = nullptr;
  }
  being_opened_.clear();
  requests_.clear();
  answered_.notify_all();
}

}  // namespace msprof
