// SshHostConfig: the settings of ssh(1)'s configuration for one host; the first value found is
// used, as in ssh. Used to create a login from a host name.
//
// Does not use libssh's parser, which runs the commands of `ProxyCommand` and `Match exec`, does
// not support ProxyJump, and reports no line numbers. This parser never runs anything. It ignores
// keys other than those of the members below.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ssh/ssh_connection.hpp"
#include "ssh/ssh_values.hpp"

namespace msprof {

struct SshHostConfig {
  std::optional<SshConfigValue> host_name;
  std::optional<SshConfigValue> user;
  std::optional<SshConfigValue> host_key_alias;
  // At most one of the two is set: the one found first. "none" is a value.
  std::optional<SshConfigValue> proxy_jump;
  std::optional<SshConfigValue> proxy_command;  // never run
  std::optional<std::uint16_t> port;
  std::optional<HostKeyPolicy> host_key;  // StrictHostKeyChecking
  std::optional<double> connect_timeout_seconds;
  std::optional<bool> uses_identities_only;
  std::vector<SshConfigValue> identity_files;     // all that are found, in order
  std::vector<SshConfigValue> certificate_files;  // all that are found, in order
  std::vector<SshConfigValue> known_hosts;        // UserKnownHostsFile
  bool is_named = false;                          // matched by a Host line other than "*"
  std::vector<std::string> taken;                 // "HostName (/home/me/.ssh/config, line 3)"
  // Messages about skipped parts: Match lines with conditions, unreadable files.
  std::vector<std::string> notes;
};

struct SshConfigFiles {
  std::filesystem::path user;    // such as ~/.ssh/config; empty: none
  std::filesystem::path system;  // such as /etc/ssh/ssh_config; empty: none
  std::filesystem::path home;    // for "~/"; relative names in Include are relative to its .ssh
  // The user gave `user` explicitly: the file must exist, and may have any owner.
  bool is_explicit = false;
};

// Reads the settings for `host`, the name as given by the user; ignores missing files. Throws
// Error(usage) with file and line for invalid lines, for a file owned by others that could redirect
// the login, and for exceeded limits; Error(nothing_to_do) if an explicit file cannot be read.
SshHostConfig read_ssh_config(const std::string& host, const SshConfigFiles& files);

// Parses a text like read_ssh_config(); `include` receives the pattern of each Include line and
// whether its block matches the host. `name` is for messages.
using SshConfigInclude =
    std::function<void(const std::string& pattern, bool is_active, const std::string& where)>;
void parse_ssh_config(std::string_view text, const std::string& name, const std::string& host,
                      SshHostConfig& found, const SshConfigInclude& include, bool is_active = true);

}  // namespace msprof
