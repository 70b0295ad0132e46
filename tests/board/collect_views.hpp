// Ways to look at what a run did: folders as values, the document of --json, where a secret lies.
// For the tests of whole runs.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "board/collect_board_fixture.hpp"

namespace msprof::test {

// Each entry below `folder` by its path: "folder", "link TEXT", or "file " and its bytes.
using Contents = std::map<std::string, std::string>;
Contents contents_of(const std::filesystem::path& folder);
// Paths that are in one only or differ, a line each; empty: they are equal.
std::string differences(const Contents& left, const Contents& right);

// The capture that the application writes when it does these words on this machine, without msprof.
Contents capture_without_msprof(const BoardUser& user, const Words& application);

// The document of --json; null where stdout is none.
nlohmann::json document_of(const RunResult& run);
// One of its steps; null where it has none of that name.
nlohmann::json step_of(const nlohmann::json& document, const std::string& name);

// Replaces the user's ini file, which others may not read.
void configure(const BoardUser& user, const std::string& text);

// Files below `folder` that hold `secret`, in their names or their bytes.
std::vector<std::string> files_with(const std::filesystem::path& folder, std::string_view secret);
// Processes of this machine, but for this one, whose arguments or environment hold `secret`.
std::vector<std::string> processes_with(std::string_view secret);

}  // namespace msprof::test
