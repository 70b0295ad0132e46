// HostKeyCheck: whether the machine that answers is the board that is known. Inside lib/ssh.
#pragma once

#include <string>

#include "ssh/known_hosts.hpp"
#include "ssh/ssh_login.hpp"
#include "ssh/ssh_session.hpp"

namespace msprof {

class HostKeyCheck {
 public:
  // Reads ssh_folder/known_hosts, and that of the system where `with_system`.
  HostKeyCheck(const SshLogin& login, bool with_system);

  // Key types for SSH_OPTIONS_HOSTKEYS, those that are known of this host first; else a host with
  // several keys might present one that is not known.
  std::string preferred_types() const;

  // Throws Error(board_unreachable) unless the host's key is to be taken: known, taken now, or
  // `taken` (base64) by this connection before. Returns it as base64.
  std::string check(const SshSession& session, const std::string& taken) const;

 private:
  void take_unknown(const HostKey& presented) const;
  void remember(const HostKey& presented) const;
  bool ask(const HostKey& presented) const;
  [[noreturn]] void throw_unknown(const HostKey& presented) const;
  [[noreturn]] void throw_changed(const HostKey& presented) const;

  const SshLogin& login_;
  KnownHosts known_;
  std::filesystem::path file_;
};

}  // namespace msprof
