#include "ssh/ssh_session.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <libssh/server.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <new>
#include <utility>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "ssh/deadline.hpp"

namespace msprof {

namespace {

// The offered algorithms, best first. libssh ignores unknown names.
//
// libssh's defaults, followed by the best ones of boards with an SDK of 2012-2019. These need
// SHA-1, whose known collisions affect neither handshakes nor MACs; without it such a board could
// be reached only by telnet. Ciphers are libssh's defaults: ChaCha20 first, as in OpenSSH, for
// boards without AES instructions; with AES instructions on both sides, the cipher is not the
// bottleneck.
constexpr const char* kKeyExchanges =
    "mlkem768x25519-sha256,sntrup761x25519-sha512,sntrup761x25519-sha512@openssh.com,"
    "curve25519-sha256,curve25519-sha256@libssh.org,ecdh-sha2-nistp256,ecdh-sha2-nistp384,"
    "ecdh-sha2-nistp521,diffie-hellman-group18-sha512,diffie-hellman-group16-sha512,"
    "diffie-hellman-group-exchange-sha256,diffie-hellman-group14-sha256,"
    "diffie-hellman-group14-sha1";

constexpr const char* kMacs =
    "hmac-sha2-256-etm@openssh.com,hmac-sha2-512-etm@openssh.com,hmac-sha2-256,hmac-sha2-512,"
    "hmac-sha1";

// Time limit for the last message to the host.
constexpr int kFarewellMilliseconds = 200;
constexpr std::size_t kMaxGreeting = 255;  // RFC 4253, 4.2: the longest identification line

// Extracts the algorithms that one side offers from libssh's message "...: server [a,b], client
// [c]", without pseudo-algorithms that signal extensions.
std::string parse_offer(std::string_view text, std::string_view side) {
  const auto at = text.find(side);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + side.size());
  const auto end = text.find(']');
  auto names = split(text.substr(0, end), ',');
  // libssh truncates its message at 1,023 bytes.
  const bool is_cut = end == std::string_view::npos;
  if (is_cut) names.pop_back();
  std::string list;
  for (const std::string_view name : names) {
    if (name.empty() || name.starts_with("kex-strict-") || name.starts_with("ext-info-")) continue;
    list += (list.empty() ? "" : ", ") + std::string(name);
  }
  if (is_cut) list += list.empty() ? "…" : ", …";
  return list.empty() ? "none" : list;
}

// Returns "cipher" for libssh's name "encryption client->server".
std::string_view algorithm_kind(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
      {"kex", "key exchange"},
      {"server host key", "host key"},
      {"encryption", "cipher"},
      {"mac", "MAC"},
      {"compression", "compression"}};
  for (const auto& [begin, kind] : kKinds) {
    if (name.starts_with(begin)) return kind;
  }
  return name;
}

}  // namespace

SshSession::SshSession(const SshLogin& login, FileDescriptor socket,
                       const std::string& host_key_types)
    : name_(login.name()),
      role_(login.role),
      port_(login.port),
      timeout_seconds_(login.connect_timeout_seconds),
      socket_(std::move(socket)),
      session_(ssh_new()) {
  if (!session_) throw std::bad_alloc();
  ssh_set_log_level(SSH_LOG_NOLOG);
  const bool no = false;
  const long timeout = std::lround(std::ceil(login.connect_timeout_seconds));
  const socket_t fd = socket_.get();
  // The user's ssh_config may contain a ProxyCommand and would override the board.ini.
  set(SSH_OPTIONS_PROCESS_CONFIG, &no, "config");
  set(SSH_OPTIONS_SSH_DIR, login.ssh_folder.c_str(), "folder");
  // known_hosts is checked in host_key.cpp, which reports file and line and adds no unchecked key.
  set(SSH_OPTIONS_KNOWNHOSTS, "/dev/null", "known_hosts");
  set(SSH_OPTIONS_GLOBAL_KNOWNHOSTS, "/dev/null", "known_hosts");
  set(SSH_OPTIONS_HOST, "board", "host");
  set(SSH_OPTIONS_USER, login.user.c_str(), "user name");
  set(SSH_OPTIONS_TIMEOUT, &timeout, "timeout");
  set(SSH_OPTIONS_FD, &fd, "socket");
  set(SSH_OPTIONS_KEY_EXCHANGE, kKeyExchanges, "key exchange");
  set(SSH_OPTIONS_HMAC_C_S, kMacs, "MAC");
  set(SSH_OPTIONS_HMAC_S_C, kMacs, "MAC");
  set(SSH_OPTIONS_HOSTKEYS, host_key_types.c_str(), "host key");
  set(SSH_OPTIONS_PUBLICKEY_ACCEPTED_TYPES,
      fmt::format("{},{}", fmt::join(kCertificateTypes, ","), fmt::join(kKeyTypes, ",")).c_str(),
      "key");
  ssh_set_blocking(get(), 0);
  // Refuses channels and forwardings that the host requests; otherwise libssh stores each request.
  ssh_set_message_callback(
      get(), [](ssh_session, ssh_message, void*) { return 1; }, nullptr);
}

SshSession::~SshSession() {
  if (is_alive()) (void)ssh_blocking_flush(get(), kFarewellMilliseconds);
  // libssh closes the socket if the connection fails, but otherwise leaves it to the caller.
  if (ssh_get_fd(get()) < 0) (void)socket_.release();
  ssh_disconnect(get());
}

void SshSession::set(ssh_options_e option, const void* value, const char* what) {
  if (ssh_options_set(get(), option, value) == SSH_OK) return;
  throw Error(Exit::usage, fmt::format("{}: the SSH library does not accept this {}: {}",
                                       printable(name_), what, error()));
}

bool SshSession::is_alive() const {
  return ssh_is_connected(get()) != 0 &&
         (ssh_get_status(get()) & (SSH_CLOSED | SSH_CLOSED_ERROR)) == 0;
}

std::string SshSession::error() const {
  return printable(ssh_get_error(get()));
}

// libssh makes the socket blocking after connecting. A signal interrupts a blocking send, which
// libssh treats as a lost connection.
void SshSession::keep_non_blocking() const {
  const int flags = ::fcntl(socket_.get(), F_GETFL);
  if (flags >= 0 && (flags & O_NONBLOCK) == 0) {
    (void)::fcntl(socket_.get(), F_SETFL, flags | O_NONBLOCK);
  }
}

// Keeps the host's first bytes for the message that it is not an SSH server.
void SshSession::check_greeting() {
  if (ssh_get_serverbanner(get()) != nullptr || greeting_.size() >= kMaxGreeting) return;
  std::array<char, kMaxGreeting> bytes{};
  const ssize_t count = ::recv(socket_.get(), bytes.data(), bytes.size(), MSG_PEEK | MSG_DONTWAIT);
  if (count > 0) greeting_.append(bytes.data(), static_cast<std::size_t>(count));
}

void SshSession::wait(const Deadline& deadline) {
  for (;;) {
    interrupt::check();
    const bool writes = (ssh_get_poll_flags(get()) & SSH_WRITE_PENDING) != 0;
    const auto events = static_cast<short>(writes ? POLLIN | POLLOUT : POLLIN);
    pollfd entry = {socket_.get(), events, 0};
    const int count = ::poll(&entry, 1, deadline.milliseconds(kInterruptPollMs));
    // Also ends the wait for a host that sends single bytes and never completes a line.
    if (deadline.is_over()) throw_silent();
    if (count > 0 || (count < 0 && errno != EINTR)) return;
  }
}

int SshSession::finish(int again, const std::function<int()>& step) {
  const Deadline deadline{std::chrono::duration<double>(timeout_seconds_)};
  for (;;) {
    const int code = step();
    if (code != again) return code;
    // libssh continues to return `again` after the host has closed the connection.
    if (!is_alive()) return SSH_ERROR;
    keep_non_blocking();
    wait(deadline);
    check_greeting();
  }
}

int SshSession::finish(const std::function<int()>& step) {
  return finish(SSH_AUTH_AGAIN, step);
}

void SshSession::handshake() {
  if (finish(SSH_AGAIN, [this] { return ssh_connect(get()); }) != SSH_OK) throw_handshake_failed();
  keep_non_blocking();
  log::verbose("{}: {}, {}, cipher {}, MAC {}", name_, printable(ssh_get_serverbanner(get())),
               ssh_get_kex_algo(get()), ssh_get_cipher_in(get()), ssh_get_hmac_in(get()));
}

void SshSession::throw_silent() const {
  const bool is_ssh = ssh_get_serverbanner(get()) != nullptr;
  throw ConnectFailure(
      ConnectFailure::Why::unreachable,
      is_ssh ? fmt::format("{}: the {}'s SSH server has not answered for {:g} s (limit: "
                           "--connect-timeout, or connect_timeout in the ini)",
                           name_, role_, timeout_seconds_)
             : fmt::format(
                   "{}: no answer within {:g} s from port {}, which accepted the connection; is it "
                   "the SSH port? (limit: --connect-timeout, or connect_timeout in the ini)",
                   name_, timeout_seconds_, port_));
}

void SshSession::throw_handshake_failed() const {
  const std::string reason = error();
  constexpr std::string_view kNoMatch = "no match for method ";
  std::string sentence;
  auto why = ConnectFailure::Why::unreachable;
  if (const auto at = reason.find(kNoMatch); at != std::string::npos) {
    const std::string_view rest = std::string_view(reason).substr(at + kNoMatch.size());
    why = ConnectFailure::Why::refused;
    sentence = fmt::format(
        "no common {} algorithm: the {} offers {}, msprof supports {}; install a newer SSH server "
        "on it (OpenSSH 7.2, dropbear 2020.79 or later)",
        algorithm_kind(rest), role_, parse_offer(rest, "server ["), parse_offer(rest, "client ["));
  } else if (ssh_get_serverbanner(get()) != nullptr) {
    sentence = fmt::format("the {} ended the SSH handshake: {}", role_, reason);
  } else if (!greeting_.empty() && greeting_.find("SSH-") == std::string::npos) {
    const std::string_view line = trim(std::string_view(greeting_).substr(0, greeting_.find('\n')));
    sentence = fmt::format("port {} is not an SSH server (it answered \"{}\"); is the port right?",
                           port_, printable(line));
  } else {
    sentence = fmt::format(
        "port {} closed the connection without an SSH greeting; is it the {}'s SSH server, and "
        "does "
        "it accept this machine?",
        port_, role_);
  }
  throw ConnectFailure(why, fmt::format("{}: {}", name_, sentence));
}

}  // namespace msprof
