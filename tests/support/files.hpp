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

// The sorted names in `folder`, including hidden ones except the ledger of products; empty if there
// is no such folder.
std::vector<std::string> names_in(const std::filesystem::path& folder);

// One line for every entry below `folder`: name, size, mtime and bytes. Two equal texts mean that
// nothing has changed.
std::string fingerprint(const std::filesystem::path& folder);

// Rows of SQL on the SQLite file `path`, each as "a|b|NULL"; the SQL may modify the file.
std::vector<std::string> query(const std::filesystem::path& path, const std::string& sql);

}  // namespace msprof::test
