#include "ssh/ssh_loop.hpp"

#include <fmt/format.h>
#include <libssh/server.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <new>
#include <utility>

#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "ssh/deadline.hpp"
#include "ssh/ssh_connection.hpp"

namespace msprof {

namespace {

// Above this, a shrinking send buffer means a slow link; a probe alone has fewer bytes.
constexpr int kSlowLinkBytes = 16 << 10;
// A gap between two checks counts as silence of the host up to this length; a longer gap means that
// this process was paused.
constexpr std::chrono::seconds kMaxProbeGap{1};

// Bytes handled before sinks are called; large enough to make the cost of a call negligible.
constexpr std::size_t kPumpBytes = 256 << 10;
// Limit for rounds of packets, since a host may send packets without data endlessly.
constexpr int kMaxPumpRounds = 256;
// dropbear closes a channel that has no command yet if another command ends at that moment.
constexpr int kMaxOpenings = 5;

// Open channels without a command: as many as are usually started at the same time.
constexpr std::size_t kSpareChannels = 2;

// Maximum passed to libssh at once; it buffers what the socket does not accept.
constexpr std::size_t kMaxWrite = 256 << 10;

// Receive window, the same as in OpenSSH's client: the amount per round trip. libssh's own window
// starts at 64 KB and is refilled to 1.2 MB when half is used.
constexpr std::uint32_t kWindowBytes = 2 << 20;
constexpr std::uint32_t kWindowStep = 256 << 10;

// Returns the letters and digits of the signal name from the host, such as "SEGV".
std::string signal_name(const char* text) {
  std::string name;
  for (; *text != '\0' && name.size() < 32; ++text) {
    const bool is_plain = (*text >= 'A' && *text <= 'Z') || (*text >= '0' && *text <= '9') ||
                          (*text >= 'a' && *text <= 'z');
    if (is_plain) name += *text;
  }
  if (name.starts_with("SIG")) name.erase(0, 3);
  return name;
}

}  // namespace

SshPulse::SshPulse(ssh_session session, const SshPatience& patience)
    : session_(session),
      ask_after_(patience.ask_seconds),
      stuck_after_(patience.stuck_seconds),
      probed_at_(Clock::now()) {
  ssh_set_counters(session_, &socket_counter_, &packet_counter_);
}

// True if data arrived, or if a slow link is still sending ours: answers can only come after that.
bool SshPulse::has_moved() {
  int unsent = 0;
  (void)::ioctl(ssh_get_fd(session_), SIOCOUTQ, &unsent);
  const bool moved = socket_counter_.in_bytes != heard_bytes_ ||
                     (unsent < unsent_bytes_ && unsent_bytes_ > kSlowLinkBytes);
  heard_bytes_ = socket_counter_.in_bytes;
  unsent_bytes_ = unsent;
  return moved;
}

void SshPulse::probe() {
  const auto now = Clock::now();
  silence_ += std::min<Clock::duration>(now - probed_at_, kMaxProbeGap);
  probed_at_ = now;
  // Avoids the system call in has_moved() during the first fifth of ask_after_.
  if (socket_counter_.in_bytes == heard_bytes_ && silence_ < ask_after_ / 5) return;
  if (has_moved()) {
    silence_ = {};
    has_asked_ = false;
  } else if (silence_ >= ask_after_ && !has_asked_) {
    ask();
  } else if (silence_ >= stuck_after_ && can_ask_) {
    is_stuck_ = true;
  }
}

void SshPulse::ask() {
  has_asked_ = true;
  const auto before = packet_counter_.out_packets;
  // The first call processes the answer to the previous probe and may send nothing. Servers that do
  // not know the request reply with a failure, which also shows that they are alive. If a server's
  // reply is invalid, libssh keeps waiting and no further probe can be sent.
  ssh_send_keepalive(session_);
  if (packet_counter_.out_packets == before) ssh_send_keepalive(session_);
  can_ask_ = packet_counter_.out_packets != before;
}

SshLoop::SshLoop(std::unique_ptr<SshSession> session, std::string name, const SshPatience& patience,
                 OpenSession open_another, std::function<std::string()> trouble)
    : name_(std::move(name)),
      patience_(patience),
      open_another_(std::move(open_another)),
      trouble_(std::move(trouble)),
      event_(ssh_event_new()) {
  if (!event_) throw std::bad_alloc();
  const std::string_view server = ssh_get_serverbanner(session->get());
  needs_one_process_each_ = server.find("dropbear") != std::string_view::npos;
  add_lane(std::move(session));
}

SshLoop::~SshLoop() {
  close();
}

void SshLoop::close() {
  // libssh frees the channels with the session.
  for (SshChannel* channel : channels_) channel->handle_ = nullptr;
  spares_.clear();
  for (const auto& lane : lanes_) ssh_event_remove_session(event_.get(), lane->session->get());
  lanes_.clear();
  // Both functions own the jump hosts, which must be destroyed last.
  open_another_ = nullptr;
  trouble_ = nullptr;
}

SshLane& SshLoop::add_lane(std::unique_ptr<SshSession> session) {
  auto lane = std::make_unique<SshLane>(std::move(session), patience_);
  if (ssh_event_add_session(event_.get(), lane->session->get()) != SSH_OK) throw std::bad_alloc();
  lanes_.push_back(std::move(lane));
  return *lanes_.back();
}

SshLane& SshLoop::lane_for_channel() {
  if (!needs_one_process_each_) return *lanes_.front();
  for (const auto& lane : lanes_) {
    if (lane->channels == 0 && !lane->is_retired) return *lane;
  }
  try {
    // Also called after Ctrl-C, to end an application.
    const interrupt::MaskPendingSignal masked;
    SshLane& lane = add_lane(open_another_());
    drop_retired();
    return lane;
  } catch (const Error& error) {
    const auto* const failure = dynamic_cast<const ConnectFailure*>(&error);
    if (failure != nullptr && failure->why() == ConnectFailure::Why::host_key) {
      close();  // the first connection may have reached the wrong host, too
      throw;
    }
    log::verbose("{}; continuing with one connection", error.what());
    lanes_.front()->is_retired = false;
    return *lanes_.front();
  }
}

void SshLoop::drop_retired() {
  std::erase_if(lanes_, [this](const auto& lane) {
    if (!lane->is_retired || lane->channels > 0) return false;
    ssh_event_remove_session(event_.get(), lane->session->get());
    return true;
  });
}

const SshLane* SshLoop::find_dead_lane() const {
  const auto dead = std::find_if(lanes_.begin(), lanes_.end(), [](const auto& lane) {
    const bool is_used = !lane->is_retired || lane->channels > 0;
    return is_used && (!lane->session->is_alive() || lane->pulse.is_stuck());
  });
  return dead != lanes_.end() ? dead->get() : nullptr;
}

void SshLoop::pump(int milliseconds) {
  waiting_bytes_ = 0;
  const bool is_unseen = std::any_of(lanes_.begin(), lanes_.end(),
                                     [](const auto& lane) { return lane->has_unseen(); });
  if (is_unseen) milliseconds = 0;
  int code = is_alive() ? ssh_event_dopoll(event_.get(), milliseconds) : SSH_ERROR;
  for (int i = 0; i < kMaxPumpRounds && code == SSH_OK; ++i) {
    if (!is_alive() || waiting_bytes_ >= kPumpBytes) break;
    code = ssh_event_dopoll(event_.get(), 0);
  }
  for (const auto& lane : lanes_) lane->mark_seen();
  for (SshChannel* channel : channels_) channel->advance();
  if (is_out_of_memory_) throw std::bad_alloc();
  for (const auto& lane : lanes_) {
    if (lane->session->is_alive()) lane->pulse.probe();
  }
}

void SshLoop::deliver() {
  // Copies the list: a sink may start or destroy commands.
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
  const SshLane* dead = find_dead_lane();
  if (dead == nullptr) return;
  if (const std::string trouble = trouble_ ? trouble_() : std::string(); !trouble.empty()) {
    throw ConnectionLost(fmt::format("{}: the connection was lost: {}", name_, trouble));
  }
  constexpr std::string_view kPrefix = "Socket error: ";
  std::string reason = dead->session->error();
  if (reason.starts_with(kPrefix)) reason.erase(0, kPrefix.size());
  if (dead->pulse.is_stuck()) {
    reason = fmt::format("its SSH server has not responded for {:g} s", patience_.stuck_seconds);
  } else if (reason == "disconnected") {
    reason = "the board closed it";
  } else if (reason.find("timed out") != std::string::npos) {
    reason = fmt::format("no data from the board for {:g} s", patience_.silence_seconds);
  }
  throw ConnectionLost(fmt::format(
      "{}: the connection was lost: {}; is the board still on and on the network?", name_, reason));
}

void SshLoop::throw_silent(std::string_view what) const {
  throw ConnectionLost(fmt::format("{}: the connection was lost: no answer to {} for {:g} s", name_,
                                   what, patience_.silence_seconds));
}

// Skips spare channels that the host has closed or refused.
ssh_channel SshLoop::take_channel(const SshSession& session) {
  while (!spares_.empty()) {
    const ssh_channel spare = spares_.front();
    spares_.pop_front();
    if (ssh_channel_open_session(spare) != SSH_ERROR) return spare;
    has_spares_ = false;
    ssh_channel_free(spare);
  }
  const ssh_channel channel = ssh_channel_new(session.get());
  if (channel == nullptr) throw std::bad_alloc();
  return channel;
}

void SshLoop::open_spares(const SshSession& session) {
  while (has_spares_ && is_shared() && spares_.size() < kSpareChannels) {
    const ssh_channel spare = ssh_channel_new(session.get());
    if (spare == nullptr) throw std::bad_alloc();
    (void)ssh_channel_open_session(spare);  // the answer arrives while other packets are handled
    spares_.push_back(spare);
  }
}

SshChannel::SshChannel(std::shared_ptr<SshLoop> loop, Service service, StreamSink on_stdout,
                       StreamSink on_stderr)
    : loop_(std::move(loop)),
      lane_(loop_->lane_for_channel()),
      service_(std::move(service)),
      asked_at_(std::chrono::steady_clock::now()) {
  out_.sink = std::move(on_stdout);
  err_.sink = std::move(on_stderr);
  ssh_callbacks_init(&callbacks_);
  callbacks_.userdata = this;
  callbacks_.channel_data_function = on_data;
  callbacks_.channel_close_function = on_close;
  callbacks_.channel_exit_status_function = on_exit_status;
  callbacks_.channel_exit_signal_function = on_exit_signal;
  loop_->channels_.push_back(this);
  ++lane_.channels;
}

SshChannel::~SshChannel() {
  std::erase(loop_->channels_, this);
  if (handle_ == nullptr) return;
  --lane_.channels;
  lane_.is_retired = lane_.is_retired || (loop_->needs_one_process_each_ && !is_closed_);
  ssh_remove_channel_callbacks(handle_, &callbacks_);
  if (loop_->is_alive() && !is_closed_) {
    // Sends EOF first: without it ssh_channel_free() sends no close if the socket is busy. Data
    // that still arrives (dropbear continues to read) is limited by the channel's window.
    ssh_channel_send_eof(handle_);
  }
  ssh_channel_free(handle_);
}

std::unique_ptr<SshChannel> SshChannel::open(const std::shared_ptr<SshLoop>& loop,
                                             const Service& service, const StreamSink& on_stdout,
                                             const StreamSink& on_stderr) {
  for (int i = 0;; ++i) {
    loop->check();
    std::unique_ptr<SshChannel> channel(new SshChannel(loop, service, on_stdout, on_stderr));
    if (loop->is_shared() && !service.terminal) {
      channel->advance();
      return channel;
    }
    if (channel->is_accepted()) return channel;
    // The channel was closed before the request was answered: the host has not seen the request.
    if (!channel->is_closed_ || i + 1 == kMaxOpenings) channel->throw_refused();
  }
}

bool SshChannel::is_accepted() {
  for (;;) {
    advance();
    if (phase_ == Phase::accepted) return true;
    loop_->check();
    if (phase_ == Phase::refused) return false;
    check_silence();
    loop_->pump(kLongPollMs);
  }
}

void SshChannel::check_silence() const {
  const std::chrono::duration<double> silence = std::chrono::steady_clock::now() - asked_at_;
  if (silence.count() < loop_->patience().silence_seconds) return;
  loop_->throw_silent(phase_ == Phase::channel            ? "opening a channel"
                      : phase_ == Phase::terminal         ? "requesting a terminal"
                      : service_.request == Request::exec ? "starting a command"
                                                          : "starting a service");
}

void SshChannel::throw_refused() const {
  throw CommandRefused(
      fmt::format("{}: the board refuses to start a command: {}; does the account have a login "
                  "shell, and does its SSH server allow commands?",
                  loop_->name(), refusal_.empty() ? "no reason given" : refusal_));
}

// Sends the next request as soon as the previous one is answered.
void SshChannel::advance() {
  while (phase_ != Phase::accepted && phase_ != Phase::refused && loop_->is_alive()) {
    int code = ask_host();
    if (code == SSH_AGAIN && is_closed_) code = SSH_ERROR;
    if (has_asked_service_ && std::exchange(ends_input_, false) && !is_closed_) {
      ssh_channel_send_eof(handle_);
    }
    if (code == SSH_AGAIN) return;
    take_answer(code);
  }
}

int SshChannel::ask_host() {
  if (phase_ == Phase::channel) {
    if (handle_ == nullptr) {
      handle_ = loop_->take_channel(*lane_.session);
      // Registered first: a quick command sends output together with its acceptance.
      ssh_add_channel_callbacks(handle_, &callbacks_);
      const int code = ssh_channel_open_session(handle_);
      loop_->open_spares(*lane_.session);
      return code;
    }
    return ssh_channel_open_session(handle_);
  }
  if (phase_ == Phase::terminal) {
    const SshTerminal& wanted = *service_.terminal;
    return ssh_channel_request_pty_size(handle_, wanted.type.c_str(), wanted.columns, wanted.rows);
  }
  has_asked_service_ = true;
  return service_.request == Request::exec
             ? ssh_channel_request_exec(handle_, service_.text.c_str())
             : ssh_channel_request_subsystem(handle_, service_.text.c_str());
}

void SshChannel::take_answer(int code) {
  asked_at_ = std::chrono::steady_clock::now();
  const bool is_good = code == SSH_OK;
  if (phase_ == Phase::terminal) {
    has_terminal_ = is_good;
    phase_ = is_closed_ ? Phase::refused : Phase::service;
    return;
  }
  if (!is_good) {
    refusal_ = lane_.session->error();
    phase_ = Phase::refused;
  } else if (phase_ == Phase::service) {
    phase_ = Phase::accepted;
  } else {
    unasked_bytes_ = kWindowStep;
    keep_window_open();
    phase_ = service_.terminal ? Phase::terminal : Phase::service;
  }
}

int SshChannel::on_data(ssh_session, ssh_channel, void* data, std::uint32_t length, int is_stderr,
                        void* self) noexcept {
  auto& channel = *static_cast<SshChannel*>(self);
  try {
    auto& stream = is_stderr != 0 ? channel.err_ : channel.out_;
    stream.waiting.append(static_cast<const char*>(data), length);
    channel.loop_->waiting_bytes_ += length;
    channel.unasked_bytes_ += length;
  } catch (...) {
    channel.loop_->is_out_of_memory_ = true;
  }
  return static_cast<int>(length);
}

void SshChannel::on_close(ssh_session, ssh_channel, void* self) noexcept {
  static_cast<SshChannel*>(self)->is_closed_ = true;
}

void SshChannel::on_exit_status(ssh_session, ssh_channel, int status, void* self) noexcept {
  static_cast<SshChannel*>(self)->end_.exit_code = status;
}

void SshChannel::on_exit_signal(ssh_session, ssh_channel, const char* signal, int, const char*,
                                const char*, void* self) noexcept {
  auto& channel = *static_cast<SshChannel*>(self);
  try {
    channel.end_.signal = signal_name(signal);
  } catch (...) {
    channel.loop_->is_out_of_memory_ = true;
  }
}

void SshChannel::deliver(Stream& stream) {
  if (stream.waiting.empty()) return;
  // Swapped out first: if the sink throws, it must not get the same bytes again.
  stream.handling.clear();
  std::swap(stream.waiting, stream.handling);
  is_delivered_ = true;
  if (stream.sink) stream.sink(stream.handling);
}

void SshChannel::deliver() {
  deliver(out_);
  deliver(err_);
}

// Makes libssh extend the window, as it does when an application reads. The read returns nothing,
// because on_data() has consumed all data, including data that arrives during the call.
void SshChannel::keep_window_open() {
  if (handle_ == nullptr || is_closed_ || unasked_bytes_ < kWindowStep) return;
  unasked_bytes_ = 0;
  const std::unique_ptr<char[]> unused(new char[kWindowBytes]);
  (void)ssh_channel_read_timeout(handle_, unused.get(), kWindowBytes, 0, 0);
}

std::optional<CommandEnd> SshChannel::reported_end() const {
  if (!is_closed_ && !end_.exit_code && end_.signal.empty()) return std::nullopt;
  return end_;
}

bool SshChannel::can_write() const {
  return handle_ != nullptr && has_asked_service_ && !is_closed_ &&
         ssh_channel_window_size(handle_) > 0 &&
         (ssh_get_status(lane_.session->get()) & SSH_WRITE_PENDING) == 0;
}

std::size_t SshChannel::write(std::string_view bytes) {
  loop_->check();
  wants_write_ = !bytes.empty();
  if (bytes.empty() || !can_write()) return 0;
  const std::size_t window = ssh_channel_window_size(handle_);
  const std::size_t size = std::min({bytes.size(), window, kMaxWrite});
  const int taken = ssh_channel_write(handle_, bytes.data(), static_cast<std::uint32_t>(size));
  loop_->check();
  // A negative value means that the command has ended; wait() returns its result.
  if (taken <= 0) return 0;
  wants_write_ = static_cast<std::size_t>(taken) < bytes.size();
  return static_cast<std::size_t>(taken);
}

void SshChannel::resize(const SshTerminal& terminal) {
  loop_->check();
  // The host does not answer this request, so failures are ignored.
  if (has_terminal_ && !is_closed_) {
    (void)ssh_channel_change_pty_size(handle_, terminal.columns, terminal.rows);
  }
}

void SshChannel::close_input() {
  loop_->check();
  wants_write_ = false;
  if (!has_asked_service_) {
    ends_input_ = true;
  } else if (!is_closed_) {
    ssh_channel_send_eof(handle_);
  }
}

std::optional<CommandEnd> SshChannel::wait(std::chrono::milliseconds limit) {
  const Deadline deadline(limit);
  constexpr int kMax = 1000;  // how often to check that the host is alive
  is_delivered_ = false;
  for (;;) {
    if (loop_->is_alive()) keep_window_open();
    const bool busy = loop_->is_waiting() || is_closed_ || (wants_write_ && can_write());
    loop_->pump(busy ? 0 : deadline.milliseconds(kMax));
    if (phase_ != Phase::accepted) {
      loop_->check();
      if (phase_ == Phase::refused) throw_refused();
      check_silence();
    }
    // Delivers all output before reporting the end.
    loop_->deliver();
    if (is_closed_ && !is_waiting()) return end_;
    loop_->check();
    if (is_delivered_ || (wants_write_ && can_write()) || deadline.is_over()) return std::nullopt;
  }
}

}  // namespace msprof
