#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "base/text.hpp"
#include "ssh/ssh_loop.hpp"

namespace msprof {

namespace {

// dropbear closes a channel that has no command yet when another command ends at that moment.
constexpr int kMostOpenings = 5;

// At most this much is handed to the library at once; it keeps what the socket does not take.
constexpr std::size_t kMostWrite = 256 << 10;

// How much a host may send unasked, as much as OpenSSH's client lets it: what it sends in one round
// trip. The library's own window begins with 64 KB and is opened again when half of 1.2 MB is used.
constexpr std::uint32_t kWindowBytes = 2 << 20;
constexpr std::uint32_t kWindowStep = 256 << 10;

// "SEGV": letters and digits of what a host calls a signal.
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

SshChannel::SshChannel(std::shared_ptr<SshLoop> loop, StreamSink on_stdout, StreamSink on_stderr)
    : loop_(std::move(loop)), lane_(loop_->lane_for_channel()) {
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
  lane_.retired = lane_.retired || (loop_->one_process_each_ && !closed_);
  ssh_remove_channel_callbacks(handle_, &callbacks_);
  if (loop_->is_alive() && !closed_) {
    // Without this first, ssh_channel_free() sends no close where the socket is busy. What still
    // comes (dropbear reads on) fills the channel's window and no more.
    ssh_channel_send_eof(handle_);
  }
  ssh_channel_free(handle_);
}

std::unique_ptr<SshChannel> SshChannel::open(std::shared_ptr<SshLoop> loop, const Service& service,
                                             StreamSink on_stdout, StreamSink on_stderr,
                                             std::string& refusal) {
  for (int i = 0; i < kMostOpenings; ++i) {
    loop->check();
    std::unique_ptr<SshChannel> channel(new SshChannel(loop, on_stdout, on_stderr));
    if (channel->open_session(service, refusal)) return channel;
    if (!channel->closed_) break;
  }
  if (refusal.empty()) refusal = "it gives no reason";
  return nullptr;
}

// False with the reason, where the host tells one. The channel is then closed where the host closed
// it without an answer to the request, which it has not seen.
bool SshChannel::open_session(const Service& service, std::string& refusal) {
  const SshSession& session = *lane_.session;
  handle_ = ssh_channel_new(session.get());
  if (handle_ == nullptr) throw std::bad_alloc();
  const auto step = [&](std::string_view what, const std::function<int()>& call) {
    const auto call_until_closed = [&] {
      const int code = call();
      return code == SSH_AGAIN && closed_ ? SSH_ERROR : code;
    };
    if (loop_->finish(what, call_until_closed) == SSH_OK) return true;
    loop_->check();
    refusal = session.error();
    return false;
  };
  // First: a quick command answers together with its acceptance.
  ssh_add_channel_callbacks(handle_, &callbacks_);
  if (!step("opening a channel", [&] { return ssh_channel_open_session(handle_); })) return false;
  unasked_bytes_ = kWindowStep;
  keep_window_open();
  if (const auto& wanted = service.terminal) {
    has_terminal_ = step("asking for a terminal", [&] {
      return ssh_channel_request_pty_size(handle_, wanted->type.c_str(), wanted->columns,
                                          wanted->rows);
    });
    if (closed_) return false;
    refusal.clear();
  }
  const char* text = service.text.c_str();
  if (service.request == Request::exec) {
    return step("starting a command", [&] { return ssh_channel_request_exec(handle_, text); });
  }
  return step("starting a service", [&] { return ssh_channel_request_subsystem(handle_, text); });
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
    channel.loop_->out_of_memory_ = true;
  }
  return static_cast<int>(length);
}

void SshChannel::on_close(ssh_session, ssh_channel, void* self) noexcept {
  static_cast<SshChannel*>(self)->closed_ = true;
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
    channel.loop_->out_of_memory_ = true;
  }
}

void SshChannel::deliver(Stream& stream) {
  if (stream.waiting.empty()) return;
  // Taken out first: a sink that throws does not get the same bytes again.
  stream.handling.clear();
  std::swap(stream.waiting, stream.handling);
  delivered_ = true;
  if (stream.sink) stream.sink(stream.handling);
}

void SshChannel::deliver() {
  deliver(out_);
  deliver(err_);
}

// The library opens a window only for who reads more than it holds. Nothing is read: on_data() has
// taken all, also what comes within the call.
void SshChannel::keep_window_open() {
  if (closed_ || unasked_bytes_ < kWindowStep) return;
  unasked_bytes_ = 0;
  const std::unique_ptr<char[]> unused(new char[kWindowBytes]);
  (void)ssh_channel_read_timeout(handle_, unused.get(), kWindowBytes, 0, 0);
}

std::optional<CommandEnd> SshChannel::reported_end() const {
  if (!closed_ && !end_.exit_code && end_.signal.empty()) return std::nullopt;
  return end_;
}

bool SshChannel::can_write() const {
  return handle_ != nullptr && !closed_ && ssh_channel_window_size(handle_) > 0 &&
         (ssh_get_status(lane_.session->get()) & SSH_WRITE_PENDING) == 0;
}

std::size_t SshChannel::write(std::string_view bytes) {
  loop_->check();
  wants_write_ = !bytes.empty();
  if (bytes.empty() || !can_write()) return 0;
  const std::size_t window = ssh_channel_window_size(handle_);
  const std::size_t size = std::min({bytes.size(), window, kMostWrite});
  const int taken = ssh_channel_write(handle_, bytes.data(), static_cast<std::uint32_t>(size));
  loop_->check();
  // Below 0: the command has ended; wait() says how.
  if (taken <= 0) return 0;
  wants_write_ = static_cast<std::size_t>(taken) < bytes.size();
  return static_cast<std::size_t>(taken);
}

void SshChannel::resize(const SshTerminal& terminal) {
  loop_->check();
  // Nobody answers; what the host makes of it is its own affair.
  if (has_terminal_ && !closed_) {
    (void)ssh_channel_change_pty_size(handle_, terminal.columns, terminal.rows);
  }
}

void SshChannel::close_input() {
  loop_->check();
  wants_write_ = false;
  if (!closed_) ssh_channel_send_eof(handle_);
}

std::optional<CommandEnd> SshChannel::wait(std::chrono::milliseconds limit) {
  const Deadline deadline(limit);
  constexpr int kMost = 1000;  // then a look whether the host is still there
  delivered_ = false;
  for (;;) {
    if (loop_->is_alive()) keep_window_open();
    const bool busy = loop_->is_waiting() || closed_ || (wants_write_ && can_write());
    loop_->pump(busy ? 0 : deadline.milliseconds(kMost));
    // What came before the end is handed on before the end is told.
    loop_->deliver();
    if (closed_ && !is_waiting()) return end_;
    loop_->check();
    if (delivered_ || (wants_write_ && can_write()) || deadline.is_over()) return std::nullopt;
  }
}

}  // namespace msprof
