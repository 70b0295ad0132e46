// ProxyLane: the bytes in transit in one direction of one connection. For NetworkProxy.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>

namespace msprof::test {

using ProxyClock = std::chrono::steady_clock;

// Limits the rate of a network in one direction, shared by all connections.
class ProxyRate {
 public:
  // 0: no limit.
  explicit ProxyRate(std::uint64_t bytes_per_second) : bytes_per_second_(bytes_per_second) {}

  bool is_limited() const { return bytes_per_second_ > 0; }
  // Maximum bytes to read at once, so that connections share the network.
  std::size_t piece() const;
  // Returns when `bytes` that arrive now will have been transmitted.
  ProxyClock::time_point carried(ProxyClock::time_point now, std::size_t bytes);

 private:
  std::uint64_t bytes_per_second_;
  ProxyClock::time_point free_at_{};
};

class ProxyLane {
 public:
  // `from` and `to` are non-blocking sockets; they and the rate must outlive this.
  ProxyLane(int from, int to, ProxyClock::duration delay, ProxyRate& rate)
      : from_(from), to_(to), delay_(delay), rate_(rate) {}

  int from() const { return from_; }
  int to() const { return to_; }
  bool wants_to_read() const;
  bool can_write(ProxyClock::time_point now) const;
  // When the next bytes may be forwarded; empty if there are none.
  std::optional<ProxyClock::time_point> next_due() const;
  // True after an error, but not after an end of file.
  bool broken() const { return broken_; }
  bool done() const { return at_end_ && chunks_.empty(); }
  std::uint64_t passed_bytes() const { return passed_bytes_; }

  // Reads the available bytes; returns their number.
  std::size_t read(ProxyClock::time_point now, std::span<char> buffer);
  // Forwards due bytes, at most `most`, and an end of file after the last byte.
  void write(ProxyClock::time_point now, std::uint64_t most);

 private:
  struct Chunk {
    ProxyClock::time_point due;
    std::string bytes;
  };

  void sent(std::size_t count);
  int from_;
  int to_;
  ProxyClock::duration delay_;
  ProxyRate& rate_;
  std::deque<Chunk> chunks_;
  std::size_t front_sent_ = 0;  // bytes of the first chunk that have been sent
  std::size_t waiting_bytes_ = 0;
  std::uint64_t passed_bytes_ = 0;
  bool at_end_ = false;
  bool broken_ = false;
};

}  // namespace msprof::test
