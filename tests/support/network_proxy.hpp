// A network between a client and a server on the loopback that cuts, delays or freezes connections,
// and servers that do not speak SSH: for tests that must neither hang nor lose data. Each runs its
// own thread; clients connect to 127.0.0.1 on port().
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

#include "support/loopback.hpp"

namespace msprof::test {

// From the client's view: up is towards the server.
enum class Direction { up, down, both };

// reset: the peers get an error immediately (RST); close: they read an end of file (FIN); freeze:
// no cut, but the whole proxy stops until freeze(false).
enum class CutKind { reset, close, freeze };

inline constexpr int kAllConnections = std::numeric_limits<int>::max();

// Breaks a connection after exactly this many of its bytes have been forwarded.
struct Cut {
  std::uint64_t after_bytes = 0;
  Direction direction = Direction::both;
  int connections = 1;  // number of connections that are cut, from the first
  CutKind kind = CutKind::reset;
  bool refuse_afterwards = false;  // no listener on the port after the last cut
};

// Properties of the simulated network.
struct Line {
  std::chrono::microseconds round_trip{0};
  std::optional<Cut> cut{};
  std::uint64_t bytes_per_second = 0;      // in each direction, over all connections; 0: no limit
  std::chrono::milliseconds cut_every{0};  // all current connections; 0: never
  std::uint16_t port = 0;                  // port to listen on; 0: a free one
};

class NetworkProxy {
 public:
  NetworkProxy(std::uint16_t target_port, const Line& line);
  NetworkProxy(std::uint16_t target_port, std::chrono::microseconds round_trip,
               const std::optional<Cut>& cut);
  ~NetworkProxy();

  std::uint16_t port() const;
  // Bytes sent by and to clients, over all connections, including handshakes.
  std::uint64_t bytes_up() const;
  std::uint64_t bytes_down() const;
  int connections() const;  // count so far
  int cuts() const;         // count so far
  // How often a client has sent data after receiving an answer, over all connections. Includes data
  // that needs no answer, such as acknowledgements.
  int turns() const;
  // The number of connections plus the number of turns at least one round trip after the previous
  // one. A client that waits for answers has at most one per wait.
  int round_trips() const;

  // The following functions return once they have taken effect. cut_now() cuts all current
  // connections.
  void cut_now(CutKind kind = CutKind::reset);
  // Refuses new connections, like a host without a server, or accepts them again.
  void refuse(bool refused);
  // true: forwards nothing and closes nothing, as if a cable were unplugged; false: continues.
  void freeze(bool frozen);

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

class CutProxy : public NetworkProxy {
 public:
  CutProxy(std::uint16_t target_port, const Cut& cut) : NetworkProxy(target_port, {}, cut) {}
  // Cuts only on request.
  explicit CutProxy(std::uint16_t target_port) : NetworkProxy(target_port, {}, std::nullopt) {}
};

// Delays all bytes by half a round trip in each direction, without limiting the rate.
class DelayProxy : public NetworkProxy {
 public:
  DelayProxy(std::uint16_t target_port, std::chrono::microseconds round_trip)
      : NetworkProxy(target_port, round_trip, std::nullopt) {}
};

// Accepts connections and sends no data.
class SilentServer {
 public:
  SilentServer() : socket_(listen_on_loopback(port_)) {}
  std::uint16_t port() const { return port_; }

 private:
  std::uint16_t port_ = 0;
  Descriptor socket_;
};

// Answers every connection like a web server that gets an invalid request.
class NotSshServer {
 public:
  NotSshServer();
  ~NotSshServer();
  std::uint16_t port() const;

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

}  // namespace msprof::test
