// TransferLine: progress of a transfer: share, rate and remaining time. For uploads and fetches. On
// a terminal it is one updated line, otherwise a message every ten seconds, so that short transfers
// print none. Hidden by -q.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace msprof {

// Measures the rate of a growing amount over the last seconds.
class RateMeter {
 public:
  using Clock = std::chrono::steady_clock;

  RateMeter(Clock::time_point now, std::uint64_t amount);
  // A decreasing amount (a restart) restarts the measurement.
  void add(Clock::time_point now, std::uint64_t amount);
  // Rate per second; decreases during a stall. Empty until the measured span is long enough.
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

  // Seconds until completion; empty if unknown.
  std::optional<double> seconds_left() const;
};

// Returns "fetching from board:  45%, 12.3 MB of 27.0 MB, 3.4 MB/s, 4 s left" in at most `width`
// columns (0: no limit); shortens a long label first.
std::string transfer_text(std::string_view label, const TransferState& state, int width);

class TransferLine {
 public:
  // `begun_bytes` of `total_bytes` (0: unknown) are already transferred and do not count for the
  // rate.
  TransferLine(std::string label, std::uint64_t total_bytes, std::uint64_t begun_bytes = 0);
  ~TransferLine();
  TransferLine(const TransferLine&) = delete;
  TransferLine& operator=(const TransferLine&) = delete;

  // `done_bytes`: total so far. Cheap enough to be called for every chunk.
  void update(std::uint64_t done_bytes);

 private:
  using Clock = RateMeter::Clock;

  std::string label_;
  std::uint64_t total_bytes_;
  bool is_on_terminal_;
  bool is_whole_ = false;  // the completed transfer was shown
  RateMeter meter_;
  Clock::time_point next_;
};

}  // namespace msprof
