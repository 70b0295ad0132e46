// The version of this program. For --version and for what captures say of themselves.
#pragma once

#include <string_view>

namespace msprof {

// "0.3.0"
std::string_view version();

}  // namespace msprof
