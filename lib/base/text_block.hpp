// TextBlock: text buffer with in-place formatting. For writers of millions of lines: appending only
// copies the bytes.
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
  TextBlock& operator+=(char c) {
    *room(1) = c;
    ++size_;
    return *this;
  }
  void append_integer(std::integral auto value) {
    char* to = room(kMaxDigits);
    size_ += static_cast<std::size_t>(std::to_chars(to, to + kMaxDigits, value).ptr - to);
  }
  // Append nanoseconds as microseconds: append_us() with three decimals, append_short_us() with one
  // to three, which equals a JSON writer's output for the double.
  void append_us(std::int64_t ns) {
    char* to = room(kMaxDigits);
    size_ += static_cast<std::size_t>(put_us_from_ns(to, ns) - to);
  }
  void append_short_us(std::int64_t ns) {
    append_us(ns);
    for (int zeros = 0; zeros < 2 && text_[size_ - 1] == '0'; ++zeros) --size_;
  }

  std::size_t size() const { return size_; }
  std::string_view view() const { return {text_.get(), size_}; }
  void clear() { size_ = 0; }

 private:
  static constexpr std::size_t kMaxDigits = 24;

  char* room(std::size_t bytes) {
    if (bytes > bytes_ - size_) grow(bytes);
    return text_.get() + size_;
  }
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

}  // namespace msprof
