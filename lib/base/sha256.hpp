// SHA-256 of texts and files: checksums of models and layouts, to tell two of one name apart.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace msprof {

// Both return 64 hexadecimal digits in lower case.
std::string sha256_of(std::string_view text);
// Throws Error(partial_data) where the file cannot be read, Error(interrupted) on Ctrl-C.
std::string sha256_of_file(const std::filesystem::path& path);

}  // namespace msprof
