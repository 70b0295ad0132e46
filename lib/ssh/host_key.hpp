// Host keys: known_hosts entries for one host (KnownHosts), and the check of the key that the host
// presents (HostKeyCheck). Internal to lib/ssh.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ssh/run_hosts.hpp"
#include "ssh/ssh_connection.hpp"

namespace msprof {

class SshSession;

struct KnownHostKey {
  HostKey key;
  std::filesystem::path file;
  std::size_t line = 0;
  bool is_revoked = false;  // @revoked: must not be accepted
};

// The entries, each with file and line number; can append a new one.
class KnownHosts {
 public:
  // Reads the entries of `files` for `name`, "host" or "[host]:port"; missing files count as empty.
  // Supports hashed names, patterns and [host]:port.
  KnownHosts(const std::string& name, std::vector<std::filesystem::path> files);

  const std::vector<KnownHostKey>& keys() const { return keys_; }
  // Name of the host in the files: "host" or "[host]:port".
  const std::string& name() const { return name_; }

  // Appends the key to the first file (0600, its folder 0700), unless another process has just done
  // so. Returns 0 or an errno value.
  int remember(const HostKey& key) const;

 private:
  std::string name_;
  std::vector<std::filesystem::path> files_;
  std::vector<KnownHostKey> keys_;
};

// Name of the host in known_hosts: "host" or "[host]:port", or its alias.
std::string known_host_name(const SshLogin& login);

class HostKeyCheck {
 public:
  // Reads ssh_folder/known_hosts, and the system's file if `with_system`. `accepted`: the key that
  // the run has already accepted for this host.
  HostKeyCheck(const SshLogin& login, bool with_system, std::optional<HostKey> accepted = {});

  // Key types for SSH_OPTIONS_HOSTKEYS, types of known keys first; otherwise a host with several
  // keys might present an unknown one.
  std::string preferred_types() const;

  // Returns the host's key if it equals `accepted`, or, without `accepted`, if it is known or is
  // accepted now. Throws ConnectFailure(host_key) otherwise.
  HostKey check(const SshSession& session) const;

 private:
  bool is_expected(std::string_view type) const;
  void take_unknown(const HostKey& presented) const;
  void remember(const HostKey& presented) const;
  bool ask(const HostKey& presented) const;
  [[noreturn]] void throw_unknown(const HostKey& presented) const;
  [[noreturn]] void throw_changed(const HostKey& presented) const;
  [[noreturn]] void throw_changed_in_run(const HostKey& presented) const;

  const SshLogin& login_;
  KnownHosts known_;
  std::filesystem::path file_;
  std::optional<HostKey> accepted_;
};

}  // namespace msprof
