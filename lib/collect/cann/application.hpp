// The application of a run on CANN, which is not copied: where it is, and whether it is one for
// CANN.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "collect/project.hpp"

namespace msprof {

struct Application {
  std::filesystem::path program;  // absolute; links are not followed, for a Python's own folder
  std::vector<std::string> arguments;
};

// Looks `word` up in `current`, then, without a '/', in `path` (PATH). A Python script that is not
// executable is run by python3 of `path`. Throws Error(nothing_to_do) with what is missing.
Application find_application(const std::string& word, const std::vector<std::string>& arguments,
                             const std::filesystem::path& current, const std::string& path);

enum class ApplicationKind { unknown, svp, cann };

// Whether the program, or a library that it needs, takes the interface of CANN or that of SVP
// boards; of a Python program, whether it imports a module that brings CANN in. Libraries are
// looked for in their run paths and in `library_path` (LD_LIBRARY_PATH).
ApplicationKind kind_of(const Application& application, const std::filesystem::path& current,
                        const std::string& library_path);

// The same of the executable of a project, with the library folders that a run of it has. On a
// board those of this machine's LD_LIBRARY_PATH are not searched.
bool is_for_cann(const Target& target, const std::vector<std::string>& arguments, bool on_board);

}  // namespace msprof
