// Checks acl.json as a run reads it: misspelt, out-of-range or contradictory values in the section
// "profiler". Values that msprof collect replaces in its copy are not problems; their effect on
// other runs is reported. Used by the checks of a project.
#pragma once

#include <string>
#include <string_view>

#include "doctor/check.hpp"

namespace msprof {

// `name` is the file's name in the checks: "src/acl.json". Returns its output folder; empty if
// there is none.
std::string check_acl_json(CheckList& list, const std::string& name, std::string_view text);

// Checks that `output`, an absolute local path, can receive a capture; `name` is as above.
void check_acl_output(CheckList& list, const std::string& name, const std::string& output);
// Reports the state of an output folder that was probed; `where` is "here" or "on the board".
void report_acl_output(CheckList& list, const std::string& name, const std::string& output,
                       bool is_there, bool is_writable, std::string_view where);

}  // namespace msprof
