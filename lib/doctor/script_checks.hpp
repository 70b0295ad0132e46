// Checks of Python scripts before a run: the profiling options for TensorFlow and the graph engine.
// The scripts are read, never run. Used by `msprof doctor`.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "doctor/check.hpp"

namespace msprof {

inline constexpr std::size_t kMaxScripts = 2000;
inline constexpr std::size_t kMaxScriptBytes = 1 << 20;
inline constexpr std::size_t kMaxScriptFolders = 8;  // maximum nesting

// Checks all scripts below `root`; returns false if none of them configures profiling. Throws only
// Error(interrupted).
bool check_scripts(CheckList& list, const std::filesystem::path& root);

// Checks one script; `name` is its name in the checks. An acl.json that it uses is looked up in
// `folder`.
void check_script(CheckList& list, const std::string& name, std::string_view text,
                  const std::filesystem::path& folder);

}  // namespace msprof
