#include "support/loopback.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>

namespace msprof::test {

namespace {

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

Descriptor new_socket() {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (socket.get() < 0) fail("socket");
  return socket;
}

sockaddr_in loopback_address(std::uint16_t port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

std::uint16_t bind_to_port(const Descriptor& socket, std::uint16_t port) {
  sockaddr_in address = loopback_address(port);
  socklen_t length = sizeof address;
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0 ||
      ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    fail("bind");
  }
  return ntohs(address.sin_port);
}

void share_address(const Descriptor& socket) {
  const int yes = 1;
  if (::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0) {
    fail("SO_REUSEADDR");
  }
}

// Socket states in the kernel's table, include/net/tcp_states.h.
constexpr const char* kEstablished = "01";
constexpr const char* kListening = "0A";

// Reads the kernel's table: a test connection would appear in the server's log and counts.
std::size_t count_sockets(std::uint16_t port, std::string_view wanted_state) {
  char wanted_address[32];
  std::snprintf(wanted_address, sizeof wanted_address, "0100007F:%04X", port);
  std::ifstream table("/proc/net/tcp");
  std::size_t count = 0;
  for (std::string line; std::getline(table, line);) {
    std::istringstream words(line);
    std::string number;
    std::string address;
    std::string peer;
    std::string state;
    words >> number >> address >> peer >> state;
    if (address == wanted_address && state == wanted_state) ++count;
  }
  return count;
}

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

// SO_REUSEADDR is set after bind(): if set before, the kernel could give one port to two callers.
ReservedPort::ReservedPort() : socket_(new_socket()), number_(bind_to_port(socket_, 0)) {
  share_address(socket_);
}

// SO_REUSEADDR is set before bind(): otherwise a port that was just in use could not be bound.
ReservedPort::ReservedPort(std::uint16_t number) : socket_(new_socket()) {
  share_address(socket_);
  number_ = bind_to_port(socket_, number);
}

Descriptor ReservedPort::listen() const {
  Descriptor socket = new_socket();
  share_address(socket);
  const sockaddr_in address = loopback_address(number_);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(socket.get(), SOMAXCONN) != 0) {
    fail("listen");
  }
  return socket;
}

Descriptor listen_on_loopback(std::uint16_t& port) {
  Descriptor socket = new_socket();
  port = bind_to_port(socket, 0);
  if (::listen(socket.get(), SOMAXCONN) != 0) fail("listen");
  return socket;
}

Descriptor connect_to_loopback(std::uint16_t port) {
  Descriptor socket = new_socket();
  const sockaddr_in address = loopback_address(port);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    fail("connect");
  }
  return socket;
}

bool somebody_listens(std::uint16_t port) {
  return count_sockets(port, kListening) > 0;
}

std::size_t established_connections(std::uint16_t port) {
  return count_sockets(port, kEstablished);
}

}  // namespace msprof::test
