// Checksums of byte ranges in the format of the board's tools, to compare local bytes with those on
// the board. Used by the drain and by resumed uploads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace msprof {

enum class SumTool { none, cksum, sha256sum };

// Parses "cksum" or "sha256sum"; anything else is SumTool::none.
SumTool sum_tool(std::string_view name);

// The checksum of POSIX cksum(1), computed incrementally.
class Cksum {
 public:
  void add(std::string_view bytes);
  std::uint32_t value() const;

 private:
  std::uint32_t crc_ = 0;
  std::uint64_t bytes_ = 0;
};

// Returns the first word that `tool` prints for these bytes on its stdin.
std::string range_sum(SumTool tool, std::string_view bytes);

}  // namespace msprof
