// The ini file of a board: the two functions of board_config.hpp that read it.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <map>

#include "base/error.hpp"
#include "base/file_reader.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/shell_word.hpp"
#include "base/text.hpp"
#include "board/config.hpp"
#include "board/ini_section.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kSection = "ssh_config";
constexpr std::size_t kMostFileBytes = 1 << 20;
enum class Key { ip, username, pwd, port, key, board_dir, host_key, connect_timeout, ignored };

struct Spelling {
  std::string_view text;  // lower case
  Key key;
};

// The vendor's manual and its wrapper spell differently; the last two name an NFS mount.
constexpr Spelling kSpellings[] = {
    {"ip", Key::ip},
    {"board_ip", Key::ip},
    {"username", Key::username},
    {"user", Key::username},
    {"pwd", Key::pwd},
    {"password", Key::pwd},
    {"port", Key::port},
    {"key", Key::key},
    {"board_dir", Key::board_dir},
    {"host_key", Key::host_key},
    {"connect_timeout", Key::connect_timeout},
    {"board_mount_path", Key::ignored},
    {"host_mount_path", Key::ignored},
};
constexpr std::string_view kKnownKeys =
    "ip, username, pwd, port, key, board_dir, host_key, connect_timeout";

[[noreturn]] void refuse(std::string_view where, std::string_view problem) {
  throw Error(Exit::usage, fmt::format("{}: {}", where, problem));
}

double parse_seconds(std::string_view text) {
  double seconds = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  return error == std::errc() && end == text.data() + text.size() ? seconds : -1;
}

void set_value(BoardConfig& config, Key key, std::string_view value, std::string_view where) {
  switch (key) {
    case Key::ip:
      return set_ip(config, value, where);
    case Key::username:
      return set_user(config, value, where);
    case Key::pwd:
      config.password = Secret(std::string(value));
      return;
    case Key::port:
      return set_port(config, value, where);
    case Key::key:
      config.login.key = value;
      return;
    case Key::board_dir:
      return set_board_dir(config, value, where);
    case Key::host_key:
      config.login.host_key = parse_host_key_policy(value, fmt::format("{}: host_key", where));
      return;
    case Key::connect_timeout:
      return set_connect_timeout(config, parse_seconds(value),
                                 fmt::format("{}: connect_timeout", where));
    case Key::ignored:
      return;
  }
}

// A line that went wrong may have a part of the password before its '='.
bool may_be_shown(std::string_view key) {
  return key.size() <= 32 && std::all_of(key.begin(), key.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
                  c == '.';
         });
}

// Notes an unknown or ignored key; null for these.
const Spelling* find_spelling(const IniEntry& entry, const std::string& name) {
  const auto* found = std::find_if(std::begin(kSpellings), std::end(kSpellings),
                                   [&](const Spelling& known) { return known.text == entry.key; });
  if (found == std::end(kSpellings)) {
    log::warn("{}, line {}: unknown key{} in [{}] is ignored; known are {}", name, entry.line,
              may_be_shown(entry.key) ? fmt::format(" '{}'", entry.key) : "", kSection, kKnownKeys);
    return nullptr;
  }
  if (found->key == Key::ignored) {
    log::verbose("{}, line {}: {} is ignored, no NFS mount is needed", name, entry.line, entry.key);
    return nullptr;
  }
  return found;
}

// Refuses the same key twice, and two spellings that disagree: nobody can know which is meant.
class SeenKeys {
 public:
  explicit SeenKeys(const std::string& name) : name_(name) {}

  void add(const IniEntry& entry, Key meaning) {
    const std::string where = fmt::format("{}, line {}", name_, entry.line);
    const auto [same, is_new] = by_text_.emplace(entry.key, &entry);
    if (!is_new) {
      refuse(where, fmt::format("{} stands in line {} already", entry.key, same->second->line));
    }
    if (entry.value.empty()) return;
    const IniEntry& first = *by_meaning_.emplace(meaning, &entry).first->second;
    if (first.value != entry.value) {
      refuse(where, fmt::format("{} says something else than {} in line {}; remove one of them",
                                entry.key, first.key, first.line));
    }
  }

 private:
  const std::string& name_;
  std::map<std::string_view, const IniEntry*> by_text_;
  std::map<Key, const IniEntry*> by_meaning_;
};

// A pipe may be waited for: `--config <(decrypt board.ini.gpg)`.
std::string read_config_text(const fs::path& file, bool& others_may_read) {
  const FileDescriptor fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  struct stat status = {};
  if (!fd || ::fstat(fd.get(), &status) != 0) {
    interrupt::check();
    throw Error(Exit::nothing_to_do,
                fmt::format("cannot read {}: {}", file.string(), errno_text(errno)));
  }
  if (!S_ISREG(status.st_mode) && !S_ISFIFO(status.st_mode)) {
    throw Error(Exit::nothing_to_do, fmt::format("{} is not a file", file.string()));
  }
  others_may_read = S_ISREG(status.st_mode) && (status.st_mode & (S_IRGRP | S_IROTH)) != 0;
  // Room for all of it at once: text that grows leaves copies of the password behind.
  std::string text(kMostFileBytes + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t count = ::read(fd.get(), text.data() + size, text.size() - size);
    if (count == 0) break;
    if (count > 0) {
      size += static_cast<std::size_t>(count);
    } else if (errno == EINTR) {
      interrupt::check();
    } else {
      throw Error(Exit::nothing_to_do,
                  fmt::format("cannot read {}: {}", file.string(), errno_text(errno)));
    }
  }
  text.resize(size);
  if (size > kMostFileBytes) {
    throw Error(Exit::usage, fmt::format("{} has more than {}; it is no board's configuration",
                                         file.string(), human_bytes(kMostFileBytes)));
  }
  return text;
}

}  // namespace

BoardConfig parse_board_config(std::string_view text, const std::string& name) {
  const IniSection section(text, kSection, name);
  BoardConfig config;
  SeenKeys seen(name);
  for (const IniEntry& entry : section.entries()) {
    const Spelling* spelling = find_spelling(entry, name);
    if (spelling == nullptr) continue;
    seen.add(entry, spelling->key);
    if (entry.value.empty()) continue;
    set_value(config, spelling->key, entry.value, fmt::format("{}, line {}", name, entry.line));
  }
  return config;
}

BoardConfig read_board_config(const fs::path& file) {
  bool others_may_read = false;
  std::string text = read_config_text(file, others_may_read);
  // Wiped on every way out.
  const Secret keeper(std::move(text));
  BoardConfig config = parse_board_config(keeper.reveal(), file.string());
  const fs::path key = config.login.key;
  if (!key.empty()) set_key(config, key.string(), fs::absolute(file).parent_path());
  if (others_may_read && !config.password.empty()) {
    log::warn("{} holds a password and others may read it: chmod 600 {}", file.string(),
              shell_word(file.string()));
  }
  return config;
}

}  // namespace msprof
