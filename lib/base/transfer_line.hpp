// TransferLine: progress of bytes that travel: share, rate and the time that is left. For uploads
// and fetches. On a terminal it is one line in place, off a terminal a message every ten seconds,
// so that short transfers say nothing there. With -q nothing is shown.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace msprof {

// Rate of something that grows, from its amounts over the last seconds.
class RateMeter {
 public:
  using Clock = std::chrono::steady_clock;

  RateMeter(Clock::time_point now, std::uint64_t amount);
  // Amounts that come down (something begins anew) begin the measurement anew.
  void add(Clock::time_point now, std::uint64_t amount);
  // Per second; a stall lowers it as time goes on. Empty while there is too little to tell.
  std::optional<double> per_second(Clock::time_point now) const;

 private:
  struct Sample {
    Clock::time_point time;
    std::uint64_t amount;
  };
  std::deque<Sample> samples_;  // never empty
};

// "4 s", "2 min 05 s", "1 h 03 min", "more than 99 h".
std::string duration_text(double seconds);
// "3.4 MB/s"
std::string rate_text(double bytes_per_second);

struct TransferState {
  std::uint64_t done_bytes = 0;
  std::uint64_t total_bytes = 0;  // 0: unknown
  std::optional<double> bytes_per_second;

  // Seconds until all is there; empty where nobody can tell.
  std::optional<double> seconds_left() const;
};

// "fetching from board:  45%, 12.3 MB of 27.0 MB, 3.4 MB/s, 4 s left" in at most `width` columns
// (0: no limit); of a long label a part goes first.
std::string transfer_text(std::string_view label, const TransferState& state, int width);

class TransferLine {
 public:
  // `begun_bytes` of `total_bytes` (0: unknown) are there already, and count for no rate.
  TransferLine(std::string label, std::uint64_t total_bytes, std::uint64_t begun_bytes = 0);
  ~TransferLine();
  TransferLine(const TransferLine&) = delete;
  TransferLine& operator=(const TransferLine&) = delete;

  // Takes all bytes so far. Cheap: may be called for every piece that moves.
  void update(std::uint64_t done_bytes);

 private:
  using Clock = RateMeter::Clock;

  std::string label_;
  std::uint64_t total_bytes_;
  bool on_terminal_;
  bool is_whole_ = false;  // and that was shown
  RateMeter meter_;
  Clock::time_point next_;
};

}  // namespace msprof
