// Offsets and values in a SQLite file, for code that reads or writes its pages.
// Source: sqlite.org/fileformat2.html 1.3, 1.6 and 2.1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace msprof::pages {

// File header.
inline constexpr std::size_t kHeaderBytes = 100;
inline constexpr std::string_view kFileMagic{"SQLite format 3\0", 16};
inline constexpr std::size_t kPageBytesAt = 16;
inline constexpr std::size_t kWriteVersionAt = 18;  // 1: rollback journal, 2: write-ahead log
inline constexpr std::size_t kReadVersionAt = 19;
inline constexpr std::size_t kReservedBytesAt = 20;
inline constexpr std::size_t kChangeCounterAt = 24;
inline constexpr std::size_t kPageCountAt = 28;
inline constexpr std::size_t kFormatAt = 44;       // 4: the integers 0 and 1 need no bytes
inline constexpr std::size_t kLargestRootAt = 52;  // 0: no auto_vacuum
inline constexpr std::size_t kEncodingAt = 56;     // 1: UTF-8
inline constexpr std::size_t kCountValidForAt = 92;

// The page that contains this offset is unused: SQLite uses its bytes for locks.
inline constexpr std::uint32_t kLockByte = 0x40000000;

// Headers of b-tree pages.
inline constexpr std::byte kInteriorPage{0x05};
inline constexpr std::byte kLeafPage{0x0d};
inline constexpr std::byte kIndexInteriorPage{0x02};
inline constexpr std::byte kIndexLeafPage{0x0a};
inline constexpr std::size_t kCellCountAt = 3;
inline constexpr std::size_t kContentAt = 5;
inline constexpr std::size_t kRightChildAt = 8;
inline constexpr std::size_t kLeafHeaderBytes = 8;
inline constexpr std::size_t kInteriorHeaderBytes = 12;

// Serial types of cells. Larger types are texts and blobs; the type encodes their length.
namespace cell_type {
inline constexpr std::uint8_t kNothing = 0;
inline constexpr std::uint8_t kInteger64 = 6;  // 1 to 6 are integers
inline constexpr std::uint8_t kReal = 7;
inline constexpr std::uint8_t kZero = 8;
inline constexpr std::uint8_t kOne = 9;
inline constexpr std::uint8_t kFirstBytes = 12;  // types 10 and 11 are never stored
}  // namespace cell_type

// Bytes of a cell by type. Not defined in value_bytes(), where each call would copy the array.
inline constexpr std::uint8_t kSizes[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};
constexpr std::uint64_t value_bytes(std::uint64_t type) {
  return type < cell_type::kFirstBytes ? kSizes[type] : (type - cell_type::kFirstBytes) / 2;
}

}  // namespace msprof::pages
