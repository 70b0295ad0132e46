// SshSession: a libssh session over our own non-blocking socket. Login steps are repeated until
// they complete, with a time limit and interruptible by Ctrl-C. Internal to lib/ssh.
#pragma once

#include <libssh/libssh.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/file_reader.hpp"
#include "ssh/deadline.hpp"
#include "ssh/ssh_connection.hpp"

namespace msprof {

// Offered types of host keys and login keys, best first.
inline constexpr std::array<std::string_view, 7> kKeyTypes = {"ssh-ed25519",
                                                              "ecdsa-sha2-nistp521",
                                                              "ecdsa-sha2-nistp384",
                                                              "ecdsa-sha2-nistp256",
                                                              "rsa-sha2-512",
                                                              "rsa-sha2-256",
                                                              "ssh-rsa"};
// Offered types for keys with a certificate.
inline constexpr std::array<std::string_view, 7> kCertificateTypes = {
    "ssh-ed25519-cert-v01@openssh.com",
    "ecdsa-sha2-nistp521-cert-v01@openssh.com",
    "ecdsa-sha2-nistp384-cert-v01@openssh.com",
    "ecdsa-sha2-nistp256-cert-v01@openssh.com",
    "rsa-sha2-512-cert-v01@openssh.com",
    "rsa-sha2-256-cert-v01@openssh.com",
    "ssh-rsa-cert-v01@openssh.com"};

class SshSession {
 public:
  // `host_key_types`: in order of preference.
  SshSession(const SshLogin& login, FileDescriptor socket, const std::string& host_key_types);
  ~SshSession();
  SshSession(const SshSession&) = delete;
  SshSession& operator=(const SshSession&) = delete;

  ssh_session get() const { return session_.get(); }

  // Performs the key exchange; does not check the host key. Throws ConnectFailure,
  // Error(interrupted).
  void handshake();

  // Repeats `step`, one of libssh's login functions, until it returns a value other than
  // SSH_AUTH_AGAIN. Throws ConnectFailure(unreachable) if the host does not answer in time.
  int finish(const std::function<int()>& step);

  bool is_alive() const;
  // libssh's last error, made printable.
  std::string error() const;

 private:
  struct Free {
    void operator()(ssh_session session) const { ssh_free(session); }
  };
  void set(ssh_options_e option, const void* value, const char* what);
  int finish(int again, const std::function<int()>& step);
  void wait(const Deadline& deadline);
  void keep_non_blocking() const;
  void check_greeting();
  [[noreturn]] void throw_silent() const;
  [[noreturn]] void throw_handshake_failed() const;

  std::string name_;
  std::string role_;
  std::uint16_t port_;
  double timeout_seconds_;
  FileDescriptor socket_;
  std::unique_ptr<ssh_session_struct, Free> session_;
  std::string greeting_;  // first bytes from the host, for messages
};

}  // namespace msprof
