// Variable-length integers, 7 bits per byte, lowest first: LEB128, as in Parquet, protobuf and the
// histograms of rank summaries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace msprof {

// Needs at most ten bytes. Returns the end.
inline char* put_varint(char* to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) *to++ = static_cast<char>((value & 0x7f) | 0x80);
  *to++ = static_cast<char>(value);
  return to;
}

inline void append_varint(std::string& out, std::uint64_t value) {
  char bytes[10];
  out.append(bytes, static_cast<std::size_t>(put_varint(bytes, value) - bytes));
}

// Reads a number from the front of `bytes` and removes it. Returns false if the bytes end within
// the number or it is longer than ten bytes; drops bits beyond 64.
inline bool take_varint(std::string_view& bytes, std::uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<std::uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

}  // namespace msprof
