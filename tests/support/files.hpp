// Small helpers to look at folders and files. For all tests.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace msprof::test {

// The bytes of a file; throws when it cannot be read.
std::string read_file(const std::filesystem::path& path);

// Writes a file, making its folder first.
void write_file(const std::filesystem::path& path, std::string_view bytes);

// Names in `folder`, hidden ones too but for the ledger of products, sorted; empty where there is
// no such folder.
std::vector<std::string> names_in(const std::filesystem::path& folder);

// One line for every entry below `folder`: name, size, mtime and bytes; two equal texts mean that
// nothing changed.
std::string fingerprint(const std::filesystem::path& folder);

// Rows of SQL on the SQLite file `path`, "a|b|NULL" each; it may change the file.
std::vector<std::string> query(const std::filesystem::path& path, const std::string& sql);

}  // namespace msprof::test
