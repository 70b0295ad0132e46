// Checks before a run: what the Python scripts of a project ask of the profiling of TensorFlow and
// the graph engine. They are read, never run. For `msprof doctor`.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "doctor/check.hpp"

namespace msprof {

inline constexpr std::size_t kMaxScripts = 2000;
inline constexpr std::size_t kMaxScriptBytes = 1 << 20;
inline constexpr std::size_t kMaxScriptFolders = 8;  // below each other

// Checks all scripts below `root`; false where none of them says anything about profiling.
// Throws Error(interrupted) alone.
bool check_scripts(CheckList& list, const std::filesystem::path& root);

// Checks one, `name` in the checks, with this text. An acl.json that it names is looked up in
// `folder`.
void check_script(CheckList& list, const std::string& name, std::string_view text,
                  const std::filesystem::path& folder);

}  // namespace msprof
