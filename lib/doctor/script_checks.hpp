// Checks of Python scripts before a run: the profiling options for TensorFlow and the graph engine.
// python3 parses them (script_facts.py); they are never run. Used by `msprof doctor`.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "doctor/check.hpp"

namespace msprof {

inline constexpr std::size_t kMaxScripts = 2000;
inline constexpr std::size_t kMaxScriptBytes = 1 << 20;
inline constexpr std::size_t kMaxScriptFolders = 8;  // maximum nesting

// Checks all scripts below `root`; returns false if none of them configures profiling. Throws only
// Error(interrupted).
bool check_scripts(CheckList& list, const std::filesystem::path& root);

// Checks one script; `name` is its name in the checks. An acl.json that it uses is looked up in its
// folder. Returns false if there is no python3 to parse it with. Throws Error if it cannot be read.
bool check_script(CheckList& list, const std::string& name, const std::filesystem::path& path);

}  // namespace msprof
