#include "base/sha256.hpp"

#include <openssl/evp.h>

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "base/file_reader.hpp"
#include "base/interrupt.hpp"

namespace msprof {

namespace {

void require_sha256(bool worked) {
  if (!worked) throw Error(Exit::internal_error, "OpenSSL does not provide SHA-256");
}

}  // namespace

Sha256::Sha256() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
  require_sha256(context_ != nullptr &&
                 EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
}

void Sha256::add(std::string_view bytes) {
  require_sha256(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
}

std::string Sha256::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  require_sha256(EVP_DigestFinal_ex(context_.get(), digest.data(), &size) == 1);
  std::string text;
  for (const unsigned char byte : std::span(digest).first(size)) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

std::string sha256(std::string_view text) {
  Sha256 sum;
  sum.add(text);
  return sum.hex();
}

std::string sha256_file(const std::filesystem::path& path) {
  constexpr std::size_t kReadBytes = 1 << 18;
  FileReader reader(path);
  std::vector<std::byte> buffer(kReadBytes);
  Sha256 sum;
  while (const std::size_t count = reader.read(buffer)) {
    interrupt::check();
    sum.add({reinterpret_cast<const char*>(buffer.data()), count});
  }
  return sum.hex();
}

}  // namespace msprof
