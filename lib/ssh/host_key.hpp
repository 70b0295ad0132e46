// Host keys: entries of known_hosts files about one host (KnownHosts), and the check that the
// machine that answers is the known board (HostKeyCheck). Inside lib/ssh.
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
  bool revoked = false;  // @revoked: never to be taken
};

// Entries of the files, with file and line, and the safe way to add a line.
class KnownHosts {
 public:
  // Reads what `files` say about `name`, "host" or "[host]:port"; those that are absent count as
  // empty. Hashed names, patterns and [host]:port
  // are understood.
  KnownHosts(const std::string& name, std::vector<std::filesystem::path> files);

  const std::vector<KnownHostKey>& keys() const { return keys_; }
  // Name of the host in the files: "host" or "[host]:port".
  const std::string& name() const { return name_; }

  // Appends the key to the first file (0600, its folder 0700), unless another program has just done
  // so. Returns 0 or the errno of the failure.
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
  // Reads ssh_folder/known_hosts, and that of the system where `with_system`. `accepted`: the key
  // that the run has accepted of this host before.
  HostKeyCheck(const SshLogin& login, bool with_system, std::optional<HostKey> accepted = {});

  // Key types for SSH_OPTIONS_HOSTKEYS, those that are known of this host first; else a host with
  // several keys might present one that is not known.
  std::string preferred_types() const;

  // Returns the host's key if it is the accepted one or, where there is none yet, one that is
  // known or accepted now. Throws ConnectFailure(host_key) otherwise.
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
