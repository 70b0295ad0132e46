// script_facts.py, embedded: describes its output.
#pragma once

#include <string_view>

namespace msprof {

extern const std::string_view kScriptFacts;

}  // namespace msprof
