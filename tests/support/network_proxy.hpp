// A network between a client and a server of the loopback that cuts, delays or swallows, and
// servers that are none: for tests of what must not hang or lose anything. Each runs a thread of
// its own; clients connect to 127.0.0.1 on port().
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

#include "support/loopback.hpp"

namespace msprof::test {

// Seen from the client: up is towards the server.
enum class Direction { up, down, both };

// reset: the peers get an error at once (RST); close: they read an end of file (FIN); freeze: no
// cut, but the whole proxy is frozen until freeze(false).
enum class CutKind { reset, close, freeze };

inline constexpr int kAllConnections = std::numeric_limits<int>::max();

// Where a connection breaks: after so many bytes of it, neither fewer nor more, have been passed
// on.
struct Cut {
  std::uint64_t after_bytes = 0;
  Direction direction = Direction::both;
  int connections = 1;  // how many connections are cut, the first ones
  CutKind kind = CutKind::reset;
  bool refuse_afterwards = false;  // nobody listens on the port after the last cut
};

// What a line does to what goes over it.
struct Line {
  std::chrono::microseconds round_trip{0};
  std::optional<Cut> cut{};
  std::uint64_t bytes_per_second = 0;      // in each direction, over all connections; 0: no limit
  std::chrono::milliseconds cut_every{0};  // all connections of the moment; 0: never
  std::uint16_t port = 0;                  // to listen on; 0: a free one
};

class NetworkProxy {
 public:
  NetworkProxy(std::uint16_t target_port, const Line& line);
  NetworkProxy(std::uint16_t target_port, std::chrono::microseconds round_trip,
               const std::optional<Cut>& cut);
  ~NetworkProxy();

  std::uint16_t port() const;
  // What clients sent and what was sent to them, over all connections, handshakes included.
  std::uint64_t bytes_up() const;
  std::uint64_t bytes_down() const;
  int connections() const;  // so far
  int cuts() const;         // so far
  // How often a client has sent something after an answer had reached it, over all connections:
  // also what it waits for nothing with, such as acknowledgements.
  int turns() const;
  // Connections, and turns of which each came a whole round trip of the line after the one before,
  // at least. A client that has to wait for an answer before it can go on never does so more often.
  int round_trips() const;

  // The following are done when they return. Cuts what is connected now.
  void cut_now(CutKind kind = CutKind::reset);
  // New connections are refused, as by a host that is up without a server; or let in again.
  void refuse(bool refused);
  // Nothing is passed on and nothing is closed, as with a cable pulled out; or on it goes.
  void freeze(bool frozen);

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

class CutProxy : public NetworkProxy {
 public:
  CutProxy(std::uint16_t target_port, const Cut& cut) : NetworkProxy(target_port, {}, cut) {}
  // Cuts only when told to.
  explicit CutProxy(std::uint16_t target_port) : NetworkProxy(target_port, {}, std::nullopt) {}
};

// Bytes arrive half a round trip after they were sent, as many as are sent: it delays, it does not
// throttle.
class DelayProxy : public NetworkProxy {
 public:
  DelayProxy(std::uint16_t target_port, std::chrono::microseconds round_trip)
      : NetworkProxy(target_port, round_trip, std::nullopt) {}
};

// Takes connections and says nothing.
class SilentServer {
 public:
  SilentServer() : socket_(listen_on_loopback(port_)) {}
  std::uint16_t port() const { return port_; }

 private:
  std::uint16_t port_ = 0;
  Descriptor socket_;
};

// Answers every connection as a web server answers what is no HTTP.
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
