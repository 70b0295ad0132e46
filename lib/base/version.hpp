// Version of this program, for --version and for captures that record it.
#pragma once

#include <string_view>

namespace msprof {

// "0.3.0"
std::string_view version();

}  // namespace msprof
