// Reads lines of limited length from a descriptor without blocking. For servers on a pipe.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <string>

namespace msprof::mcp {

struct Line {
  std::string text;          // without the newline
  bool is_too_long = false;  // then `text` is empty
  std::string id{};          // of a request that waits for the end of a call, as JSON
};

class LineReader {
 public:
  LineReader(int fd, std::size_t most_bytes) : fd_(fd), most_bytes_(most_bytes) {}

  // Waits until bytes can be read, at most `limit`, and appends the lines that they complete to
  // `lines`. Returns early after a signal. A line that the stream ends without a newline counts.
  void read(std::chrono::milliseconds limit, std::deque<Line>& lines);
  bool has_ended() const { return has_ended_; }

 private:
  void take(const char* bytes, std::size_t count, std::deque<Line>& lines);
  void end_line(std::deque<Line>& lines);

  int fd_;
  std::size_t most_bytes_;
  Line line_;  // its start
  bool has_ended_ = false;
};

}  // namespace msprof::mcp
