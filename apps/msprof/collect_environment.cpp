#include "msprof/collect_environment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/error.hpp"

namespace msprof {

namespace {

void check_variable(const std::string& variable) {
  const auto end = variable.find('=');
  if (end == std::string::npos) {
    throw Error(Exit::usage, "--env: expected NAME=VALUE, but one value has no '='");
  }
  const std::string_view name = std::string_view(variable).substr(0, end);
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  if (name == "MSPROF_SSH_PASSWORD") {
    throw Error(Exit::usage, "--env: do not pass the board's password to the application");
  }
  if (name.empty() || (name[0] >= '0' && name[0] <= '9') ||
      !std::all_of(name.begin(), name.end(), fits)) {
    throw Error(
        Exit::usage,
        fmt::format("--env: '{}' is not a variable name; use letters, digits and '_'", name));
  }
}

}  // namespace

void check_variables(const std::vector<std::string>& variables) {
  for (const std::string& variable : variables) check_variable(variable);
}

}  // namespace msprof
