// SHA-256 of bytes and of files: checksums of models, to tell two of one name apart.
// Source: FIPS 180-4.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace msprof {

class Sha256 {
 public:
  // Uses the processor's instructions where it has them; without for tests.
  explicit Sha256(bool with_instructions = true);
  void add(std::span<const std::byte> bytes);
  // Ends the message; 64 hexadecimal digits in lower case. Nothing may be added after it.
  std::string hex();

 private:
  void take_blocks(const std::byte* blocks, std::size_t count);

  static constexpr std::size_t kBlockBytes = 64;
  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, kBlockBytes> block_ = {};
  std::size_t filled_ = 0;  // of block_
  std::uint64_t bytes_ = 0;
  bool is_fast_ = false;
};

std::string sha256_of(std::string_view text);
// Throws Error(partial_data) where the file cannot be read, Error(interrupted) on Ctrl-C.
std::string sha256_of_file(const std::filesystem::path& path);

}  // namespace msprof
