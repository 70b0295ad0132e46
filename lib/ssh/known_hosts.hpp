// KnownHosts: what known_hosts files say about one host, with file and line, and the safe way to
// add a line. Inside lib/ssh.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace msprof {

struct HostKey {
  std::string type;         // "ssh-ed25519"
  std::string base64;       // the public key as known_hosts has it
  std::string fingerprint;  // "SHA256:…"
};

struct KnownHostKey {
  HostKey key;
  std::filesystem::path file;
  std::size_t line = 0;
  bool revoked = false;  // @revoked: never to be taken
};

class KnownHosts {
 public:
  // Reads `files`; those that are absent count as empty. Hashed names, patterns and [host]:port
  // are understood.
  KnownHosts(const std::string& host, std::uint16_t port, std::vector<std::filesystem::path> files);

  const std::vector<KnownHostKey>& keys() const { return keys_; }
  // The name under which the host is looked up: "host" or "[host]:port".
  const std::string& name() const { return name_; }

  // Appends the key to the first file (0600, its folder 0700), unless another program has just done
  // so. Returns 0 or the errno of the failure.
  int remember(const HostKey& key) const;

 private:
  std::string name_;
  std::vector<std::filesystem::path> files_;
  std::vector<KnownHostKey> keys_;
};

}  // namespace msprof
