#include "collect/copy_rules.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "base/file_reader.hpp"
#include "base/text.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

// Sources and notes that merely show such a section are small text too; a run does not need them.
constexpr std::uint64_t kSmallFileBytes = 64 << 10;
constexpr std::uint64_t kIniFileBytes = 4 << 20;

// "board.ini", "ssh.cfg", "board.ini.bak", "board.conf~"
bool named_like_ini(const fs::path& file) {
  const std::string name = lower_ascii(file.filename().string());
  for (const std::string_view extension : {".ini", ".cfg", ".conf"}) {
    const auto at = name.find(extension);
    if (at == std::string::npos) continue;
    const auto end = at + extension.size();
    if (end == name.size() || !std::isalnum(static_cast<unsigned char>(name[end]))) return true;
  }
  return false;
}

bool is_login_section(std::string_view line) {
  if (line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
  line = trim(line);
  if (!line.starts_with('[')) return false;
  const auto end = line.find(']');
  if (end == std::string_view::npos) return false;
  return lower_ascii(trim(line.substr(1, end - 1))) == "ssh_config";
}

}  // namespace

IgnorePatterns::IgnorePatterns(std::string_view text) {
  for (std::string_view line : split(text, '\n')) {
    line = trim(line);
    if (line.empty() || line.starts_with('#')) continue;
    Pattern pattern;
    if (line.starts_with('!')) {
      pattern.negated = true;
      line.remove_prefix(1);
    }
    if (line.ends_with('/')) {
      pattern.folders_only = true;
      line.remove_suffix(1);
    }
    pattern.anchored = line.find('/') != std::string_view::npos;
    if (line.starts_with('/')) line.remove_prefix(1);
    if (line.starts_with("./")) line.remove_prefix(2);
    if (line.empty()) continue;
    pattern.glob = line;
    patterns_.push_back(std::move(pattern));
  }
}

bool IgnorePatterns::match(const fs::path& relative, bool is_folder) const {
  bool matched = false;
  for (const Pattern& pattern : patterns_) {
    if (pattern.folders_only && !is_folder) continue;
    const fs::path subject = pattern.anchored ? relative : relative.filename();
    if (::fnmatch(pattern.glob.c_str(), subject.c_str(), 0) == 0) matched = !pattern.negated;
  }
  return matched;
}

bool is_capture_folder_name(std::string_view name) {
  return name.starts_with("JOB") || name.starts_with("PROF");
}

bool holds_login(const fs::path& file, std::uint64_t size_bytes) {
  if (size_bytes > (named_like_ini(file) ? kIniFileBytes : kSmallFileBytes)) return false;
  try {
    const std::string text = read_text_file(file, kIniFileBytes);
    // Old editors end lines with '\r' alone.
    for (const std::string_view line : split(text, '\n')) {
      const auto parts = split(line, '\r');
      if (std::any_of(parts.begin(), parts.end(), is_login_section)) return true;
    }
  } catch (const Error&) {
    // Whoever cannot read it cannot copy it either; the copy says so.
  }
  return false;
}

}  // namespace msprof
