#include "import/cann/line_reader.hpp"

#include <cstring>

#include "base/interrupt.hpp"

namespace msprof::cann {

namespace {

constexpr std::size_t kReadBytes = std::size_t{1} << 18;

}  // namespace

LineReader::LineReader(const std::filesystem::path& path, char separator)
    : reader_(path), separator_(separator) {}

// More bytes behind those that are there; false at the end of the file.
bool LineReader::fill() {
  interrupt::check();
  if (at_end_) return false;
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  // A long line grows the buffer by half of itself at a time.
  if (buffer_.size() - end_ < kReadBytes) buffer_.resize(end_ + end_ / 2 + kReadBytes);
  const auto room = std::as_writable_bytes(std::span(buffer_)).subspan(end_);
  const std::size_t count = reader_.read(room);
  end_ += count;
  at_end_ = count < room.size();
  return count > 0;
}

std::optional<LineReader::Line> LineReader::next() {
  Line line{{}, offset_, false};
  std::size_t looked = 0;
  while (true) {
    const char* start = buffer_.data() + begin_;
    const std::size_t there = end_ - begin_;
    const void* found =
        there > looked ? std::memchr(start + looked, separator_, there - looked) : nullptr;
    const bool ends = found != nullptr;
    if (!ends && !line.is_too_long && there <= kMostLineBytes && fill()) {
      looked = there;
      continue;
    }
    const std::size_t length =
        ends ? static_cast<std::size_t>(static_cast<const char*>(found) - start) : there;
    const std::size_t used = ends ? length + 1 : length;
    begin_ += used;
    offset_ += used;
    if (length > kMostLineBytes) line.is_too_long = true;
    // Of a line that is too long its bytes are passed over, a buffer at a time.
    if (!ends && line.is_too_long && fill()) {
      looked = 0;
      continue;
    }
    if (used == 0 && !line.is_too_long) return std::nullopt;
    if (!line.is_too_long) line.text = std::string_view(start, length);
    return line;
  }
}

}  // namespace msprof::cann
