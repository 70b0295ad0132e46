// Tunnels of a jump host with full windows must move their bytes as soon as possible. A tunnel that
// moves bytes only once per second exceeds the limit.
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "slow_polls.hpp"
#include "ssh/authentication.hpp"
#include "ssh/host_key.hpp"
#include "ssh/jump_host.hpp"
#include "ssh/tcp_connect.hpp"
#include "ssh_fixture.hpp"
#include "support/bell.hpp"
#include "support/eventually.hpp"
#include "support/network_proxy.hpp"

using namespace msprof;
using namespace msprof::test;

namespace {

constexpr std::chrono::minutes kTunnelLimit{1};
// Idle tunnels are polled after the bytes of the first tunnel were moved, so that the server's
// answers arrive during these polls.
constexpr int kIdleTunnels = 20;
constexpr std::chrono::microseconds kPollTime{100};
// Longer than the polls of the first tunnel, but shorter than the polls of all tunnels.
constexpr std::chrono::microseconds kEchoTime{1000};
// dropbear's receive window.
constexpr std::size_t kDropbearWindow = 24 << 10;

// Accepts connections on the loopback and counts their bytes; if `echoes`, sends them back.
class TunnelEnd {
 public:
  explicit TunnelEnd(bool echoes)
      : echoes_(echoes), listener_(listen_on_loopback(port_)), thread_([this] { serve(); }) {}
  ~TunnelEnd() {
    stopped_ = true;
    bell_.ring();
    thread_.join();
  }
  TunnelEnd(const TunnelEnd&) = delete;
  TunnelEnd& operator=(const TunnelEnd&) = delete;

  std::uint16_t port() const { return port_; }
  std::uint64_t bytes() const { return bytes_; }
  std::size_t open() const { return open_; }

 private:
  void serve() {
    std::vector<Descriptor> clients;
    while (!stopped_) {
      std::vector<pollfd> fds = {{bell_.fd(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
      for (const Descriptor& client : clients) fds.push_back({client.get(), POLLIN, 0});
      ::poll(fds.data(), fds.size(), -1);
      for (std::size_t i = clients.size(); i-- > 0;) {
        if (fds[i + 2].revents == 0 || take(clients[i])) continue;
        clients.erase(clients.begin() + static_cast<std::ptrdiff_t>(i));
      }
      if (fds[1].revents != 0) {
        clients.emplace_back(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      }
      open_ = clients.size();
    }
  }

  // Returns false at the end of the connection.
  bool take(const Descriptor& client) {
    std::array<char, 64 << 10> buffer;
    const ssize_t count = ::recv(client.get(), buffer.data(), buffer.size(), 0);
    if (count <= 0) return false;
    if (echoes_) {
      std::this_thread::sleep_for(kEchoTime);
      (void)!::send(client.get(), buffer.data(), static_cast<std::size_t>(count), MSG_NOSIGNAL);
    }
    bytes_ += static_cast<std::uint64_t>(count);
    return true;
  }

  const bool echoes_;
  std::uint16_t port_ = 0;
  Descriptor listener_;
  Bell bell_;
  std::atomic<bool> stopped_ = false;
  std::atomic<std::uint64_t> bytes_ = 0;
  std::atomic<std::size_t> open_ = 0;
  std::thread thread_;
};

std::unique_ptr<JumpHost> jump_over(const SshLogin& login) {
  const HostKeyCheck host_key(login, false);
  auto session =
      std::make_unique<SshSession>(login, tcp_connect(login), host_key.preferred_types());
  session->handshake();
  LoginKeys keys(login);
  log_in(*session, login, keys, UseAgent::no);
  return std::make_unique<JumpHost>(std::move(session), login);
}

template <typename Server>
SshLogin tunnel_to(const Server& end) {
  SshLogin login;
  login.host = BoardServer::host();
  login.port = end.port();
  login.user = BoardServer::user();
  login.connect_timeout_seconds = 60;
  return login;
}

// A tunnel and idle ones, on a machine that becomes slow once they are open.
struct BusyTunnel {
  explicit BusyTunnel(bool echoes)
      : gate({.kind = BoardKind::dropbear}), end(echoes), jump(jump_over(login_to(gate))) {
    socket = jump->connect(tunnel_to(end));
    for (int i = 0; i < kIdleTunnels; ++i) idle.push_back(jump->connect(tunnel_to(nothing)));
    slow.emplace(kPollTime);
  }

  BoardServer gate;
  TunnelEnd end;
  SilentServer nothing;
  std::unique_ptr<JumpHost> jump;
  FileDescriptor socket;
  std::vector<FileDescriptor> idle;
  std::optional<SlowPolls> slow;
};

void wait_for_tunnel(const FileDescriptor& socket, short events,
                     std::chrono::steady_clock::time_point until) {
  pollfd entry = {socket.get(), events, 0};
  ::poll(&entry, 1, 1000);
  if (std::chrono::steady_clock::now() > until)
    throw std::runtime_error("the tunnel moves nothing");
}

// Throws after kTunnelLimit.
void send_into(const FileDescriptor& socket, std::string_view bytes) {
  const auto until = std::chrono::steady_clock::now() + kTunnelLimit;
  while (!bytes.empty()) {
    const ssize_t count = ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
    if (count < 0 && errno != EAGAIN) throw std::runtime_error("the tunnel was closed");
    if (!bytes.empty()) wait_for_tunnel(socket, POLLOUT, until);
  }
}

}  // namespace

TEST_CASE("A window that opens while other tunnels are polled is used at once") {
  const BusyTunnel tunnel(false);
  const std::string bytes = pattern(300 * kDropbearWindow);
  send_into(tunnel.socket, bytes);
  CHECK(eventually([&] { return tunnel.end.bytes() == bytes.size(); }));
}

TEST_CASE("Bytes that arrive while other tunnels are polled are passed on at once") {
  const BusyTunnel tunnel(true);
  const auto until = std::chrono::steady_clock::now() + kTunnelLimit;
  for (int i = 0; i < 200; ++i) {
    const char sent = static_cast<char>(i);
    char came = 0;
    send_into(tunnel.socket, {&sent, 1});
    while (::recv(tunnel.socket.get(), &came, 1, 0) != 1) {
      wait_for_tunnel(tunnel.socket, POLLIN, until);
    }
    REQUIRE(came == sent);
  }
}

TEST_CASE("The last bytes written to a tunnel arrive although its jump host is closed") {
  const BoardServer gate({.kind = BoardKind::dropbear});
  const DelayProxy line(gate.port(), std::chrono::milliseconds(10));
  const TunnelEnd end(false);
  const std::string bytes = pattern(4 * kDropbearWindow);
  // Closing has a time limit, which a busy machine may exceed.
  bool has_come = false;
  for (int i = 0; i < 10 && !has_come; ++i) {
    const std::uint64_t before = end.bytes();
    {
      const auto jump = jump_over(login_through(gate, line.port()));
      const FileDescriptor socket = jump->connect(tunnel_to(end));
      send_into(socket, bytes);
    }
    REQUIRE(eventually([&] { return end.open() == 0; }));
    has_come = end.bytes() - before == bytes.size();
  }
  CHECK(has_come);
}
