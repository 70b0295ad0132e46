#include "board/config.hpp"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/error.hpp"
#include "base/text.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

constexpr double kShortestTimeoutSeconds = 0.1;
constexpr double kLongestTimeoutSeconds = 3600;

[[noreturn]] void refuse(std::string_view where, std::string_view problem) {
  throw Error(Exit::usage, fmt::format("{}: {}", where, problem));
}

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) == 0x7f;
  });
}

fs::path home_folder() {
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home == '/') return home;
  const passwd* user = ::getpwuid(::geteuid());
  return user != nullptr && user->pw_dir != nullptr ? fs::path(user->pw_dir) : fs::path("/");
}

}  // namespace

void set_ip(BoardConfig& config, std::string_view ip, std::string_view where) {
  if (ip.starts_with('[') && ip.ends_with(']')) ip = ip.substr(1, ip.size() - 2);
  if (ip.find('@') != std::string_view::npos) {
    refuse(where, "ip is an address or a name alone; the account goes to username");
  }
  if (std::count(ip.begin(), ip.end(), ':') == 1) {
    refuse(where, "ip is an address or a name alone; the port goes to port");
  }
  // '%' begins the zone of an IPv6 address; bytes above 0x7f are names in other scripts.
  const auto fits = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
           (byte >= 'A' && byte <= 'Z') || byte > 0x7f ||
           std::string_view(".-_:%").find(c) != std::string_view::npos;
  };
  if (ip.empty() || ip.starts_with('-') || !std::all_of(ip.begin(), ip.end(), fits)) {
    refuse(where, "ip is no address and no name of a host");
  }
  config.login.host = ip;
}

void set_user(BoardConfig& config, std::string_view user, std::string_view where) {
  if (user.empty() || user.starts_with('-') || has_control(user) ||
      user.find_first_of(" :") != std::string_view::npos) {
    refuse(where, "username is no name of an account");
  }
  config.login.user = user;
}

void set_port(BoardConfig& config, std::string_view text, std::string_view where) {
  std::uint64_t port = 0;
  if (!parse_u64(text, port) || port < 1 || port > 65535) {
    refuse(where, "port is a whole number from 1 to 65535");
  }
  config.login.port = static_cast<std::uint16_t>(port);
}

void set_host(BoardConfig& config, std::string_view host) {
  constexpr std::string_view kWhere = "--host";
  const auto at = host.rfind('@');
  if (at != std::string_view::npos) {
    const std::string_view user = host.substr(0, at);
    if (user.find(':') != std::string_view::npos) {
      refuse(kWhere,
             "it takes user@ip[:port]; a password does not belong on the command line, "
             "where others can read it (see --password-stdin)");
    }
    set_user(config, user, kWhere);
    host.remove_prefix(at + 1);
  }
  if (config.login.user.empty()) refuse(kWhere, "it takes user@ip[:port]; the account is missing");
  // More than one colon without brackets is an IPv6 address alone.
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
      (key.starts_with("~/") ? home_folder() / key.substr(2) : base / key).lexically_normal();
}

void set_board_dir(BoardConfig& config, std::string_view folder, std::string_view where) {
  if (has_control(folder)) refuse(where, "board_dir holds control characters");
  const auto parts = split(folder, '/');
  if (std::find(parts.begin(), parts.end(), "..") != parts.end()) {
    refuse(where, "board_dir must not hold '..'");
  }
  if (folder == "~" || folder == ".") folder = "";
  if (folder.starts_with("~/")) folder.remove_prefix(2);
  if (folder.starts_with('~')) {
    refuse(where, "board_dir is absolute, or below the account's home");
  }
  const fs::path normal = fs::path(folder).lexically_normal();
  config.board_dir = normal == "." ? "" : normal.string();
  while (config.board_dir.size() > 1 && config.board_dir.ends_with('/')) {
    config.board_dir.pop_back();
  }
}

void set_connect_timeout(BoardConfig& config, double seconds, std::string_view where) {
  if (!(seconds >= kShortestTimeoutSeconds && seconds <= kLongestTimeoutSeconds)) {
    refuse(where, fmt::format("it takes seconds from {} to {}", kShortestTimeoutSeconds,
                              kLongestTimeoutSeconds));
  }
  config.login.connect_timeout_seconds = seconds;
}

HostKeyPolicy parse_host_key_policy(std::string_view text, std::string_view where) {
  const std::string policy = lower_ascii(text);
  if (policy == "strict") return HostKeyPolicy::strict;
  if (policy == "accept-new") return HostKeyPolicy::accept_new;
  if (policy == "off") return HostKeyPolicy::off;
  refuse(where, "it is strict, accept-new or off");
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
    throw Error(Exit::nothing_to_do, fmt::format("the key {} cannot be read: {}", key.string(),
                                                 readable ? "not a file" : errno_text(errno)));
  }
}

}  // namespace msprof
