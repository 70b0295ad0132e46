// SshLogin: which host, which account, and how far its key is trusted. For whoever opens an
// SshConnection.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "ssh/secret.hpp"

namespace msprof {

// What an unknown host key means. A changed one ends the connection under every policy but `off`.
enum class HostKeyPolicy {
  strict,      // asked on a terminal, refused without one
  accept_new,  // taken and remembered
  off,         // no key is looked at or remembered
};

// What a login has behind it, in this order.
enum class LoginStep { connected, agreed, host_key_taken, logged_in };

struct SshLogin {
  std::string host;  // name or address, IPv6 without brackets
  std::uint16_t port = 22;
  std::string user;
  std::filesystem::path key;  // a private key; empty: none given
  HostKeyPolicy host_key = HostKeyPolicy::strict;
  double connect_timeout_seconds = 10;  // for connecting and for every answer of the login
  SecretSource password;                // when nothing else has logged in
  SecretSource passphrase;              // of `key`, where it has one and the host takes the key
  // Called after each step, where it is set; for those who want to know how far a login came.
  std::function<void(LoginStep)> on_step;
  // Where known_hosts and the default keys are; empty: .ssh in the user's home folder.
  std::filesystem::path ssh_folder;

  // "root@192.168.1.10", with ":2222" where the port is not 22.
  std::string name() const;
};

}  // namespace msprof
