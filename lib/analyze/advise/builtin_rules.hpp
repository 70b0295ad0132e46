// The text of rules.json, compiled in.
#pragma once

#include <string_view>

namespace msprof {

extern const std::string_view kBuiltinRules;

}  // namespace msprof
