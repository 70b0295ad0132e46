// SessionOpener: from a login to sessions that are connected, checked and logged in. Inside
// lib/ssh.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "ssh/authentication.hpp"
#include "ssh/ssh_login.hpp"
#include "ssh/ssh_session.hpp"

namespace msprof {

class SessionOpener {
 public:
  // Reads the keys of the login; throws Error(usage) as LoginKeys.
  explicit SessionOpener(const SshLogin& given);
  SessionOpener(const SessionOpener&) = delete;
  SessionOpener& operator=(const SessionOpener&) = delete;

  // Throws as SshConnection::open(). What one session was told (the password, the passphrase of the
  // key, that the host key is to be taken) the others know.
  std::unique_ptr<SshSession> open();

  const std::string& method() const { return method_; }  // of the last session
  std::string name() const { return login_.name(); }

 private:
  std::unique_ptr<SshSession> open_once();

  SshLogin login_;
  bool with_system_hosts_;
  LoginKeys keys_;
  UseAgent use_agent_ = UseAgent::yes;
  std::optional<Secret> password_;
  bool asked_password_ = false;
  std::string taken_key_;  // base64
  std::string method_;
};

}  // namespace msprof
