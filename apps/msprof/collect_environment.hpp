// Variables of --env. For collect.
#pragma once

#include <string>
#include <vector>

namespace msprof {

// Throws Error(usage) where one is not "NAME=value" or must not be passed on; no message shows a
// value.
void check_variables(const std::vector<std::string>& variables);

}  // namespace msprof
