#include "store/meta.hpp"

#include <charconv>

namespace msprof {

std::string read_meta(const Database& db, std::string_view key) {
  Statement read = db.prepare("SELECT value FROM meta WHERE key = ?");
  read.bind(1, key);
  return read.step() ? std::string(read.text(0)) : std::string();
}

std::optional<std::int64_t> read_meta_integer(const Database& db, std::string_view key) {
  const std::string text = read_meta(db, key);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace msprof
