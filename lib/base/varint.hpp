// Numbers of 7 bits a byte, the lowest first: LEB128, as Parquet, protobuf and histograms of parts
// have them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace msprof {

inline void append_varint(std::string& out, std::uint64_t value) {
  char bytes[10];
  std::size_t size = 0;
  // Ten bytes hold 64 bits; the bound is for compilers that do not see it.
  for (; value >= 0x80 && size + 1 < sizeof(bytes); value >>= 7)
    bytes[size++] = static_cast<char>((value & 0x7f) | 0x80);
  bytes[size++] = static_cast<char>(value);
  out.append(bytes, size);
}

// Takes a number from the front of `bytes`. False where they end in it, or it has more than ten of
// them; what goes beyond 64 bits is dropped.
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
