#include "support/proxy_lane.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace msprof::test {

namespace {

// More than SSH's windows, so that a delay never becomes a throttle.
constexpr std::size_t kMaxWaitingBytes = 64 << 20;

bool is_final(int error) {
  return error != EAGAIN && error != EINTR;
}

}  // namespace

bool ProxyLane::wants_to_read() const {
  return !at_end_ && !broken_ && waiting_bytes_ < kMaxWaitingBytes;
}

bool ProxyLane::can_write(ProxyClock::time_point now) const {
  return !broken_ && !chunks_.empty() && chunks_.front().due <= now;
}

std::optional<ProxyClock::time_point> ProxyLane::next_due() const {
  if (broken_ || chunks_.empty()) return std::nullopt;
  return chunks_.front().due;
}

std::size_t ProxyLane::read(ProxyClock::time_point now, std::span<char> buffer) {
  const ssize_t count = ::recv(from_, buffer.data(), buffer.size(), 0);
  if (count < 0) broken_ = is_final(errno);
  if (count == 0) {
    at_end_ = true;
    if (chunks_.empty()) ::shutdown(to_, SHUT_WR);
  }
  if (count <= 0) return 0;
  const auto size = static_cast<std::size_t>(count);
  waiting_bytes_ += size;
  chunks_.push_back({now + delay_, std::string(buffer.data(), size)});
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
