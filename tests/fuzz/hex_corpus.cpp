#include "hex_corpus.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace msprof::fuzz {

namespace fs = std::filesystem;

namespace {

std::string decode(const fs::path& path) {
  std::ifstream file(path);
  std::string digits;
  std::copy_if(std::istreambuf_iterator<char>(file), {}, std::back_inserter(digits),
               [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; });
  if (digits.size() % 2 != 0) throw std::runtime_error(path.string() + ": odd number of digits");
  std::string bytes;
  for (std::size_t at = 0; at < digits.size(); at += 2) {
    bytes += static_cast<char>(std::stoi(digits.substr(at, 2), nullptr, 16));
  }
  return bytes;
}

}  // namespace

std::vector<std::string> hex_corpus(const fs::path& corpus, const std::string& target) {
  std::vector<fs::path> paths;
  if (fs::is_directory(corpus / target)) {
    for (const auto& entry : fs::directory_iterator(corpus / target)) {
      if (entry.path().extension() == ".hex") paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> inputs;
  std::transform(paths.begin(), paths.end(), std::back_inserter(inputs), decode);
  return inputs;
}

}  // namespace msprof::fuzz
