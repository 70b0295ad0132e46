#include "ssh/ssh_config.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/error.hpp"
#include "base/file_reader.hpp"
#include "base/folder_listing.hpp"
#include "base/foreign_error.hpp"
#include "base/read_write.hpp"
#include "base/text.hpp"
#include "ssh/ssh_values.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMaxSshConfigBytes = 1 << 20;  // per file
constexpr std::size_t kMaxSshConfigFiles = 256;
constexpr int kMaxIncludeDepth = 16;            // same as ssh(1)
constexpr std::size_t kMaxIdentityFiles = 100;  // same as ssh(1)
constexpr std::size_t kMaxSshNotes = 20;
constexpr std::uint64_t kMinSshTimeout = 1;
constexpr std::uint64_t kMaxSshTimeout = 3600;

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\f';
}

// Splits a line into words, which are quoted if they contain blanks; '#' starts a comment. Returns
// nullopt for an unclosed quote.
std::optional<std::vector<std::string>> split_words(std::string_view line) {
  std::vector<std::string> words;
  std::size_t i = 0;
  for (;;) {
    while (i < line.size() && is_blank(line[i])) ++i;
    if (i == line.size() || line[i] == '#') return words;
    std::string word;
    char quote = '\0';
    for (; i < line.size() && (quote != '\0' || !is_blank(line[i])); ++i) {
      const char c = line[i];
      const char next = i + 1 < line.size() ? line[i + 1] : '\0';
      const bool escapes =
          next == '"' || next == '\'' || next == '\\' || (next == ' ' && quote == '\0');
      if (c == '\\' && escapes) {
        word += next;
        ++i;
      } else if (quote == '\0' && (c == '"' || c == '\'')) {
        quote = c;
      } else if (quote != '\0' && c == quote) {
        quote = '\0';
      } else {
        word += c;
      }
    }
    if (quote != '\0') return std::nullopt;
    words.push_back(std::move(word));
  }
}

struct ConfigLine {
  std::string key;  // lower case
  std::string_view rest;
};

// Parses "Key value", "Key=value" or "Key = value"; the key is empty for an empty or comment line.
ConfigLine split_line(std::string_view line) {
  while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
  while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
  if (line.empty() || line.front() == '#') return {};
  std::size_t end = 0;
  while (end < line.size() && !is_blank(line[end]) && line[end] != '=') ++end;
  ConfigLine result = {lower_ascii(line.substr(0, end)), line.substr(end)};
  std::string_view& rest = result.rest;
  while (!rest.empty() && is_blank(rest.front())) rest.remove_prefix(1);
  if (rest.starts_with('=')) rest.remove_prefix(1);
  return result;
}

bool matches_one(std::string_view name, std::string_view pattern) {
  std::size_t at = 0;
  std::size_t i = 0;
  std::size_t star = std::string_view::npos;
  std::size_t behind_star = 0;
  while (at < name.size()) {
    if (i < pattern.size() && pattern[i] == '*') {
      star = i++;
      behind_star = at;
    } else if (i < pattern.size() && (pattern[i] == '?' || pattern[i] == name[at])) {
      ++i;
      ++at;
    } else if (star != std::string_view::npos) {
      i = star + 1;
      at = ++behind_star;
    } else {
      return false;
    }
  }
  while (i < pattern.size() && pattern[i] == '*') ++i;
  return i == pattern.size();
}

HostKeyPolicy parse_checking(const std::string& text, const std::string& where) {
  const std::string word = lower_ascii(text);
  if (word == "ask") return HostKeyPolicy::strict;
  if (word == "yes" || word == "true") return HostKeyPolicy::known_only;
  // "no" and "off" are stricter than in ssh: a changed key always ends the login.
  if (word == "accept-new" || word == "no" || word == "off" || word == "false") {
    return HostKeyPolicy::accept_new;
  }
  refuse_ssh_value(where, "StrictHostKeyChecking: expected yes, ask, accept-new or no");
}

bool parse_yes(const std::string& text, const std::string& where, std::string_view key) {
  const std::string word = lower_ascii(text);
  if (word == "yes" || word == "true") return true;
  if (word == "no" || word == "false") return false;
  refuse_ssh_value(where, fmt::format("{}: expected yes or no", key));
}

enum class ConfigKey {
  host_name,
  user,
  port,
  identity_file,
  certificate_file,
  identities_only,
  known_hosts,
  checking,
  key_alias,
  proxy_jump,
  proxy_command,
  timeout
};

struct KnownKey {
  std::string_view lower;
  std::string_view text;
  ConfigKey key;
};

constexpr std::array<KnownKey, 12> kConfigKeys = {{
    {"hostname", "HostName", ConfigKey::host_name},
    {"user", "User", ConfigKey::user},
    {"port", "Port", ConfigKey::port},
    {"identityfile", "IdentityFile", ConfigKey::identity_file},
    {"certificatefile", "CertificateFile", ConfigKey::certificate_file},
    {"identitiesonly", "IdentitiesOnly", ConfigKey::identities_only},
    {"userknownhostsfile", "UserKnownHostsFile", ConfigKey::known_hosts},
    {"stricthostkeychecking", "StrictHostKeyChecking", ConfigKey::checking},
    {"hostkeyalias", "HostKeyAlias", ConfigKey::key_alias},
    {"proxyjump", "ProxyJump", ConfigKey::proxy_jump},
    {"proxycommand", "ProxyCommand", ConfigKey::proxy_command},
    {"connecttimeout", "ConnectTimeout", ConfigKey::timeout},
}};

class ConfigParser {
 public:
  ConfigParser(const std::string& name, const std::string& host, SshHostConfig& found,
               const SshConfigInclude& include, bool is_active)
      : name_(name),
        host_(host),
        found_(found),
        include_(include),
        may_be_active_(is_active),
        is_active_(is_active) {}

  void parse(std::string_view text) {
    std::size_t number = 0;
    while (!text.empty()) {
      const auto end = text.find('\n');
      where_ = fmt::format("{}, line {}", name_, ++number);
      take_line(text.substr(0, end));
      if (end == std::string_view::npos) return;
      text.remove_prefix(end + 1);
    }
  }

 private:
  void take_line(std::string_view line) {
    if (line.find('\0') != std::string_view::npos) {
      refuse_ssh_value(where_, "it contains NUL bytes and is not plain text");
    }
    const ConfigLine split = split_line(line);
    if (split.key.empty()) return;
    if (split.key == "host") return take_host(words(split, "Host"));
    if (split.key == "match") return take_match(words(split, "Match"));
    if (split.key == "include") return take_include(words(split, "Include"));
    const auto* known = std::find_if(kConfigKeys.begin(), kConfigKeys.end(),
                                     [&](const KnownKey& one) { return one.lower == split.key; });
    if (known == kConfigKeys.end()) return;
    if (!skipped_match_.empty()) note(std::exchange(skipped_match_, {}));
    if (known->key == ConfigKey::proxy_command) return take_command(split.rest);
    const auto values = words(split, known->text);
    if (values.size() > 1 && known->key != ConfigKey::known_hosts) {
      refuse_ssh_value(where_, fmt::format("{}: expected one value", known->text));
    }
    // Checked even if the block is for another host.
    take_value(*known, values);
  }

  std::vector<std::string> words(const ConfigLine& line, std::string_view key) const {
    auto list = split_words(line.rest);
    if (!list) refuse_ssh_value(where_, "the closing quote is missing");
    if (list->empty() || list->front().empty()) {
      refuse_ssh_value(where_, fmt::format("{} has no value", key));
    }
    return std::move(*list);
  }

  void take_host(const std::vector<std::string>& patterns) {
    skipped_match_.clear();
    bool fits = false;
    bool is_negated = false;
    bool is_named = false;
    for (const std::string& pattern : patterns) {
      const bool negates = pattern.starts_with('!');
      if (!matches_one(host_, std::string_view(pattern).substr(negates ? 1 : 0))) continue;
      (negates ? is_negated : fits) = true;
      if (!negates && pattern != "*") is_named = true;
    }
    is_active_ = may_be_active_ && fits && !is_negated;
    found_.is_named = found_.is_named || (is_active_ && is_named);
  }

  void take_match(const std::vector<std::string>& words) {
    const bool is_all = words.size() == 1 && lower_ascii(words.front()) == "all";
    is_active_ = may_be_active_ && is_all;
    skipped_match_ =
        is_all || !may_be_active_
            ? std::string()
            : fmt::format("{}: only 'Match all' is supported; this Match block is ignored", where_);
  }

  void take_include(const std::vector<std::string>& patterns) {
    for (const std::string& pattern : patterns) include_(pattern, is_active_, where_);
  }

  void take_command(std::string_view rest) {
    const std::string text(trim(rest));
    if (text.empty()) refuse_ssh_value(where_, "ProxyCommand has no value");
    if (!is_active_ || found_.proxy_command || found_.proxy_jump) return;
    found_.proxy_command = SshConfigValue{text, where_};
    if (lower_ascii(text) != "none") took("ProxyCommand");
  }

  void take_value(const KnownKey& known, const std::vector<std::string>& values) {
    const std::string& value = values.front();
    switch (known.key) {
      case ConfigKey::host_name:
        return set_text(found_.host_name, known, value);
      case ConfigKey::user:
        return set_text(found_.user, known, value);
      case ConfigKey::key_alias:
        return set_text(found_.host_key_alias, known, value);
      case ConfigKey::port:
        return set(found_.port, known, parse_ssh_port(value, where_));
      case ConfigKey::checking:
        return set(found_.host_key, known, parse_checking(value, where_));
      case ConfigKey::identities_only:
        return set(found_.uses_identities_only, known, parse_yes(value, where_, known.text));
      case ConfigKey::timeout:
        return set(found_.connect_timeout_seconds, known, parse_timeout(value));
      case ConfigKey::identity_file:
        return add(found_.identity_files, known, value);
      case ConfigKey::certificate_file:
        return add(found_.certificate_files, known, value);
      case ConfigKey::known_hosts:
        if (!is_active_ || !found_.known_hosts.empty()) return;
        for (const std::string& file : values) add(found_.known_hosts, known, file);
        return;
      case ConfigKey::proxy_jump:
        (void)parse_ssh_jumps(without_tokens(value), where_ + ": ProxyJump");
        if (!found_.proxy_command) set_text(found_.proxy_jump, known, value);
        return;
      case ConfigKey::proxy_command:
        return;
    }
  }

  // Replaces tokens by '0', to check a name before the tokens are known.
  static std::string without_tokens(const std::string& text) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '%' && i + 1 < text.size()) {
        ++i;
        result += '0';
      } else {
        result += text[i];
      }
    }
    return result;
  }

  std::optional<double> parse_timeout(const std::string& text) const {
    std::uint64_t seconds = 0;
    if (lower_ascii(text) == "none" || text == "0") return std::nullopt;
    if (!parse_u64(text, seconds) || seconds < kMinSshTimeout || seconds > kMaxSshTimeout) {
      refuse_ssh_value(where_, fmt::format("ConnectTimeout: expected {} to {} seconds",
                                           kMinSshTimeout, kMaxSshTimeout));
    }
    return static_cast<double>(seconds);
  }

  template <typename T, typename V>
  void set(std::optional<T>& target, const KnownKey& known, const V& value) {
    if (!is_active_ || target) return;
    target = value;
    if (target) took(known.text);
  }
  void set_text(std::optional<SshConfigValue>& target, const KnownKey& known,
                const std::string& value) {
    if (has_unfit_byte(value)) {
      refuse_ssh_value(where_,
                       fmt::format("{} contains a blank or a control character", known.text));
    }
    set(target, known, SshConfigValue{value, where_});
  }
  void add(std::vector<SshConfigValue>& list, const KnownKey& known, const std::string& value) {
    if (!is_active_) return;
    if (list.size() >= kMaxIdentityFiles) {
      refuse_ssh_value(where_,
                       fmt::format("more than {} values for {}", kMaxIdentityFiles, known.text));
    }
    list.push_back({value, where_});
    took(known.text);
  }

  void took(std::string_view key) {
    if (found_.taken.size() < 2 * kMaxIdentityFiles) {
      found_.taken.push_back(fmt::format("{} ({})", key, where_));
    }
  }
  void note(std::string text) {
    if (found_.notes.size() < kMaxSshNotes) found_.notes.push_back(std::move(text));
  }

  const std::string& name_;
  const std::string& host_;
  SshHostConfig& found_;
  const SshConfigInclude& include_;
  const bool may_be_active_;  // false within an Include of a block for other hosts
  bool is_active_;
  std::string skipped_match_;  // message about a skipped Match line, shown only if its block
                               // contains a relevant key
  std::string where_;
};

class ConfigReader {
 public:
  ConfigReader(const std::string& host, const SshConfigFiles& files) : host_(host), files_(files) {}

  SshHostConfig read() {
    if (!files_.user.empty()) {
      const auto trust = files_.is_explicit ? Trust::anybodys : Trust::own;
      read_file(files_.user, files_.home / ".ssh", trust, true, files_.is_explicit, 0);
    }
    if (!files_.system.empty()) {
      read_file(files_.system, files_.system.parent_path(), Trust::anybodys, true, false, 0);
    }
    return std::move(found_);
  }

 private:
  enum class Trust { own, anybodys };

  void note(const fs::path& file, const std::string& problem) {
    if (found_.notes.size() < kMaxSshNotes) {
      found_.notes.push_back(fmt::format("{} is ignored: {}", file.string(), problem));
    }
  }

  void read_file(const fs::path& file, const fs::path& folder, Trust trust, bool is_active,
                 bool must_be_there, int depth) {
    if (++count_ > kMaxSshConfigFiles) {
      throw Error(Exit::usage, fmt::format("{}: more than {} SSH configuration files",
                                           file.string(), kMaxSshConfigFiles));
    }
    const FileDescriptor fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    struct stat status = {};
    if (!fd || ::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
      const int error_number = errno;
      const std::string problem = fd ? "it is not a file" : errno_text(error_number);
      const bool is_absent = !fd && (error_number == ENOENT || error_number == ENOTDIR);
      if (must_be_there) {
        throw Error(fd ? Exit::nothing_to_do : to_unreadable_exit(error_number),
                    fmt::format("--ssh-config: cannot read {}: {}", file.string(), problem));
      }
      if (!is_absent) note(file, problem);
      return;
    }
    const bool others_write = (status.st_mode & (S_IWGRP | S_IWOTH)) != 0;
    if (trust == Trust::own &&
        (others_write || (status.st_uid != 0 && status.st_uid != ::getuid()))) {
      throw Error(
          Exit::usage,
          fmt::format("{}: refused because others can write it and redirect logins: chmod go-w {}",
                      file.string(), shell_word(file.string())));
    }
    const std::string text = read_file(fd.get(), file);
    const SshConfigInclude include = [&](const std::string& pattern, bool active,
                                         const std::string& where) {
      include_files(pattern, folder, trust, active, depth, where);
    };
    parse_ssh_config(text, file.string(), host_, found_, include, is_active);
  }

  static std::string read_file(int fd, const fs::path& file) {
    std::string text(kMaxSshConfigBytes + 1, '\0');
    const std::size_t size = read_all(fd, std::as_writable_bytes(std::span(text)));
    if (size < text.size() && errno != 0) {
      throw Error(Exit::partial_data,
                  fmt::format("cannot read {}: {}", file.string(), errno_text(errno)));
    }
    text.resize(size);
    if (size > kMaxSshConfigBytes) {
      throw Error(Exit::usage,
                  fmt::format("{} has more than {} and is not an SSH configuration file",
                              file.string(), human_bytes(kMaxSshConfigBytes)));
    }
    return text;
  }

  void include_files(const std::string& pattern, const fs::path& folder, Trust trust, bool active,
                     int depth, const std::string& where) {
    if (depth + 1 >= kMaxIncludeDepth) {
      refuse_ssh_value(where,
                       fmt::format("Include is nested more than {} levels deep", kMaxIncludeDepth));
    }
    const fs::path whole =
        pattern.starts_with("~/") ? files_.home / pattern.substr(2) : folder / pattern;
    for (const std::string& name : list_matches(whole, GLOB_NOCHECK))
      read_file(name, folder, trust, active, false, depth + 1);
  }

  const std::string& host_;
  const SshConfigFiles& files_;
  SshHostConfig found_;
  std::size_t count_ = 0;
};

}  // namespace

void parse_ssh_config(std::string_view text, const std::string& name, const std::string& host,
                      SshHostConfig& found, const SshConfigInclude& include, bool is_active) {
  ConfigParser(name, host, found, include, is_active).parse(text);
}

SshHostConfig read_ssh_config(const std::string& host, const SshConfigFiles& files) {
  return ConfigReader(host, files).read();
}

}  // namespace msprof
