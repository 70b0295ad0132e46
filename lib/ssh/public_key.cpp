#include "ssh/public_key.hpp"

#include <new>

namespace msprof {

namespace {

// Takes a string of the library over.
std::string taken(char* text) {
  if (text == nullptr) throw std::bad_alloc();
  std::string result = text;
  ssh_string_free_char(text);
  return result;
}

}  // namespace

HostKey describe(ssh_key key) {
  HostKey result;
  result.type = ssh_key_type_to_char(ssh_key_type(key));
  char* base64 = nullptr;
  if (ssh_pki_export_pubkey_base64(key, &base64) != SSH_OK) throw std::bad_alloc();
  result.base64 = taken(base64);
  unsigned char* hash = nullptr;
  std::size_t length = 0;
  if (ssh_get_publickey_hash(key, SSH_PUBLICKEY_HASH_SHA256, &hash, &length) != 0) {
    throw std::bad_alloc();
  }
  char* fingerprint = ssh_get_fingerprint_hash(SSH_PUBLICKEY_HASH_SHA256, hash, length);
  ssh_clean_pubkey_hash(&hash);
  result.fingerprint = taken(fingerprint);
  return result;
}

}  // namespace msprof
