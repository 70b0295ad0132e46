#include "ssh/tcp_connect.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <future>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "ssh/deadline.hpp"
#include "ssh/ssh_connection.hpp"

namespace msprof {

namespace {

struct Address {
  sockaddr_storage bytes = {};
  socklen_t length = 0;
};

struct Resolution {
  int code = 0;  // result of getaddrinfo
  std::vector<Address> addresses;
};

Resolution resolve(const std::string& host, const std::string& port, int flags) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  Resolution result;
  result.code = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &list);
  if (result.code != 0) return result;
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    Address address;
    address.length = entry->ai_addrlen;
    std::memcpy(&address.bytes, entry->ai_addr, entry->ai_addrlen);
    result.addresses.push_back(address);
  }
  ::freeaddrinfo(list);
  return result;
}

[[noreturn]] void throw_no_answer(const SshLogin& login) {
  throw ConnectFailure(
      ConnectFailure::Why::unreachable,
      fmt::format("{}: no answer within {:g} s; is the {} on and is its address right? (limit: "
                  "--connect-timeout, or connect_timeout in the ini)",
                  login.name(), login.connect_timeout_seconds, login.role));
}

// A silent name server blocks getaddrinfo for half a minute, so it runs in a detached thread.
Resolution resolve_in_time(const SshLogin& login, const Deadline& deadline) {
  const std::string port = std::to_string(login.port);
  Resolution numeric = resolve(login.host, port, AI_NUMERICHOST);
  if (numeric.code == 0) return numeric;
  std::packaged_task<Resolution()> task(
      [host = login.host, port] { return resolve(host, port, 0); });
  auto answer = task.get_future();
  std::thread(std::move(task)).detach();
  while (answer.wait_for(std::chrono::milliseconds(kInterruptPollMs)) !=
         std::future_status::ready) {
    interrupt::check();
    if (deadline.is_over()) {
      throw ConnectFailure(ConnectFailure::Why::unreachable,
                           fmt::format("{}: no name server answered within {:g} s; give its IP "
                                       "address (like 192.168.1.10) instead",
                                       login.name(), login.connect_timeout_seconds));
    }
  }
  return answer.get();
}

// Returns 0 or the errno of the failure; ETIMEDOUT when `deadline` is over.
int finish_connect(int fd, const Deadline& deadline) {
  for (;;) {
    interrupt::check();
    pollfd entry = {fd, POLLOUT, 0};
    const int count = ::poll(&entry, 1, deadline.milliseconds(kInterruptPollMs));
    if (count < 0 && errno != EINTR) return errno;
    if (count > 0) break;
    if (deadline.is_over()) return ETIMEDOUT;
  }
  int error = 0;
  socklen_t length = sizeof error;
  if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0) return errno;
  return error;
}

void set_option(int fd, int level, int option, int value) {
  // Ignores errors: some kernels lack these options, and the connection works without them.
  (void)::setsockopt(fd, level, option, &value, sizeof value);
}

// Sends probes after a quarter of `silence_seconds` without traffic; after all of it, the
// connection is lost.
void enable_keepalive(int fd, double silence_seconds) {
  // The kernel's unit is whole seconds.
  const int probe_seconds = std::max(1, static_cast<int>(silence_seconds / 4));
  set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, probe_seconds);
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, probe_seconds);
  set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
  set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(silence_seconds * 1000));
}

int connect_to(const Address& address, const Deadline& deadline, FileDescriptor& result) {
  FileDescriptor fd(
      ::socket(address.bytes.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return errno;
  const auto* bytes = reinterpret_cast<const sockaddr*>(&address.bytes);
  int error = 0;
  if (::connect(fd.get(), bytes, address.length) != 0) {
    error = errno == EINPROGRESS || errno == EINTR ? finish_connect(fd.get(), deadline) : errno;
  }
  if (error != 0) return error;
  result = std::move(fd);
  return 0;
}

[[noreturn]] void throw_not_connected(const SshLogin& login, int error) {
  if (error == ETIMEDOUT) throw_no_answer(login);
  if (error == ECONNREFUSED) {
    throw ConnectFailure(
        ConnectFailure::Why::unreachable,
        fmt::format(
            "{}: connection refused on port {}; is its SSH server running, and is the port right?",
            login.name(), login.port));
  }
  throw ConnectFailure(ConnectFailure::Why::unreachable,
                       fmt::format("{}: cannot connect: {}; is the {} on, on this network, and "
                                   "its address right?",
                                   login.name(), errno_text(error), login.role));
}

}  // namespace

FileDescriptor tcp_connect(const SshLogin& login) {
  const std::chrono::duration<double> limit(login.connect_timeout_seconds);
  const Deadline deadline(limit);
  const Resolution found = resolve_in_time(login, deadline);
  if (found.code != 0) {
    throw ConnectFailure(
        ConnectFailure::Why::unreachable,
        fmt::format(
            "{}: unknown host {}: {}; check the name, or give its IP address (like 192.168.1.10)",
            login.name(), login.host, ::gai_strerror(found.code)));
  }
  FileDescriptor fd;
  int error = EHOSTUNREACH;
  const double count = static_cast<double>(found.addresses.size());
  for (const Address& address : found.addresses) {
    // Divides the time among the addresses, so that an unreachable one does not use all of it.
    error = connect_to(address, Deadline(limit / count), fd);
    if (error != 0) continue;
    enable_keepalive(fd.get(), login.patience.silence_seconds);
    return fd;
  }
  throw_not_connected(login, error);
}

}  // namespace msprof
