#include "board/transfer/range_sum.hpp"

#include <array>

#include "base/sha256.hpp"

namespace msprof {

namespace {

using CrcTable = std::array<std::uint32_t, 256>;

// POSIX cksum: the Ethernet polynomial, most significant bit first.
constexpr std::uint32_t kCrcPolynomial = 0x04C11DB7;

constexpr CrcTable make_crc_table() {
  CrcTable table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t value = i << 24;
    for (int bit = 0; bit < 8; ++bit)
      value = (value << 1) ^ ((value >> 31) != 0 ? kCrcPolynomial : 0);
    table[i] = value;
  }
  return table;
}

constexpr CrcTable kCrcTable = make_crc_table();

constexpr std::uint32_t add_byte(std::uint32_t crc, unsigned char byte) {
  return (crc << 8) ^ kCrcTable[(crc >> 24) ^ byte];
}

}  // namespace

void Cksum::add(std::string_view bytes) {
  for (const char byte : bytes) crc_ = add_byte(crc_, static_cast<unsigned char>(byte));
  bytes_ += bytes.size();
}

// Appends the length, least significant byte first, without leading zeros.
std::uint32_t Cksum::value() const {
  std::uint32_t crc = crc_;
  for (std::uint64_t length = bytes_; length != 0; length >>= 8)
    crc = add_byte(crc, static_cast<unsigned char>(length & 0xFF));
  return ~crc;
}

SumTool sum_tool(std::string_view name) {
  if (name == "cksum") return SumTool::cksum;
  return name == "sha256sum" ? SumTool::sha256sum : SumTool::none;
}

std::string range_sum(SumTool tool, std::string_view bytes) {
  if (tool == SumTool::none) return {};
  if (tool == SumTool::sha256sum) return sha256(bytes);
  Cksum sum;
  sum.add(bytes);
  return std::to_string(sum.value());
}

}  // namespace msprof
