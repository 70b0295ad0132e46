// SHA-256 of texts and files: checksums of models and layouts, to tell two of one name apart.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

struct evp_md_ctx_st;

namespace msprof {

// Of bytes that come in pieces.
class Sha256 {
 public:
  Sha256();
  void add(std::string_view bytes);
  // Ends it: 64 hexadecimal digits in lower case.
  std::string hex();

 private:
  std::unique_ptr<evp_md_ctx_st, void (*)(evp_md_ctx_st*)> context_;
};

// Both return 64 hexadecimal digits in lower case.
std::string sha256_of(std::string_view text);
// Throws Error(partial_data) where the file cannot be read, Error(interrupted) on Ctrl-C.
std::string sha256_of_file(const std::filesystem::path& path);

}  // namespace msprof
