// Login: none, agent, the given keys, default keys, keyboard-interactive, password, in this
// order. Inside lib/ssh.
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
  using Key = std::unique_ptr<ssh_key_struct, FreeKey>;
  struct Entry {
    std::filesystem::path file;
    Key key;        // null: it has a passphrase
    Secret locked;  // the file's content until it is unlocked
    // Its certificate, and the key with it once it is unlocked; null: it has none.
    std::filesystem::path certificate_file;
    Key certificate;
    Key certified;

    // False if that is not its passphrase.
    bool unlock(const Secret& passphrase);
    // Public part, to ask the host if it takes the key; null if that is unknown without the
    // passphrase.
    Key public_part() const;
  };

  // Throws Error(usage) when the given key cannot be read or is no private key; other keys that are
  // absent or of no use are passed over.
  explicit LoginKeys(const SshLogin& login);
  std::vector<Entry>& entries() { return entries_; }
  // What was passed over although it is named, for messages.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  void add_given(const std::filesystem::path& file);
  void add(const std::filesystem::path& file, bool is_named);
  void find_certificates(const std::vector<std::filesystem::path>& named);

  std::optional<Undumpable> guard_;  // where there are keys; goes after them
  std::vector<Entry> entries_;
  std::vector<std::string> notes_;
};

// The host has counted every key of the agent as a failed try and ended the login; another
// connection that leaves the agent out gets further.
class TooManyKeys : public ConnectFailure {
 public:
  explicit TooManyKeys(const std::string& message) : ConnectFailure(Why::refused, message) {}
};

enum class UseAgent { no, yes };

// Returns how it logged in, as SshConnection::login_method(). Throws ConnectFailure with what was
// tried, what the host offers and what to do; never shows a secret.
std::string log_in(SshSession& session, const SshLogin& login, LoginKeys& keys, UseAgent use_agent);

}  // namespace msprof
