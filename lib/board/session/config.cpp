#include "board/session/config.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <ini.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <exception>
#include <map>
#include <new>
#include <vector>

#include "base/error.hpp"
#include "base/file_reader.hpp"
#include "base/foreign_error.hpp"
#include "base/host_name.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/text.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

[[noreturn]] void fail(const std::string& name, int line, std::string_view problem) {
  throw Error(Exit::usage, fmt::format("{}, line {}: {}", name, line, problem));
}

// Lines end with "\n", "\r\n" or, from old editors, "\r".
std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = text.find_first_of("\r\n");
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + (text.substr(end).starts_with("\r\n") ? 2 : 1));
  }
  return lines;
}

// Returns the name, in lower case, of the section that `line` starts; empty if it starts none.
std::string begun_section(std::string_view line, std::string_view& behind) {
  line = trim(line);
  const auto end = line.find(']');
  if (!line.starts_with('[') || end == std::string_view::npos) return "";
  behind = trim(line.substr(end + 1));
  return lower_ascii(trim(line.substr(1, end - 1)));
}

// Rejects text that inih would ignore: a key on the line of the section header, and everything
// after a NUL byte.
void check_lines(const std::vector<std::string_view>& lines, std::string_view section,
                 const std::string& name) {
  bool found = false;
  int number = 0;
  for (const std::string_view line : lines) {
    ++number;
    if (line.size() > IniSection::kMaxLineBytes) {
      fail(name, number,
           fmt::format("the line is longer than {} bytes",
                       with_thousands(IniSection::kMaxLineBytes)));
    }
    if (line.find('\0') != std::string_view::npos) {
      fail(name, number, "it contains NUL bytes and is not plain text; save the file as UTF-8");
    }
    std::string_view behind;
    if (begun_section(line, behind) != section) continue;
    found = true;
    if (!behind.empty() && behind.front() != '#' && behind.front() != ';') {
      fail(name, number,
           fmt::format("there is text after [{}]; put each key on a separate line", section));
    }
  }
  if (!found) {
    throw Error(Exit::usage, fmt::format("{} has no section [{}]; start the file with that line, "
                                         "followed by ip, username and pwd",
                                         name, section));
  }
}

// Passes lines to inih one at a time, so that the line number of each key is known.
struct Reading {
  const std::vector<std::string_view>& lines;
  std::string_view section;
  std::deque<IniEntry>& entries;
  std::size_t next = 0;
  int line_without_value = 0;
  std::exception_ptr failure{};
};

char* give_line(char* buffer, int size, void* stream) {
  auto& reading = *static_cast<Reading*>(stream);
  const auto capacity = static_cast<std::size_t>(size);
  if (reading.next == reading.lines.size()) {
    ::explicit_bzero(buffer, capacity);  // inih frees this buffer next, with the password
    return nullptr;
  }
  const std::string_view line = reading.lines[reading.next++];
  const std::size_t count = line.copy(buffer, capacity - 2);
  buffer[count] = '\n';
  buffer[count + 1] = '\0';
  return buffer;
}

int take_entry(void* user, const char* section, const char* key, const char* value) {
  auto& reading = *static_cast<Reading*>(user);
  try {
    if (lower_ascii(trim(section)) != reading.section) return 1;
    const int line = static_cast<int>(reading.next);
    if (value == nullptr || *key == '\0') {
      if (reading.line_without_value == 0) reading.line_without_value = line;
      return 1;
    }
    reading.entries.emplace_back();
    reading.entries.back().key = lower_ascii(key);
    reading.entries.back().value = value;
    reading.entries.back().line = line;
    return 1;
  } catch (...) {
    reading.failure = std::current_exception();  // inih is C: exceptions must not pass through it
    return 0;
  }
}

// Debian's inih is configured at run time. By default it cuts a password at " ;", treats an
// indented key as a continuation of the value above, and cuts lines at 199 bytes.
void set_up_inih() {
  ini_allow_inline_comments = false;
  ini_allow_multiline = false;
  ini_allow_no_value = true;  // msprof reports a missing value with the section; inih would not
  ini_stop_on_first_error = false;
  ini_use_stack = false;
  ini_allow_realloc = false;
  ini_max_line = static_cast<int>(IniSection::kMaxLineBytes) + 3;  // room for "\r\n" and NUL
  ini_initial_alloc = ini_max_line;
}

constexpr double kMinTimeoutSeconds = 0.1;
constexpr double kMaxTimeoutSeconds = 3600;

[[noreturn]] void refuse(std::string_view where, std::string_view problem) {
  throw Error(Exit::usage, fmt::format("{}: {}", where, problem));
}

constexpr std::string_view kSection = "ssh_config";
constexpr std::size_t kMaxFileBytes = 1 << 20;
enum class IniKey {
  ip,
  username,
  pwd,
  port,
  key,
  board_dir,
  host_key,
  connect_timeout,
  jump,
  ignored
};

struct Spelling {
  std::string_view text;  // lower case
  IniKey key;
};

// The spellings in the vendor's manual and in its wrapper; the last two keys name an NFS mount.
constexpr Spelling kSpellings[] = {
    {"ip", IniKey::ip},
    {"board_ip", IniKey::ip},
    {"username", IniKey::username},
    {"user", IniKey::username},
    {"pwd", IniKey::pwd},
    {"password", IniKey::pwd},
    {"port", IniKey::port},
    {"key", IniKey::key},
    {"board_dir", IniKey::board_dir},
    {"host_key", IniKey::host_key},
    {"connect_timeout", IniKey::connect_timeout},
    {"jump", IniKey::jump},
    {"board_mount_path", IniKey::ignored},
    {"host_mount_path", IniKey::ignored},
};
constexpr std::string_view kKnownKeys =
    "ip, username, pwd, port, key, board_dir, host_key, connect_timeout, jump";

double parse_seconds(std::string_view text) {
  double seconds = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  return error == std::errc() && end == text.data() + text.size() ? seconds : -1;
}

void set_value(BoardConfig& config, IniKey key, std::string_view value, std::string_view where) {
  switch (key) {
    case IniKey::ip:
      return set_ip(config, value, where);
    case IniKey::username:
      return set_user(config, value, where);
    case IniKey::pwd:
      config.password = Secret(std::string(value));
      return;
    case IniKey::port:
      return set_port(config, value, where);
    case IniKey::key:
      config.login.key = value;
      return;
    case IniKey::board_dir:
      return set_board_dir(config, value, where);
    case IniKey::host_key:
      return set_host_key(config, value, fmt::format("{}: host_key", where));
    case IniKey::connect_timeout:
      return set_connect_timeout(config, parse_seconds(value),
                                 fmt::format("{}: connect_timeout", where));
    case IniKey::jump:
      return set_jump(config, value, fmt::format("{}: jump", where));
    case IniKey::ignored:
      return;
  }
}

// Returns false if the key may contain part of the password, as in a malformed line.
bool may_be_shown(std::string_view key) {
  return key.size() <= 32 && std::all_of(key.begin(), key.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
                  c == '.';
         });
}

// Reports an unknown or ignored key and returns null for it.
const Spelling* find_spelling(const IniEntry& entry, const std::string& name) {
  const auto* found = std::find_if(std::begin(kSpellings), std::end(kSpellings),
                                   [&](const Spelling& known) { return known.text == entry.key; });
  if (found == std::end(kSpellings)) {
    log::warn("{}, line {}: unknown key{} in [{}] is ignored; known keys are {}", name, entry.line,
              may_be_shown(entry.key) ? fmt::format(" '{}'", entry.key) : "", kSection, kKnownKeys);
    return nullptr;
  }
  if (found->key == IniKey::ignored) {
    log::verbose("{}, line {}: {} is ignored because no NFS mount is needed", name, entry.line,
                 entry.key);
    return nullptr;
  }
  return found;
}

// Rejects repeated keys, and two spellings of a key with different values.
class SeenKeys {
 public:
  explicit SeenKeys(const std::string& name) : name_(name) {}

  void add(const IniEntry& entry, IniKey meaning) {
    const std::string where = fmt::format("{}, line {}", name_, entry.line);
    const auto [same, is_new] = by_text_.emplace(entry.key, &entry);
    if (!is_new) {
      refuse(where, fmt::format("{} is already set in line {}", entry.key, same->second->line));
    }
    if (entry.value.empty()) return;
    const IniEntry& first = *by_meaning_.emplace(meaning, &entry).first->second;
    if (first.value != entry.value) {
      refuse(where, fmt::format("{} contradicts {} in line {}; remove one of them", entry.key,
                                first.key, first.line));
    }
  }

 private:
  const std::string& name_;
  std::map<std::string_view, const IniEntry*> by_text_;
  std::map<IniKey, const IniEntry*> by_meaning_;
};

// `file` may be a pipe, as in `--config <(decrypt board.ini.gpg)`; then waits for input.
std::string read_config_text(const fs::path& file, bool& others_may_read) {
  const FileDescriptor fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  struct stat status = {};
  if (!fd || ::fstat(fd.get(), &status) != 0) {
    const int error_number = errno;
    interrupt::check();
    throw Error(to_unreadable_exit(error_number),
                fmt::format("cannot read {}: {}", file.string(), errno_text(error_number)));
  }
  if (!S_ISREG(status.st_mode) && !S_ISFIFO(status.st_mode)) {
    throw Error(Exit::nothing_to_do, fmt::format("{} is not a file", file.string()));
  }
  others_may_read = S_ISREG(status.st_mode) && (status.st_mode & (S_IRGRP | S_IROTH)) != 0;
  // Allocates the whole buffer at once: a growing string would leave copies of the password in
  // freed memory.
  std::string text(kMaxFileBytes + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t count = ::read(fd.get(), text.data() + size, text.size() - size);
    if (count == 0) break;
    if (count > 0) {
      size += static_cast<std::size_t>(count);
    } else if (errno == EINTR) {
      interrupt::check();
    } else {
      throw Error(Exit::partial_data,
                  fmt::format("cannot read {}: {}", file.string(), errno_text(errno)));
    }
  }
  text.resize(size);
  if (size > kMaxFileBytes) {
    throw Error(Exit::usage,
                fmt::format("{} has more than {} and is not a board configuration file",
                            file.string(), human_bytes(kMaxFileBytes)));
  }
  return text;
}

}  // namespace

IniSection::IniSection(std::string_view text, std::string_view section, const std::string& name) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const auto lines = split_lines(text);
  check_lines(lines, section, name);
  set_up_inih();
  Reading reading{.lines = lines, .section = section, .entries = entries_};
  const int bad_line = ::ini_parse_stream(give_line, &reading, take_entry, &reading);
  if (reading.failure) std::rethrow_exception(reading.failure);
  if (bad_line < 0) throw std::bad_alloc();
  if (bad_line > 0) fail(name, bad_line, "the closing ']' of the section's name is missing");
  if (reading.line_without_value != 0) {
    fail(name, reading.line_without_value, "it is neither 'key = value' nor a comment");
  }
}

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

bool is_host_word(std::string_view text) {
  // '%' starts the zone of an IPv6 address; bytes above 0x7f occur in non-ASCII names.
  const auto fits = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
           (byte >= 'A' && byte <= 'Z') || byte > 0x7f ||
           std::string_view(".-_:%").find(c) != std::string_view::npos;
  };
  return !text.empty() && !text.starts_with('-') && std::all_of(text.begin(), text.end(), fits);
}

void set_ip(BoardConfig& config, std::string_view ip, std::string_view where) {
  if (ip.starts_with('[') && ip.ends_with(']')) ip = ip.substr(1, ip.size() - 2);
  if (ip.find('@') != std::string_view::npos) {
    refuse(where, "ip must be only an address or a host name; give the account as username");
  }
  if (std::count(ip.begin(), ip.end(), ':') == 1) {
    refuse(where, "ip must be only an address or a host name; give the port as port");
  }
  if (!is_host_word(ip)) refuse(where, "ip is neither an address nor a host name");
  config.login.host = ip;
}

void set_user(BoardConfig& config, std::string_view user, std::string_view where) {
  if (user.empty() || user.starts_with('-') || has_control(user) ||
      user.find_first_of(" :") != std::string_view::npos) {
    refuse(where, "username is not a valid account name");
  }
  config.login.user = user;
  config.has_user = true;
}

void set_port(BoardConfig& config, std::string_view text, std::string_view where) {
  std::uint64_t port = 0;
  if (!parse_u64(text, port) || port < 1 || port > 65535) {
    refuse(where, "port must be a whole number from 1 to 65535");
  }
  config.login.port = static_cast<std::uint16_t>(port);
  config.has_port = true;
}

void set_host(BoardConfig& config, std::string_view host) {
  constexpr std::string_view kWhere = "--host";
  const auto at = host.rfind('@');
  if (at != std::string_view::npos) {
    const std::string_view user = host.substr(0, at);
    if (user.find(':') != std::string_view::npos) {
      refuse(kWhere,
             "expected user@ip[:port]; do not put a password on the command line, where others can "
             "read it (see --password-stdin)");
    }
    set_user(config, user, kWhere);
    host.remove_prefix(at + 1);
  }
  // Several colons without brackets: an IPv6 address without a port.
  const bool bracketed = host.starts_with('[') && host.find(']') != std::string_view::npos;
  const auto colon = bracketed ? host.find(']') + 1 : host.find(':');
  const bool has_port = bracketed ? host.substr(colon).starts_with(':')
                                  : std::count(host.begin(), host.end(), ':') == 1;
  if (has_port) {
    set_port(config, host.substr(colon + 1), kWhere);
    host = host.substr(0, colon);
  }
  set_ip(config, host, kWhere);
}

void set_key(BoardConfig& config, std::string_view key, const fs::path& base) {
  config.login.key =
      (key.starts_with("~/") ? own_home_folder() / key.substr(2) : base / key).lexically_normal();
}

void set_board_dir(BoardConfig& config, std::string_view folder, std::string_view where) {
  if (has_control(folder)) refuse(where, "board_dir contains control characters");
  const auto parts = split(folder, '/');
  if (std::find(parts.begin(), parts.end(), "..") != parts.end()) {
    refuse(where, "board_dir must not contain '..'");
  }
  if (folder == "~" || folder == ".") folder = "";
  if (folder.starts_with("~/")) folder.remove_prefix(2);
  if (folder.starts_with('~')) {
    refuse(where, "board_dir must be an absolute path, or relative to the account's home folder");
  }
  const fs::path normal = fs::path(folder).lexically_normal();
  config.board_dir = normal == "." ? "" : normal.string();
  while (config.board_dir.size() > 1 && config.board_dir.ends_with('/')) {
    config.board_dir.pop_back();
  }
}

void set_connect_timeout(BoardConfig& config, double seconds, std::string_view where) {
  if (!(seconds >= kMinTimeoutSeconds && seconds <= kMaxTimeoutSeconds)) {
    refuse(where,
           fmt::format("it must be {} to {} seconds", kMinTimeoutSeconds, kMaxTimeoutSeconds));
  }
  config.login.connect_timeout_seconds = seconds;
  config.has_connect_timeout = true;
}

void set_host_key(BoardConfig& config, std::string_view policy, std::string_view where) {
  const std::string word = lower_ascii(policy);
  if (word != "strict" && word != "accept-new" && word != "off") {
    refuse(where, "it must be strict, accept-new or off");
  }
  config.login.host_key = word == "strict"       ? HostKeyPolicy::strict
                          : word == "accept-new" ? HostKeyPolicy::accept_new
                                                 : HostKeyPolicy::off;
  config.has_host_key = true;
}

void set_jump(BoardConfig& config, std::string_view jumps, std::string_view where) {
  (void)parse_ssh_jumps(jumps, std::string(where));
  config.jump = SshConfigValue{std::string(trim(jumps)), std::string(where)};
}

void check_login(const BoardConfig& config, std::string_view source) {
  if (config.login.host.empty()) {
    refuse(source,
           "the board's address is missing: a line 'ip = …' in the file given with "
           "--config, or --host user@ip");
  }
  if (config.login.user.empty()) {
    refuse(source,
           "the account is missing: a line 'username = …' in the file given with --config, "
           "or --host user@ip");
  }
  const fs::path& key = config.login.key;
  if (key.empty()) return;
  struct stat status = {};
  const bool readable = ::stat(key.c_str(), &status) == 0 && ::access(key.c_str(), R_OK) == 0;
  if (!readable || !S_ISREG(status.st_mode)) {
    throw Error(Exit::nothing_to_do, fmt::format("cannot read the key {}: {}", key.string(),
                                                 readable ? "not a file" : errno_text(errno)));
  }
}

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
  const Undumpable guard;
  std::string text = read_config_text(file, others_may_read);
  // Wiped on every return path.
  const Secret secret(std::move(text));
  BoardConfig config = parse_board_config(secret.reveal(), file.string());
  const fs::path key = config.login.key;
  if (!key.empty()) set_key(config, key.string(), fs::absolute(file).parent_path());
  if (others_may_read && !config.password.empty()) {
    log::warn("{} contains a password and others can read it: chmod 600 {}", file.string(),
              shell_word(file.string()));
  }
  return config;
}

}  // namespace msprof
