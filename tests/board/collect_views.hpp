// Ways to examine a run: folders as values, the document of --json, files and processes that
// contain a secret. For tests of whole runs.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "board/collect_board_fixture.hpp"

namespace msprof::test {

// Each entry below `folder` by path: "folder", "link TEXT", or "file " and its bytes.
using Contents = std::map<std::string, std::string>;
Contents read_contents(const std::filesystem::path& folder);
// Paths that exist on one side only or differ, one per line; empty if equal.
std::string differences(const Contents& left, const Contents& right);

// Returns the capture that the application writes with these arguments on this machine, without
// msprof.
Contents capture_without_msprof(const BoardUser& user, const Words& application);

// Parses the document of --json; null if stdout is not JSON.
nlohmann::json parse_document(const RunResult& run);
// Returns a step by name; null if it does not exist.
nlohmann::json find_step(const nlohmann::json& document, const std::string& name);

// Replaces the user's ini file and makes it unreadable for others.
void configure(const BoardUser& user, const std::string& text);

// Lists files below `folder` that contain `secret` in their names or bytes.
std::vector<std::string> files_with(const std::filesystem::path& folder, std::string_view secret);
// Lists processes of this machine, except this one, whose arguments or environment contain
// `secret`.
std::vector<std::string> processes_with(std::string_view secret);

}  // namespace msprof::test
