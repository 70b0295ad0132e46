// Appends fields to a protobuf message: a varint, a double, or bytes (texts and messages). For
// PerfettoWriter.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/varint.hpp"

namespace msprof::protobuf {

inline void put(std::string& out, std::uint32_t field, std::uint64_t value) {
  append_varint(out, field << 3);
  append_varint(out, value);
}

inline void put_real(std::string& out, std::uint32_t field, double value) {
  append_varint(out, field << 3 | 1);
  auto bits = std::bit_cast<std::uint64_t>(value);
  for (int i = 0; i < 8; ++i, bits >>= 8) out += static_cast<char>(bits & 0xff);
}

inline void put(std::string& out, std::uint32_t field, std::string_view bytes) {
  append_varint(out, field << 3 | 2);
  append_varint(out, bytes.size());
  out += bytes;
}

}  // namespace msprof::protobuf
