// Files, folders and captures that begin like what was typed. For completion: reads folders only,
// and not for long.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace msprof::completion {

enum class PathKind {
  file,
  folder,
  capture  // JOB… and PROF… folders, and those on the way to them
};

struct PathRest {
  std::string rest;      // what follows `typed`; a folder to go on in ends in '/'
  bool goes_on = false;  // not the end of the word
};

// Sorted. Names with control characters are left out.
std::vector<PathRest> paths_like(std::string_view typed, PathKind kind);

}  // namespace msprof::completion
