// Values of ssh's configuration: their places, tokens, ports and jump hosts. For its parser and for
// whoever makes a login of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace msprof {

// A value as it stands in a file, and its place: "/home/me/.ssh/config, line 3".
struct SshConfigValue {
  std::string text;
  std::string where;
};

// What the tokens of a value stand for.
struct SshTokens {
  std::string host;      // %h: the address; of HostName itself the name that was given
  std::string original;  // %n: the name that was given
  std::string key_name;  // %k: HostKeyAlias, else as %n
  std::uint16_t port = 22;
  std::string user;            // %r; %u and %i are the account here
  std::filesystem::path home;  // %d
};

// `value` with its tokens and ${VARIABLES} replaced; throws Error(usage) with its place for others.
std::string expand_ssh_tokens(const SshConfigValue& value, const SshTokens& tokens);

// The same of the name of a file, with "~/"; relative names are in the working folder.
std::filesystem::path expand_ssh_path(const SshConfigValue& value, const SshTokens& tokens);

// One step of a ProxyJump: "[user@]host[:port]" or "ssh://…". 0 and empty: not given.
struct SshJump {
  std::string host;
  std::string user;
  std::uint16_t port = 0;
};

// A list with commas; empty for "none". Throws Error(usage) that begins with `where`.
std::vector<SshJump> parse_ssh_jumps(std::string_view text, const std::string& where);

// Port 1 to 65535; throws Error(usage) that begins with `where`.
std::uint16_t parse_ssh_port(std::string_view text, const std::string& where);

// True for blanks and control characters, which no name has.
bool has_unfit_byte(std::string_view text);

[[noreturn]] void refuse_ssh_value(const std::string& where, std::string_view problem);

}  // namespace msprof
