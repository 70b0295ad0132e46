#include "board/disk/fill_rate.hpp"

#include <algorithm>
#include <iterator>

namespace msprof {

namespace {

// Weight of the last interval: a burst has an effect at once and fades after a few polls.
constexpr double kNewShare = 0.5;
constexpr double kSayAtSeconds[] = {600, 120, 20};
constexpr std::uint64_t kFewParts = 10;
constexpr double kLooksUntilFull = 8;
constexpr double kShortestPause = 0.05;
constexpr double kLongestPause = 5;
// Rate assumed for an application that has not started to write; board recordings reach 2 MB/s.
constexpr double kSuddenBytesPerSecond = 4e6;

double mixed(double before, double now, bool is_first) {
  return is_first ? now : before * (1 - kNewShare) + now * kNewShare;
}

}  // namespace

void FillRate::add(double seconds, std::uint64_t raw_bytes,
                   std::optional<std::uint64_t> free_bytes) {
  const double passed = seconds - at_;
  if (looks_ > 0 && passed > 0) {
    const bool is_first = looks_ == 1;
    const double grown = raw_bytes > raw_ ? static_cast<double>(raw_bytes - raw_) : 0;
    growth_ = mixed(growth_, grown / passed, is_first);
    if (free_ && free_bytes) {
      const double filled = static_cast<double>(*free_) - static_cast<double>(*free_bytes);
      filling_ = mixed(filling_, filled / passed, is_first);
    }
  }
  ++looks_;
  at_ = seconds;
  raw_ = raw_bytes;
  free_ = free_bytes;
  most_free_ = std::max(most_free_, free_bytes.value_or(0));
}

std::optional<double> FillRate::seconds_left() const {
  if (!free_ || filling_ < 1) return std::nullopt;
  return static_cast<double>(*free_) / filling_;
}

bool FillRate::is_to_be_said(bool is_freed) {
  const auto left = seconds_left();
  if (!left) return false;
  if (is_freed && (*free_ > most_free_ / kFewParts || *left > *std::rbegin(kSayAtSeconds)))
    return false;
  int level = 0;
  while (level < static_cast<int>(std::size(kSayAtSeconds)) && *left <= kSayAtSeconds[level])
    ++level;
  if (level <= said_) return false;
  said_ = level;
  return true;
}

double FillRate::pause_seconds() const {
  if (!free_) return 1;
  const double rate = std::max(growth_, kSuddenBytesPerSecond);
  return std::clamp(static_cast<double>(*free_) / rate / kLooksUntilFull, kShortestPause,
                    kLongestPause);
}

}  // namespace msprof
