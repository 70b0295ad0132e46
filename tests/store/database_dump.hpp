// Content of databases, for comparison with databases that SQLite wrote.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <catch2/catch.hpp>

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "store/cells.hpp"
#include "store/database.hpp"
#include "support/temp_folder.hpp"

namespace msprof::test {

using Lines = std::vector<std::string>;
using Cells = std::vector<std::int64_t>;

// Each row as one line.
inline Lines lines(const Database& db, const std::string& sql) {
  Lines result;
  Statement read = db.prepare(sql);
  while (read.step()) {
    std::string line;
    for (int i = 0; i < read.column_count(); ++i) {
      if (i > 0) line += "|";
      line += read.is_null(i) ? "NULL" : std::string(read.text(i));
    }
    result.push_back(line);
  }
  return result;
}

inline bool is_whole(const Database& db) {
  const Lines found = lines(db, "PRAGMA integrity_check");
  if (found != Lines{"ok"}) UNSCOPED_INFO(fmt::format("{}", fmt::join(found, "\n")));
  return found == Lines{"ok"};
}

// Every cell with its type.
inline Lines dump(const Database& db, const std::string& table, const Lines& columns) {
  std::string cells = "rowid";
  for (const std::string& column : columns) {
    const std::string name = column.substr(0, column.find(' '));
    cells += fmt::format(", typeof({0}), quote({0})", name);
  }
  return lines(db, fmt::format("SELECT {} FROM {} ORDER BY rowid", cells, table));
}

// The same rows, written only with SQLite statements.
inline Lines stored_by_sqlite(const Lines& columns, std::uint32_t real_columns,
                              const std::vector<Cells>& rows) {
  const TempFolder folder;
  Database db = Database::create(folder / "bare.db", 4096);
  db.execute(fmt::format("CREATE TABLE t ({})", fmt::join(columns, ", ")));
  std::string places = "?";
  for (std::size_t i = 1; i < columns.size(); ++i) places += ",?";
  Statement insert = db.prepare(fmt::format("INSERT INTO t VALUES({})", places));
  for (const Cells& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const int parameter = static_cast<int>(i) + 1;
      if (row[i] == kNull) {
        insert.bind_null(parameter);
      } else if ((real_columns >> i & 1) != 0) {
        insert.bind(parameter, std::bit_cast<double>(row[i]));
      } else {
        insert.bind(parameter, row[i]);
      }
    }
    insert.run();
  }
  return dump(db, "t", columns);
}

}  // namespace msprof::test
