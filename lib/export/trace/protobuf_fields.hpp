// Appends fields to a protobuf message: a varint, a double, or bytes (texts and messages). For
// PerfettoWriter.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/varint.hpp"

namespace msprof::protobuf {

inline void put(std::string& out, std::uint32_t field, std::uint64_t value) {
  char bytes[15];
  const char* end = put_varint(put_varint(bytes, field << 3), value);
  out.append(bytes, static_cast<std::size_t>(end - bytes));
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

// Starts a message as a field of `out` and returns its start; pass it to end_message() when the
// fields of the message are appended.
inline std::size_t begin_message(std::string& out, std::uint32_t field) {
  append_varint(out, field << 3 | 2);
  out += '\0';
  return out.size();
}

inline void end_message(std::string& out, std::size_t start) {
  const std::size_t bytes = out.size() - start;
  if (bytes < 0x80) {
    out[start - 1] = static_cast<char>(bytes);
    return;
  }
  std::string length;
  append_varint(length, bytes);
  out.replace(start - 1, 1, length);
}

}  // namespace msprof::protobuf
