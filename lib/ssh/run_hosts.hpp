// RunHosts: what the connections of one run have learnt of the hosts that they reach. The copies of
// a login share it: a later connection expects the key that the first one accepted, and a login
// that was refused is not repeated. Thread safe.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace msprof {

struct HostKey {
  std::string type;         // "ssh-ed25519"
  std::string base64;       // the public key as known_hosts has it
  std::string fingerprint;  // "SHA256:…"
};

class RunHosts {
 public:
  // `host` is the way to it and its name in known_hosts. The key that was accepted first stays.
  void accept(const std::string& host, const HostKey& key);
  std::optional<HostKey> accepted(const std::string& host) const;

  // `login` is the way to it and the account: the sentence of the refusal; empty: there was none.
  void refuse(const std::string& login, const std::string& sentence);
  std::string refusal(const std::string& login) const;
  // Counts a login that ended without an answer after a password was sent, or a key refused: the
  // host may have taken that for a failed try. Returns how many there were since the last one that
  // succeeded.
  int count_unanswered(const std::string& login);
  void succeed(const std::string& login);

 private:
  mutable std::mutex mutex_;
  std::map<std::string, HostKey> accepted_;
  std::map<std::string, std::string> refusals_;
  std::map<std::string, int> unanswered_;
};

}  // namespace msprof
