// Checksums of ranges as the tools of boards print them, to hold bytes here against those there.
// For the drain and for uploads that go on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace msprof {

enum class SumTool { none, cksum, sha256sum };

// "cksum", "sha256sum"; anything else is none.
SumTool sum_tool(std::string_view name);

// The checksum of POSIX's cksum(1), of bytes that come in pieces.
class Cksum {
 public:
  void add(std::string_view bytes);
  std::uint32_t value() const;

 private:
  std::uint32_t crc_ = 0;
  std::uint64_t bytes_ = 0;
};

// The first word that `tool` prints for these bytes on its stdin.
std::string range_sum(SumTool tool, std::string_view bytes);

}  // namespace msprof
