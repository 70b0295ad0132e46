// Records of a SQLite file: varints, and cells converted to integers as sqlite3_column_int64()
// does.
// Source: sqlite.org/fileformat2.html 1.6 and 2.1.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "store/pages/file_format.hpp"
#include "store/pages/pages.hpp"

namespace msprof::pages {

// Bytes that a page buffer needs after the page, since reads beyond its end are detected only
// afterwards.
inline constexpr std::size_t kPadding = 32;

inline std::uint32_t big_endian_16(const std::byte* at) {
  return std::to_integer<std::uint32_t>(at[0]) << 8 | std::to_integer<std::uint32_t>(at[1]);
}
inline std::uint32_t big_endian_32(const std::byte* at) {
  return big_endian_16(at) << 16 | big_endian_16(at + 2);
}
inline std::uint64_t big_endian_64(const std::byte* at) {
  std::uint64_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return std::endian::native == std::endian::little ? __builtin_bswap64(value) : value;
}

// Page size in a file header.
inline std::uint32_t read_page_bytes(const std::byte* header) {
  const std::uint32_t bytes = big_endian_16(header + kPageBytesAt);
  return bytes == 1 ? 65536 : bytes;
}

// Returns how many bytes of a payload its cell holds; the others are on overflow pages. `usable`:
// bytes of a page, `most`: maximum of this function.
constexpr std::uint64_t local_bytes(std::uint64_t payload, std::uint64_t usable,
                                    std::uint64_t most) {
  if (payload <= most) return payload;
  const std::uint64_t least = (usable - 12) * 32 / 255 - 23;
  const std::uint64_t wished = least + (payload - least) % (usable - 4);
  return wished <= most ? wished : least;
}

// Reads a number of one to nine bytes and moves `at` past it.
inline std::uint64_t read_varint(const std::byte*& at) {
  std::uint64_t value = std::to_integer<std::uint64_t>(*at++);
  if (value < 0x80) return value;
  value &= 0x7f;
  for (int i = 1; i < 8; ++i) {
    const auto byte = std::to_integer<std::uint64_t>(*at++);
    value = value << 7 | (byte & 0x7f);
    if (byte < 0x80) return value;
  }
  return value << 8 | std::to_integer<std::uint64_t>(*at++);
}

inline bool is_integer(std::uint64_t type) {
  return type - 1 < cell_type::kInteger64 || type == cell_type::kZero || type == cell_type::kOne;
}

// Returns the value of a non-integer cell as cursors report it; kNoValue if it is not a number.
std::int64_t decode_other_value(std::uint64_t type, const std::byte* bytes);

// Returns the value of a cell; kNoValue if it is not a number. Eight bytes at `bytes` must be
// readable.
inline std::int64_t decode_value(std::uint64_t type, const std::byte* bytes) {
  if (type - 1 < cell_type::kInteger64) {
    static constexpr std::uint8_t kUnused[] = {0, 56, 48, 40, 32, 16, 0};
    return static_cast<std::int64_t>(big_endian_64(bytes)) >> kUnused[type];
  }
  if (type == cell_type::kNothing) return kNoValue;
  return decode_other_value(type, bytes);
}

// WHERE conditions on cells: `IS NULL`, and `= value`.
bool is_null(std::uint64_t type, const std::byte* bytes);
bool is_equal(std::uint64_t type, const std::byte* bytes, std::int64_t value);

}  // namespace msprof::pages
