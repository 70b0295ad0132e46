// Tar streams built byte by byte, including some that no tar program writes. For tests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace msprof::test {

inline constexpr std::size_t kTarBlock = 512;

inline std::string tar_number(std::uint64_t value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%0*llo", digits, static_cast<unsigned long long>(value));
  return text;
}

// A POSIX (ustar) header: name at 0, mode 100, size 124, mtime 136, sum 148, kind 156, link 157.
inline std::string tar_header(char kind, std::string_view name, std::uint64_t size,
                              std::string_view link = "", unsigned mode = 0644) {
  std::string block(kTarBlock, '\0');
  const auto put = [&](std::size_t at, std::string_view text) {
    text.copy(&block[at], text.size());
  };
  put(0, name.substr(0, 100));
  put(100, tar_number(mode, 7));
  put(108, "0000000");
  put(116, "0000000");
  put(124, tar_number(size, 11));
  put(136, tar_number(1'600'000'000, 11));
  put(148, "        ");
  block[156] = kind;
  put(157, link.substr(0, 100));
  put(257, std::string_view("ustar\00000", 8));
  unsigned sum = 0;
  for (const char c : block) sum += static_cast<unsigned char>(c);
  put(148, tar_number(sum, 6) + '\0');
  return block;
}

inline std::string tar_padded(std::string bytes) {
  bytes.resize((bytes.size() + kTarBlock - 1) / kTarBlock * kTarBlock, '\0');
  return bytes;
}

inline std::string tar_file(std::string_view name, std::string_view bytes, unsigned mode = 0644) {
  return tar_header('0', name, bytes.size(), "", mode) + tar_padded(std::string(bytes));
}

inline std::string tar_folder(std::string_view name, unsigned mode = 0755) {
  return tar_header('5', name, 0, "", mode);
}

// Kind: '1' hard link, '2' symbolic link, '3' and '4' devices, '6' FIFO.
inline std::string tar_link(char kind, std::string_view name, std::string_view link) {
  return tar_header(kind, name, 0, link);
}

inline std::string tar_end() {
  return std::string(2 * kTarBlock, '\0');
}

}  // namespace msprof::test
