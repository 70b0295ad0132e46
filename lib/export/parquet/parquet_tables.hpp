// The tables that a capture gives as Parquet files: their columns, said once, and what writes their
// rows. For parquet_export.cpp and the tests of the manual.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "export/parquet/file_writer.hpp"
#include "store/database.hpp"

namespace msprof::parquet {

enum class Cells {
  integers,
  names,    // ids of texts of the table `name`
  levels,   // of calls (ApiCallRow.level)
  capture,  // its name, alike in all rows
};

// A column of a table; all are alike for both dialects. Times are ns of the capture's clock.
struct TableColumn {
  std::string_view name;
  std::string_view help;
  Values values = Values::any;
  Cells cells = Cells::integers;
  bool is_required = false;
};

struct Table {
  std::string_view name;  // of its folder: "tasks"
  std::string_view help;  // what a row is
  std::vector<TableColumn> columns;
};

// "tasks", "calls", "collectives", "ops", in this order.
const std::vector<Table>& tables();

// Columns of a table for a FileWriter, with the texts of `db`, which outlives them.
std::vector<ColumnSpec> columns_of(const Table& table, const Database& db,
                                   const std::string& capture);

// Writes the rows of all tables, to one file each in the order of tables(). Rows are in the order
// of their ids.
void write_rows(const Database& db, const std::vector<FileWriter*>& files);

}  // namespace msprof::parquet
