// Which captures a command works on: what -dir names, or the newest one around. For the verbs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace msprof {

// The captures that `patterns` (folders or globs) name, in the order given, each once. A folder
// that holds captures, or folders of a framework's profiler
// (*_ascend_pt) with captures in them, stands for all of them. A pattern that names none is in the
// list as a path that Session::open refuses with a sentence, so that one wrong name does not stop
// the others.
std::vector<std::filesystem::path> find_captures(const std::vector<std::string>& patterns);

// Without -dir: `folder` itself, else its newest child, else its newest grandchild that is a
// capture. Newest by the time of info.json.N (JOB) or the time in the name (PROF). Throws
// Error(nothing_to_do) when there is none.
std::filesystem::path newest_capture(const std::filesystem::path& folder);

}  // namespace msprof
