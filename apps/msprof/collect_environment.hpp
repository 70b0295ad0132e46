// Environment variables passed with --env. For collect.
#pragma once

#include <string>
#include <vector>

namespace msprof {

// Throws Error(usage) if an entry is not "NAME=value" or must not be passed on. Error messages
// never contain values.
void check_variables(const std::vector<std::string>& variables);

}  // namespace msprof
