// Rank summaries as bytes: resealing after a change, and all cells as text. Used by the tests of
// this folder and fuzz_part.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "support/files.hpp"

namespace msprof::test {

// CRC-32 as in zlib, PNG and gzip, computed bit by bit.
inline std::uint32_t plain_crc32(std::string_view bytes) {
  std::uint32_t crc = ~0u;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xEDB88320u : 0u);
  }
  return ~crc;
}

// The user_version of a SQLite file: bytes 60 to 63, most significant first.
inline constexpr std::size_t kSealAt = 60;

inline std::uint32_t seal_in(std::string_view bytes) {
  std::uint32_t seal = 0;
  for (std::size_t i = 0; i < 4; ++i)
    seal = seal << 8 | static_cast<unsigned char>(bytes[kSealAt + i]);
  return seal;
}

inline std::uint32_t compute_seal(std::string bytes) {
  bytes.replace(kSealAt, 4, 4, '\0');
  return plain_crc32(bytes);
}

// Returns the bytes with the correct seal; unchanged if too short to have a seal.
inline std::string sealed(std::string bytes) {
  if (bytes.size() < kSealAt + 4) return bytes;
  const std::uint32_t seal = compute_seal(bytes);
  for (std::size_t i = 0; i < 4; ++i)
    bytes[kSealAt + i] = static_cast<char>(seal >> (24 - 8 * i) & 0xff);
  return bytes;
}

// Changes a rank summary by SQL and reseals it: its contents are wrong, but its seal is correct.
inline void change_part(const std::filesystem::path& path, const std::string& sql) {
  query(path, sql);
  write_file(path, sealed(read_file(path)));
}

inline const std::vector<std::string>& part_table_names() {
  static const std::vector<std::string> names = {
      "member", "group_member",     "rank_step",  "rank_collective", "packet",   "link",
      "meta",   "collective_total", "collective", "collective_host", "op_total", "name"};
  return names;
}

}  // namespace msprof::test
