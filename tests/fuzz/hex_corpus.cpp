#include "hex_corpus.hpp"

#include <algorithm>
#include <fstream>
#include <stdexcept>

namespace msprof::fuzz {

namespace fs = std::filesystem;

namespace {

std::string decode(const std::string& digits) {
  if (digits.size() % 2 != 0) throw std::runtime_error("odd number of digits: " + digits);
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
  for (const fs::path& path : paths) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) inputs.push_back(decode(line));
  }
  return inputs;
}

}  // namespace msprof::fuzz
