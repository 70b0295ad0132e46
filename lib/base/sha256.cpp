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

class Sha256 {
 public:
  Sha256() { require(context_ != nullptr && EVP_DigestInit_ex(get(), EVP_sha256(), nullptr) == 1); }

  void add(std::span<const std::byte> bytes) {
    require(EVP_DigestUpdate(get(), bytes.data(), bytes.size()) == 1);
  }

  std::string hex() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    require(EVP_DigestFinal_ex(get(), digest.data(), &size) == 1);
    std::string text;
    for (const unsigned char byte : std::span(digest).first(size)) {
      text += "0123456789abcdef"[byte >> 4];
      text += "0123456789abcdef"[byte & 15];
    }
    return text;
  }

 private:
  static void require(bool worked) {
    if (!worked) throw Error(Exit::internal_error, "OpenSSL gives no SHA-256");
  }
  EVP_MD_CTX* get() { return context_.get(); }

  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_{EVP_MD_CTX_new(),
                                                                   &EVP_MD_CTX_free};
};

}  // namespace

std::string sha256_of(std::string_view text) {
  Sha256 sum;
  sum.add(std::as_bytes(std::span(text)));
  return sum.hex();
}

std::string sha256_of_file(const std::filesystem::path& path) {
  constexpr std::size_t kReadBytes = 1 << 18;
  FileReader reader(path);
  std::vector<std::byte> buffer(kReadBytes);
  Sha256 sum;
  while (const std::size_t count = reader.read(buffer)) {
    interrupt::check();
    sum.add(std::span(buffer).first(count));
  }
  return sum.hex();
}

}  // namespace msprof
