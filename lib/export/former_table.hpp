// Tables as JSON under the name that they had when a timeline could have it, too. For
// ProductFolder.
#pragma once

#include <filesystem>
#include <span>
#include <string>

namespace msprof {

// Whether the file has the form in which JsonTableWriter writes a table of these columns. Looks at
// its first row and its end.
bool is_json_table(const std::filesystem::path& path, std::span<const std::string> columns);

}  // namespace msprof
