// SshHostConfig: what the configuration of ssh(1) says about one host: the first value that is
// found wins, as there. For whoever makes a login of a name.
//
// A parser of our own: the library's runs the commands of `ProxyCommand` and `Match exec`, knows no
// ProxyJump, and names no line. Nothing of a file is ever run here. Keys that are not listed below
// are passed over.
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
  // At most one of these: the one that is found first. "none" is a value.
  std::optional<SshConfigValue> proxy_jump;
  std::optional<SshConfigValue> proxy_command;  // never run
  std::optional<std::uint16_t> port;
  std::optional<HostKeyPolicy> host_key;  // StrictHostKeyChecking
  std::optional<double> connect_timeout_seconds;
  std::optional<bool> identities_only;
  std::vector<SshConfigValue> identity_files;     // in their order; all that are found
  std::vector<SshConfigValue> certificate_files;  // likewise
  std::vector<SshConfigValue> known_hosts;        // UserKnownHostsFile
  bool is_named = false;                          // by a Host line other than "*"
  std::vector<std::string> taken;                 // "HostName (/home/me/.ssh/config, line 3)"
  // Sentences about what was left out: Match lines with conditions, files that cannot be read.
  std::vector<std::string> notes;
};

struct SshConfigFiles {
  std::filesystem::path user;    // as ~/.ssh/config; empty: none
  std::filesystem::path system;  // as /etc/ssh/ssh_config; empty: none
  std::filesystem::path home;    // for "~/"; the relative names that Include has are in its .ssh
  // `user` was named by the user: it has to be there, and may belong to anybody.
  bool is_explicit = false;
};

// Reads what the files say about `host`, the name as the user gave it; absent files say nothing.
// Throws Error(usage) with file and line for lines that make no sense, for a file of others that
// could send the login elsewhere, and for what is beyond all measure; Error(nothing_to_do) where an
// explicit file cannot be read.
SshHostConfig read_ssh_config(const std::string& host, const SshConfigFiles& files);

// Likewise from a text; `include` gets what an Include line names and whether its block is about
// the host. `name` is for messages.
using SshConfigInclude =
    std::function<void(const std::string& pattern, bool is_active, const std::string& where)>;
void parse_ssh_config(std::string_view text, const std::string& name, const std::string& host,
                      SshHostConfig& found, const SshConfigInclude& include, bool is_active = true);

}  // namespace msprof
