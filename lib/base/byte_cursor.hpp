// ByteCursor: bounds-checked little-endian reading over bytes that it does not own.
// For decoders. Reading past the end gives 0 and sets overrun(); nothing is ever read outside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace msprof {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "captures are little-endian");

class ByteCursor {
 public:
  explicit ByteCursor(std::span<const std::byte> bytes) : bytes_(bytes) {}

  // The value at the current place; moves past it.
  template <typename T>
  T read() {
    const T value = at<T>(position_);
    position_ += sizeof(T);
    return value;
  }

  // The value at `offset` from the start; does not move.
  template <typename T>
  T at(std::size_t offset) {
    T value{};
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) {
      overrun_ = true;
      return value;
    }
    std::memcpy(&value, bytes_.data() + offset, sizeof(T));
    return value;
  }

  bool overrun() const { return overrun_; }
  std::size_t position() const { return position_; }

 private:
  std::span<const std::byte> bytes_;
  std::size_t position_ = 0;
  bool overrun_ = false;
};

}  // namespace msprof
