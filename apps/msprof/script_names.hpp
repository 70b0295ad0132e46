// Runs msprof under the names of CANN's scripts, msprof.py and get_msprof_info.py, which callers
// look for in the tool's folder. The installed scripts of these names start msprof with their name
// as argv[0].
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "msprof/pipeline.hpp"

namespace msprof {

// Returns true if a program started as `name` must behave like one of the scripts.
bool is_script_name(std::string_view name);

// Runs the script `name` with `words`. Messages go to stdout, and status 0 means that products were
// written, as callers of CANN's tools expect.
Exit run_script(std::string_view name, const std::vector<std::string>& words);

// Prints the table of the vendor's query; prints nothing for a capture without host and device
// folders.
void print_folder_table(const ChosenCapture& capture);

}  // namespace msprof
