// lines_of(): output line by line. For tests of what commands print.
#pragma once

#include <sstream>
#include <string>
#include <vector>

namespace msprof::test {

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace msprof::test
