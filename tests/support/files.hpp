// Helpers to examine folders and files. For all tests.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace msprof::test {

// The bytes of a file; throws if it cannot be read.
std::string read_file(const std::filesystem::path& path);

// Writes a file, making its folder first.
void write_file(const std::filesystem::path& path, std::string_view bytes);

// The sorted names in `folder`, including hidden ones but not the ledger of products; empty if the
// folder does not exist.
std::vector<std::string> names_in(const std::filesystem::path& folder);

// One line per entry below `folder`: name, size, mtime and bytes. Equal texts mean that nothing
// changed.
std::string fingerprint(const std::filesystem::path& folder);

// Runs SQL on the SQLite file `path`, which it may modify; returns each row as "a|b|NULL".
std::vector<std::string> query(const std::filesystem::path& path, const std::string& sql);

}  // namespace msprof::test
