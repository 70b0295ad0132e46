#include "support/require.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

namespace msprof::test {

namespace {

int skips = 0;
std::string last;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_required(std::string_view what) {
  std::istringstream words(variable("MSPROF_TEST_REQUIRE"));
  for (std::string word; words >> word;) {
    if (word == what) return true;
  }
  return false;
}

bool is_in_path(const std::string& name) {
  std::istringstream folders(variable("PATH"));
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((folder + "/" + name).c_str(), X_OK) == 0) return true;
  }
  return false;
}

}  // namespace

bool require_or_skip(std::string_view what, bool is_there, std::string_view missing) {
  if (is_there) return true;
  std::string sentence(missing);  // the report has one line per case
  std::replace_if(
      sentence.begin(), sentence.end(), [](unsigned char c) { return std::iscntrl(c) != 0; }, ' ');
  if (is_required(what)) {
    throw std::runtime_error("required by MSPROF_TEST_REQUIRE: " + std::string(what) + ": " +
                             sentence);
  }
  ++skips;
  last = sentence;
  return false;
}

bool require_program_or_skip(const std::string& name) {
  return require_or_skip(name, is_in_path(name), "there is no " + name + " on this machine");
}

int skip_count() {
  return skips;
}

std::string last_skip() {
  return last;
}

}  // namespace msprof::test
