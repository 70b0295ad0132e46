// Login methods, in this order: none, agent, the given keys, default keys, keyboard-interactive,
// password. Internal to lib/ssh.
#pragma once

#include <libssh/libssh.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "ssh/ssh_connection.hpp"
#include "ssh/ssh_session.hpp"

namespace msprof {

// The private keys of a login, read before the host is contacted.
class LoginKeys {
 public:
  struct FreeKey {
    void operator()(ssh_key key) const { ssh_key_free(key); }
  };
  using SshKeyPointer = std::unique_ptr<ssh_key_struct, FreeKey>;
  struct KeyEntry {
    std::filesystem::path file;
    SshKeyPointer key;  // null: needs a passphrase
    Secret locked;      // content of the file until the key is unlocked
    // Null: no certificate. `certified`: the key with its certificate, once unlocked.
    std::filesystem::path certificate_file;
    SshKeyPointer certificate;
    SshKeyPointer certified;

    // Returns false if the passphrase is wrong.
    bool unlock(const Secret& passphrase);
    // Returns the public part, used to ask the host whether it accepts the key; null if it cannot
    // be read without the passphrase.
    SshKeyPointer public_part() const;
  };

  // Throws Error(usage) if the given key cannot be read or is not a private key; skips other keys
  // that are missing or unusable.
  explicit LoginKeys(const SshLogin& login);
  std::vector<KeyEntry>& entries() { return entries_; }
  // Messages about configured keys that were skipped.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  void add_given(const std::filesystem::path& file);
  void add(const std::filesystem::path& file, bool is_named);
  void find_certificates(const std::vector<std::filesystem::path>& named);

  std::optional<Undumpable> guard_;  // set if there are keys; destroyed after them
  std::vector<KeyEntry> entries_;
  std::vector<std::string> notes_;
};

// The host counted each key of the agent as a failed attempt and closed the connection; retry with
// a new connection without the agent.
class TooManyKeys : public ConnectFailure {
 public:
  explicit TooManyKeys(const std::string& message) : ConnectFailure(Why::refused, message) {}
};

enum class UseAgent { no, yes };

// Returns the method that succeeded, as for SshConnection::login_method(). Throws ConnectFailure
// with the attempts, the host's offers and a remedy; messages never contain a secret.
std::string log_in(SshSession& session, const SshLogin& login, LoginKeys& keys, UseAgent use_agent);

}  // namespace msprof
