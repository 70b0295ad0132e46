// Ports and sockets of the loopback, for servers and proxies of tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace msprof::test {

// A file descriptor that the destructor closes.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  int get() const { return fd_; }

 private:
  int fd_;
};

// Reserves a free port of 127.0.0.1: during its lifetime the kernel assigns it to no other program,
// and only a server that sets SO_REUSEADDR can listen on it.
class ReservedPort {
 public:
  ReservedPort();
  // Reserves this port; throws if it is in use.
  explicit ReservedPort(std::uint16_t number);
  std::uint16_t number() const { return number_; }
  // Listens on the port until the result is destroyed.
  Descriptor listen() const;

 private:
  Descriptor socket_;
  std::uint16_t number_ = 0;
};

// Returns a socket that listens on a free port of 127.0.0.1, and sets `port`.
Descriptor listen_on_loopback(std::uint16_t& port);

// Throws if no program listens.
Descriptor connect_to_loopback(std::uint16_t port);

bool somebody_listens(std::uint16_t port);

// Number of connections of the server on `port`, including those not yet accepted.
std::size_t established_connections(std::uint16_t port);

}  // namespace msprof::test
