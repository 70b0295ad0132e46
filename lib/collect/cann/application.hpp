// The application of a run on CANN, which is not copied: its location, and whether it is a CANN
// application.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "collect/project.hpp"

namespace msprof {

struct Application {
  std::filesystem::path program;  // absolute; links not resolved: Python finds its folder by this
                                  // path
  std::vector<std::string> arguments;
};

// Searches for `word` in `current`, then, if it has no '/', in `path` (PATH). A Python script that
// is not executable is run by python3 from `path`. Throws Error(nothing_to_do) naming what is
// missing.
Application find_application(const std::string& word, const std::vector<std::string>& arguments,
                             const std::filesystem::path& current, const std::string& path);

enum class ApplicationKind { unknown, svp, cann };

// Returns which interface the program, or a library it needs, uses: CANN's or that of SVP boards.
// For a Python program: whether it imports a module that uses CANN. Searches libraries in their run
// paths and in `library_path` (LD_LIBRARY_PATH).
ApplicationKind detect_kind(const Application& application, const std::filesystem::path& current,
                            const std::string& library_path);

// Same as detect_kind() for the executable of a project, with the library folders of a run. For a
// board, LD_LIBRARY_PATH of this machine is not used.
bool is_for_cann(const ProjectTarget& target, const std::vector<std::string>& arguments,
                 bool on_board);

}  // namespace msprof
