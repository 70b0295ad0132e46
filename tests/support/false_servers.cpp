#include <poll.h>
#include <sys/socket.h>

#include <cstddef>
#include <string_view>
#include <thread>
#include <vector>

#include "support/bell.hpp"
#include "support/network_proxy.hpp"

namespace msprof::test {

namespace {

constexpr std::string_view kAnswer =
    "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

// Reads until no data is left; returns false at the end of the connection.
bool drain(const Descriptor& connection) {
  char bytes[4096];
  return ::recv(connection.get(), bytes, sizeof bytes, 0) > 0;
}

}  // namespace

class NotSshServer::Engine {
 public:
  Engine() : listener_(listen_on_loopback(port)), thread_([this] { run(); }) {}
  ~Engine() {
    bell_.ring();
    thread_.join();
  }

  std::uint16_t port = 0;

 private:
  void run() {
    for (;;) {
      std::vector<pollfd> fds = {{bell_.fd(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
      for (const auto& connection : connections_) fds.push_back({connection.get(), POLLIN, 0});
      ::poll(fds.data(), fds.size(), -1);
      if (fds[0].revents != 0) return;
      // Read to the end before closing, so that the client sees an end of file. A reset could
      // discard the answer.
      for (std::size_t i = fds.size(); i-- > 2;) {
        if (fds[i].revents == 0 || drain(connections_[i - 2])) continue;
        connections_.erase(connections_.begin() + static_cast<std::ptrdiff_t>(i - 2));
      }
      if (fds[1].revents != 0) answer();
    }
  }

  void answer() {
    Descriptor connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (connection.get() < 0) return;
    ::send(connection.get(), kAnswer.data(), kAnswer.size(), MSG_NOSIGNAL);
    ::shutdown(connection.get(), SHUT_WR);
    connections_.push_back(std::move(connection));
  }

  Bell bell_;
  Descriptor listener_;
  std::vector<Descriptor> connections_;
  std::thread thread_;
};

NotSshServer::NotSshServer() : engine_(std::make_unique<Engine>()) {}

NotSshServer::~NotSshServer() = default;

std::uint16_t NotSshServer::port() const {
  return engine_->port;
}

}  // namespace msprof::test
