// TextBlock: text buffer for writers of millions of lines. They reserve room for a line and format
// it there with put functions, which return the end of what they wrote and check no bounds.
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "base/number.hpp"

namespace msprof {

class TextBlock {
 public:
  // Initial capacity in bytes; the buffer grows if needed.
  explicit TextBlock(std::size_t bytes) : bytes_(bytes), text_(new char[bytes]) {}

  TextBlock& operator+=(std::string_view text) {
    size_ += text.copy(room(text.size()), text.size());
    return *this;
  }
  // Returns the end of the text, with room for `bytes` bytes, until the next call. After writing
  // there, call set_end().
  char* room(std::size_t bytes) {
    if (bytes > bytes_ - size_) grow(bytes);
    return text_.get() + size_;
  }
  void set_end(const char* end) { size_ = static_cast<std::size_t>(end - text_.get()); }

  std::size_t size() const { return size_; }
  std::string_view view() const { return {text_.get(), size_}; }
  void clear() { size_ = 0; }

 private:
  [[gnu::noinline]] void grow(std::size_t bytes) {
    const std::size_t more = 2 * bytes_ + bytes;
    std::unique_ptr<char[]> larger(new char[more]);
    std::memcpy(larger.get(), text_.get(), size_);
    text_ = std::move(larger);
    bytes_ = more;
  }

  std::size_t bytes_;
  std::size_t size_ = 0;
  std::unique_ptr<char[]> text_;
};

inline char* put_text(char* to, std::string_view text) {
  return to + text.copy(to, text.size());
}
template <std::size_t N>
char* put_text(char* to, const char (&literal)[N]) {
  std::memcpy(to, literal, N - 1);
  return to + N - 1;
}

// Needs at most this room, like the functions for times below.
inline constexpr std::size_t kMaxDigits = 24;
inline char* put_integer(char* to, std::integral auto value) {
  return std::to_chars(to, to + kMaxDigits, value).ptr;
}

// Puts nanoseconds as microseconds with one to three decimals, which equals a JSON writer's output
// for the double. put_us_from_ns() puts three.
inline char* put_short_us(char* to, std::int64_t ns) {
  char* end = put_us_from_ns(to, ns);
  for (int zeros = 0; zeros < 2 && end[-1] == '0'; ++zeros) --end;
  return end;
}

}  // namespace msprof
