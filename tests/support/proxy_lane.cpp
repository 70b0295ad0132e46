#include "support/proxy_lane.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <limits>

namespace msprof::test {

namespace {

// Larger than SSH's windows, so that a delay does not become a throttle.
constexpr std::size_t kMaxWaitingBytes = 64 << 20;

// For a limited network: the buffer of a small router, so that the sender notices the limit.
constexpr std::size_t kMaxHeldBytes = 128 << 10;
constexpr std::uint64_t kPiecesPerSecond = 50;

bool is_final(int error) {
  return error != EAGAIN && error != EINTR;
}

}  // namespace

std::size_t ProxyRate::piece() const {
  if (!is_limited()) return std::numeric_limits<std::size_t>::max();
  return static_cast<std::size_t>(std::max<std::uint64_t>(bytes_per_second_ / kPiecesPerSecond, 1));
}

ProxyClock::time_point ProxyRate::carried(ProxyClock::time_point now, std::size_t bytes) {
  if (!is_limited()) return now;
  const std::chrono::duration<double> taken(static_cast<double>(bytes) /
                                            static_cast<double>(bytes_per_second_));
  free_at_ = std::max(free_at_, now) + std::chrono::duration_cast<ProxyClock::duration>(taken);
  return free_at_;
}

bool ProxyLane::wants_to_read() const {
  const std::size_t most = rate_.is_limited() ? kMaxHeldBytes : kMaxWaitingBytes;
  return !at_end_ && !broken_ && waiting_bytes_ < most;
}

bool ProxyLane::can_write(ProxyClock::time_point now) const {
  return !broken_ && !chunks_.empty() && chunks_.front().due <= now;
}

std::optional<ProxyClock::time_point> ProxyLane::next_due() const {
  if (broken_ || chunks_.empty()) return std::nullopt;
  return chunks_.front().due;
}

std::size_t ProxyLane::read(ProxyClock::time_point now, std::span<char> buffer) {
  const ssize_t count = ::recv(from_, buffer.data(), std::min(buffer.size(), rate_.piece()), 0);
  if (count < 0) broken_ = is_final(errno);
  if (count == 0) {
    at_end_ = true;
    if (chunks_.empty()) ::shutdown(to_, SHUT_WR);
  }
  if (count <= 0) return 0;
  const auto size = static_cast<std::size_t>(count);
  waiting_bytes_ += size;
  chunks_.push_back({rate_.carried(now, size) + delay_, std::string(buffer.data(), size)});
  return size;
}

void ProxyLane::write(ProxyClock::time_point now, std::uint64_t most) {
  while (most > 0 && can_write(now)) {
    const auto& bytes = chunks_.front().bytes;
    const std::size_t wanted = std::min<std::uint64_t>(most, bytes.size() - front_sent_);
    const ssize_t count = ::send(to_, bytes.data() + front_sent_, wanted, MSG_NOSIGNAL);
    if (count < 0) {
      broken_ = is_final(errno);
      return;
    }
    most -= static_cast<std::uint64_t>(count);
    sent(static_cast<std::size_t>(count));
    if (done()) ::shutdown(to_, SHUT_WR);
  }
}

void ProxyLane::sent(std::size_t count) {
  passed_bytes_ += count;
  waiting_bytes_ -= count;
  front_sent_ += count;
  if (front_sent_ < chunks_.front().bytes.size()) return;
  chunks_.pop_front();
  front_sent_ = 0;
}

}  // namespace msprof::test
