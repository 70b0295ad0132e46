// The rows of a rank summary with texts instead of text ids.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "support/files.hpp"

namespace msprof::test {

// Returns the rows in table order. Columns that are text ids are replaced by their texts, "" for no
// text. `where` is SQL.
inline std::vector<std::string> part_rows(const std::filesystem::path& part,
                                          const std::string& table,
                                          const std::string& where = "1") {
  std::string cells;
  for (const std::string& column :
       query(part, "SELECT name FROM pragma_table_info('" + table + "') WHERE name <> 'id'")) {
    cells += cells.empty() ? "" : ", ";
    cells += column.ends_with("name_id")
                 ? "ifnull((SELECT text FROM name WHERE name.id = " + column + "), '')"
                 : column;
  }
  return query(part, "SELECT " + cells + " FROM " + table + " WHERE " + where + " ORDER BY id");
}

}  // namespace msprof::test
