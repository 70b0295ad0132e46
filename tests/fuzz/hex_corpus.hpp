// Kept inputs as text: <corpus>/<target>/*.hex, one input per line in hexadecimal digits.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace msprof::fuzz {

std::vector<std::string> hex_corpus(const std::filesystem::path& corpus, const std::string& target);

}  // namespace msprof::fuzz
