// Wire: one record of a raw file, with fields written at the offsets of the format (cann_host.md
// 1.8, cann_device.md 3 to 10). For the record builders. Unwritten bytes are zero.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace msprof::test::prof {

class Wire {
 public:
  explicit Wire(std::size_t size) : bytes_(size, '\0') {}

  Wire& u8(std::size_t at, std::uint64_t value) { return put(at, value, 1); }
  Wire& u16(std::size_t at, std::uint64_t value) { return put(at, value, 2); }
  Wire& u32(std::size_t at, std::uint64_t value) { return put(at, value, 4); }
  Wire& u64(std::size_t at, std::uint64_t value) { return put(at, value, 8); }
  Wire& f64(std::size_t at, double value) {
    std::memcpy(&bytes_.at(at), &value, sizeof value);
    return *this;
  }
  // Truncates to the field; no NUL if the field is full.
  Wire& text(std::size_t at, std::size_t size, std::string_view value) {
    bytes_.replace(at, std::min(size, value.size()), value.substr(0, size));
    return *this;
  }
  Wire& u32s(std::size_t at, std::span<const std::uint32_t> values) {
    for (const std::uint32_t value : values) {
      u32(at, value);
      at += 4;
    }
    return *this;
  }
  Wire& u64s(std::size_t at, std::span<const std::uint64_t> values) {
    for (const std::uint64_t value : values) {
      u64(at, value);
      at += 8;
    }
    return *this;
  }
  std::string take() { return std::move(bytes_); }

 private:
  Wire& put(std::size_t at, std::uint64_t value, std::size_t width) {
    if (at + width > bytes_.size()) throw_outside(at);
    // little-endian machines only, as in the product
    std::memcpy(bytes_.data() + at, &value, width);
    return *this;
  }
  [[noreturn]] static void throw_outside(std::size_t at);
  std::string bytes_;
};

}  // namespace msprof::test::prof
