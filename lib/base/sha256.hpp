// SHA-256 of texts and files: checksums that distinguish models and layouts of the same name.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

struct evp_md_ctx_st;

namespace msprof {

// Hashes bytes that arrive in chunks.
class Sha256 {
 public:
  Sha256();
  void add(std::string_view bytes);
  // Finishes the hash and returns 64 lower-case hexadecimal digits.
  std::string hex();

 private:
  std::unique_ptr<evp_md_ctx_st, void (*)(evp_md_ctx_st*)> context_;
};

// Both return 64 hexadecimal digits in lower case.
std::string sha256(std::string_view text);
// Throws Error(partial_data) if the file is unreadable, Error(interrupted) on Ctrl-C.
std::string sha256_file(const std::filesystem::path& path);

}  // namespace msprof
