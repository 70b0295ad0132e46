// Check: one thing that `msprof doctor` looked at: what it found, and what mends it.
#pragma once

#include <string>

namespace msprof {

enum class CheckResult { ok, warning, failed };

struct Check {
  std::string name;  // "login"
  CheckResult result = CheckResult::ok;
  std::string evidence;  // what was seen, a sentence
  std::string remedy;    // a command, or what to do; empty where all is well
};

}  // namespace msprof
