// Values in ssh's configuration: their location, tokens, ports and jump hosts. Used by the parser
// of the configuration and to create logins.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace msprof {

// A value as written in a file, and its location: "/home/me/.ssh/config, line 3".
struct SshConfigValue {
  std::string text;
  std::string where;
};

// Replacements for the tokens of a value.
struct SshTokens {
  std::string host;      // %h: the address; in HostName itself the given name
  std::string original;  // %n: the given name
  std::string key_name;  // %k: HostKeyAlias, else the same as %n
  std::uint16_t port = 22;
  std::string user;            // %r; %u and %i are the local account
  std::filesystem::path home;  // %d
};

// Returns `value` with its tokens and ${VARIABLES} replaced; throws Error(usage) with its location
// for unknown ones.
std::string expand_ssh_tokens(const SshConfigValue& value, const SshTokens& tokens);

// Same as expand_ssh_tokens(), for a file name, which may start with "~/"; relative names are
// relative to the working folder.
std::filesystem::path expand_ssh_path(const SshConfigValue& value, const SshTokens& tokens);

// One jump host of a ProxyJump: "[user@]host[:port]" or "ssh://…". 0 and empty: not given.
struct SshJump {
  std::string host;
  std::string user;
  std::uint16_t port = 0;
};

// Parses a comma-separated list; empty for "none". Throws Error(usage) whose message starts with
// `where`.
std::vector<SshJump> parse_ssh_jumps(std::string_view text, const std::string& where);

// Parses a port, 1 to 65535; throws Error(usage) whose message starts with `where`.
std::uint16_t parse_ssh_port(std::string_view text, const std::string& where);

// Returns true for blanks and control characters, which are invalid in names.
bool has_unfit_byte(std::string_view text);

[[noreturn]] void refuse_ssh_value(const std::string& where, std::string_view problem);

}  // namespace msprof
