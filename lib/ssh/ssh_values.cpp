#include "ssh/ssh_values.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "base/error.hpp"
#include "base/host_name.hpp"
#include "base/text.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMaxSshJumps = 8;
constexpr std::size_t kMaxExpandedBytes = 64 << 10;

std::string local_host() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return name.data();
}

std::string token_value(char token, const SshTokens& tokens, const std::string& where) {
  const std::string local = token == 'l' || token == 'L' ? local_host() : std::string();
  switch (token) {
    case '%':
      return "%";
    case 'h':
      return tokens.host;
    case 'n':
      return tokens.original;
    case 'k':
      return tokens.key_name.empty() ? tokens.original : tokens.key_name;
    case 'p':
      return std::to_string(tokens.port);
    case 'r':
      return tokens.user;
    case 'u':
      return own_account_name();
    case 'i':
      return std::to_string(::getuid());
    case 'd':
      return tokens.home.string();
    case 'l':
      return local;
    case 'L':
      return local.substr(0, local.find('.'));
    default:
      refuse_ssh_value(where,
                       fmt::format("unknown token %{}; expected %% %d %h %i %k %L %l %n %p %r %u",
                                   printable(std::string(1, token))));
  }
}

// Returns the value of "${NAME}" at the start of `text`, and the length of that reference in
// `length`.
std::string variable_value(std::string_view text, std::size_t& length, const std::string& where) {
  const auto end = text.find('}');
  if (end == std::string_view::npos) refuse_ssh_value(where, "${ without }");
  const std::string name(text.substr(2, end - 2));
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) {
    refuse_ssh_value(where, fmt::format("the variable {} is not set", printable(name)));
  }
  length = end + 1;
  return value;
}

}  // namespace

void refuse_ssh_value(const std::string& where, std::string_view problem) {
  throw Error(Exit::usage, fmt::format("{}: {}", where, problem));
}

std::uint16_t parse_ssh_port(std::string_view text, const std::string& where) {
  std::uint64_t port = 0;
  if (!parse_u64(text, port) || port < 1 || port > 65535) {
    refuse_ssh_value(where, "the port must be 1 to 65535");
  }
  return static_cast<std::uint16_t>(port);
}

bool has_unfit_byte(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte <= 0x20 || byte == 0x7f;
  });
}

std::string expand_ssh_tokens(const SshConfigValue& value, const SshTokens& tokens) {
  const std::string_view text = value.text;
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      if (i + 1 == text.size()) refuse_ssh_value(value.where, "a % at the end is not a token");
      result += token_value(text[++i], tokens, value.where);
    } else if (text.substr(i).starts_with("${")) {
      std::size_t length = 0;
      result += variable_value(text.substr(i), length, value.where);
      i += length - 1;
    } else {
      result += text[i];
    }
    if (result.size() > kMaxExpandedBytes) refuse_ssh_value(value.where, "the value is too long");
  }
  return result;
}

fs::path expand_ssh_path(const SshConfigValue& value, const SshTokens& tokens) {
  const std::string name = expand_ssh_tokens(value, tokens);
  if (name == "~") return tokens.home;
  if (name.starts_with("~/")) return (tokens.home / name.substr(2)).lexically_normal();
  return fs::absolute(name).lexically_normal();
}

std::vector<SshJump> parse_ssh_jumps(std::string_view text, const std::string& where) {
  std::vector<SshJump> jumps;
  if (lower_ascii(trim(text)) == "none") return jumps;
  for (std::string_view one : split(text, ',')) {
    one = trim(one);
    if (one.starts_with("ssh://")) {
      one.remove_prefix(6);
      if (one.ends_with('/')) one.remove_suffix(1);
    }
    SshJump jump;
    if (const auto at = one.rfind('@'); at != std::string_view::npos) {
      jump.user = one.substr(0, at);
      one.remove_prefix(at + 1);
      if (jump.user.find(':') != std::string::npos) {
        refuse_ssh_value(
            where,
            "a jump host must be [user@]host[:port], without a password (others could read it)");
      }
      if (jump.user.empty() || jump.user.starts_with('-')) {
        refuse_ssh_value(where, "a jump host must be [user@]host[:port]");
      }
    }
    // Several colons without brackets: an IPv6 address without a port.
    const bool bracketed = one.starts_with('[') && one.find(']') != std::string_view::npos;
    const auto colon = bracketed ? one.find(']') + 1 : one.find(':');
    const bool has_port = bracketed ? one.substr(colon).starts_with(':')
                                    : std::count(one.begin(), one.end(), ':') == 1;
    if (has_port) {
      jump.port = parse_ssh_port(one.substr(colon + 1), where);
      one = one.substr(0, colon);
    }
    if (bracketed) {
      if (!one.ends_with(']')) refuse_ssh_value(where, "a jump host must be [user@]host[:port]");
      one = one.substr(1, one.size() - 2);
    }
    const bool is_word = !has_unfit_byte(one) && !has_unfit_byte(jump.user) &&
                         one.find_first_of("[]/'\"\\;&|<>()$`!*?") == std::string_view::npos;
    if (one.empty() || one.starts_with('-') || !is_word) {
      refuse_ssh_value(where, "a jump host must be [user@]host[:port]");
    }
    jump.host = one;
    jumps.push_back(std::move(jump));
    if (jumps.size() > kMaxSshJumps) {
      refuse_ssh_value(where, fmt::format("more than {} jump hosts", kMaxSshJumps));
    }
  }
  return jumps;
}

}  // namespace msprof
