#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>

#include "base/error.hpp"
#include "base/file_reader.hpp"
#include "ssh/authentication.hpp"

namespace msprof {

namespace {

constexpr std::size_t kMostKeyBytes = 64 << 10;  // an RSA key of 16,384 bits has 13 KB

struct KeyText {
  Secret text;
  int error = 0;  // errno
};

KeyText read_key_file(const std::filesystem::path& file) {
  const FileDescriptor fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return {{}, errno};
  // Of its full size at once: a string that grows would leave copies of the key behind.
  std::string text(kMostKeyBytes, '\0');
  std::size_t size = 0;
  int error = 0;
  while (size < text.size()) {
    const ssize_t count = ::read(fd.get(), text.data() + size, text.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) error = errno;
    if (count <= 0) break;
    size += static_cast<std::size_t>(count);
  }
  text.resize(size);
  return {Secret(std::move(text)), error};
}

// The library's question for a passphrase: noted, never asked.
int note_passphrase(const char*, char*, std::size_t, int, int, void* asked) {
  *static_cast<bool*>(asked) = true;
  return -1;
}

struct Import {
  LoginKeys::Key key;
  bool has_passphrase = false;
};

Import import_key(const Secret& text) {
  Import result;
  ssh_key key = nullptr;
  const int code = ssh_pki_import_privkey_base64(text.reveal().c_str(), nullptr, note_passphrase,
                                                 &result.has_passphrase, &key);
  if (code == SSH_OK) result.key.reset(key);
  return result;
}

}  // namespace

bool LoginKeys::Entry::unlock(const Secret& passphrase) {
  ssh_key opened = nullptr;
  const int code = ssh_pki_import_privkey_base64(
      locked.reveal().c_str(), passphrase.reveal().c_str(), nullptr, nullptr, &opened);
  if (code != SSH_OK) return false;
  key.reset(opened);
  locked = Secret();
  return true;
}

// OpenSSH's own format has it in clear text; beside other formats it may lie in a file.
LoginKeys::Key LoginKeys::Entry::public_part() const {
  for (const std::string& name : {file.string(), file.string() + ".pub"}) {
    ssh_key found = nullptr;
    if (ssh_pki_import_pubkey_file(name.c_str(), &found) == SSH_OK) return Key(found);
  }
  return nullptr;
}

LoginKeys::LoginKeys(const SshLogin& login) {
  if (!login.key.empty()) {
    KeyText file = read_key_file(login.key);
    if (file.error != 0) {
      throw Error(Exit::usage, fmt::format("cannot read the key {}: {}; name a private key that "
                                           "this account may read",
                                           login.key.string(), errno_text(file.error)));
    }
    Import import = import_key(file.text);
    if (!import.key && !import.has_passphrase) {
      throw Error(Exit::usage,
                  fmt::format("{} is not a private key that can be used; name the file without "
                              ".pub that ssh-keygen made (ed25519, ecdsa or rsa)",
                              login.key.string()));
    }
    Secret locked = import.key ? Secret() : std::move(file.text);
    entries_.push_back({login.key, std::move(import.key), std::move(locked)});
  }
  for (const char* name : {"id_ed25519", "id_ecdsa", "id_rsa"}) {
    const auto file = login.ssh_folder / name;
    if (file == login.key) continue;
    const KeyText content = read_key_file(file);
    if (content.error != 0) continue;
    Import import = import_key(content.text);
    if (import.key || import.has_passphrase) entries_.push_back({file, std::move(import.key), {}});
  }
}

}  // namespace msprof
