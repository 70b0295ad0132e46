// acl.json as a run will read it: what is misspelt, out of range or contradictory in its section
// "profiler". What msprof collect sets in its copy is no problem, and is reported for runs without
// it. For the checks of a project.
#pragma once

#include <string>
#include <string_view>

#include "doctor/check.hpp"

namespace msprof {

// Takes the file's `name` in the checks, "src/acl.json". Returns the folder that it names
// for the output; empty where there is none.
std::string check_acl_json(CheckList& list, const std::string& name, std::string_view text);

// Checks that `output`, an absolute path of this machine, takes a capture; `name` as above.
void check_acl_output(CheckList& list, const std::string& name, const std::string& output);
// Checks an output folder that has been probed; `where` is "here", "on the board".
void report_acl_output(CheckList& list, const std::string& name, const std::string& output,
                       bool is_there, bool is_writable, std::string_view where);

}  // namespace msprof
