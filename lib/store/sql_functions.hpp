// Which functions SQL of users may call: for SqlGuard.
#pragma once

#include <string_view>

namespace msprof {

// Whether the function reads nothing but its arguments and does nothing but give a value.
bool is_harmless_function(std::string_view name);

}  // namespace msprof
