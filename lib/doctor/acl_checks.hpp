// acl.json as a run will read it: what is misspelt, out of range or contradictory in its section
// "profiler". For the checks of a project.
#pragma once

#include <string>
#include <string_view>

#include "doctor/check.hpp"

namespace msprof {

// `name` is how the file is called in the checks, "src/acl.json". Returns the folder that it names
// for the output; empty where there is none.
std::string check_acl_json(CheckList& list, const std::string& name, std::string_view text);

// Whether `output`, an absolute path of this machine, takes a capture; `name` as above.
void check_acl_output(CheckList& list, const std::string& name, const std::string& output);

}  // namespace msprof
