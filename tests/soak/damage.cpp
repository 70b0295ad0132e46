#include "soak/damage.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace msprof::test {

void Damage::apply(Files& files, std::string& story) {
  for (std::size_t left = 1 + below(4); left > 0 && !files.empty(); --left) {
    auto file = files.begin();
    std::advance(file, static_cast<std::ptrdiff_t>(below(files.size())));
    story += fmt::format(" {}: ", file->first);
    if (below(20) == 0) {
      story += "removed;";
      files.erase(file);
    } else {
      story += change(file->second) + ";";
    }
  }
}

std::string Damage::change(std::string& bytes) {
  const std::size_t at = below(bytes.size());
  const std::size_t length = 1 + below(std::min<std::size_t>(bytes.size() - at, 600));
  switch (below(7)) {
    case 0: {
      const std::size_t flips = 1 + below(24);
      for (std::size_t i = 0; i < flips && !bytes.empty(); ++i) {
        const int bit = 1 << below(8);
        char& byte = bytes[below(bytes.size())];
        byte = static_cast<char>(byte ^ bit);
      }
      return fmt::format("{} bits flipped", flips);
    }
    case 1:
      bytes.resize(at);
      return fmt::format("cut at {}", at);
    case 2:
      bytes.erase(at, length);
      return fmt::format("{} bytes lost at {}", length, at);
    case 3:
      bytes.insert(at, std::string(length, any_byte()));
      return fmt::format("{} bytes too many at {}", length, at);
    case 4:
      bytes.erase(0, at);
      return fmt::format("head of {} bytes lost", at);
    case 5: {
      constexpr char kFills[] = {'\0', '\xff', '\x5a'};
      bytes.replace(at, length, std::string(length, kFills[below(3)]));
      return fmt::format("{} bytes filled at {}", length, at);
    }
    default:
      for (std::size_t i = at; i < std::min(bytes.size(), at + length); ++i) bytes[i] = any_byte();
      return fmt::format("{} random bytes at {}", length, at);
  }
}

}  // namespace msprof::test
