#include "mcp/lines.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace msprof::mcp {

void LineReader::read(std::chrono::milliseconds limit, std::deque<Line>& lines) {
  pollfd input = {fd_, POLLIN, 0};
  if (has_ended_ || ::poll(&input, 1, static_cast<int>(limit.count())) <= 0) return;
  std::array<char, 1 << 16> bytes;
  const ssize_t count = ::read(fd_, bytes.data(), bytes.size());
  if (count > 0) return take(bytes.data(), static_cast<std::size_t>(count), lines);
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
  has_ended_ = true;
  if (!line_.text.empty() || line_.is_too_long) end_line(lines);
}

void LineReader::take(const char* bytes, std::size_t count, std::deque<Line>& lines) {
  const char* const end = bytes + count;
  while (bytes != end) {
    const char* const newline = std::find(bytes, end, '\n');
    const auto size = static_cast<std::size_t>(newline - bytes);
    if (line_.text.size() + size > most_bytes_) line_ = {"", true};
    if (!line_.is_too_long) line_.text.append(bytes, size);
    if (newline == end) return;
    end_line(lines);
    bytes = newline + 1;
  }
}

void LineReader::end_line(std::deque<Line>& lines) {
  lines.push_back(std::move(line_));
  line_ = {};
}

}  // namespace msprof::mcp
