// RunHosts: what the connections of one run have learned about their hosts. Shared by copies of a
// login: later connections expect the key that the first one accepted, and a refused login is not
// repeated. Thread-safe.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace msprof {

struct HostKey {
  std::string type;         // "ssh-ed25519"
  std::string base64;       // the public key as in known_hosts
  std::string fingerprint;  // "SHA256:…"
};

class RunHosts {
 public:
  // `host` is the route to the host and its name in known_hosts. The first accepted key is kept.
  void accept(const std::string& host, const HostKey& key);
  std::optional<HostKey> find_accepted(const std::string& host) const;

  // `login` is the route and the account. refusal() returns the message of the refusal; empty if
  // there was none.
  void refuse(const std::string& login, const std::string& sentence);
  std::string refusal(const std::string& login) const;
  // Counts a login that ended without an answer after a password was sent or a key was refused: the
  // host may count that as a failed attempt. Returns the number of such logins since the last
  // success.
  int count_unanswered(const std::string& login);
  void succeed(const std::string& login);

 private:
  mutable std::mutex mutex_;
  std::map<std::string, HostKey> accepted_;
  std::map<std::string, std::string> refusals_;
  std::map<std::string, int> unanswered_;
};

}  // namespace msprof
