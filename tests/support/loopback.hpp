// Ports and sockets of the loopback, for servers and proxies of tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace msprof::test {

// A file descriptor that is closed when it goes.
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

// A free port of 127.0.0.1 that stays ours: nobody else is given it while this lives, a server that
// sets SO_REUSEADDR can listen on it, and nobody listens otherwise.
class ReservedPort {
 public:
  ReservedPort();
  // This one; throws where it is taken.
  explicit ReservedPort(std::uint16_t number);
  std::uint16_t number() const { return number_; }
  // Listens on it, until the result goes.
  Descriptor listen() const;

 private:
  Descriptor socket_;
  std::uint16_t number_ = 0;
};

// A socket that listens on a free port of 127.0.0.1.
Descriptor listen_on_loopback(std::uint16_t& port);

// Throws where nobody listens.
Descriptor connect_to_loopback(std::uint16_t port);

bool somebody_listens(std::uint16_t port);

// How many connections the server on `port` has, those it has not accepted yet included.
std::size_t established_connections(std::uint16_t port);

}  // namespace msprof::test
