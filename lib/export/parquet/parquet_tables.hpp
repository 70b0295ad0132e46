// Defines the tables of the Parquet export; the only place that lists their columns. Also writes
// their rows. For parquet_export.cpp and the tests of the manual.
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
  capture,  // its name, the same in all rows
};

// A column of a table, the same for both dialects; docs/parquet.md describes it.
struct TableColumn {
  std::string_view name;
  Values values = Values::any;
  Cells cells = Cells::integers;
  bool is_required = false;
};

struct ParquetTable {
  std::string_view name;  // name of its folder: "tasks"
  std::vector<TableColumn> columns;
};

// "tasks", "calls", "collectives", "ops", in this order.
const std::vector<ParquetTable>& tables();

// Returns the columns of a table for a FileWriter. `db` supplies the texts and must outlive them.
std::vector<ColumnSpec> make_columns(const ParquetTable& table, const Database& db,
                                     const std::string& capture);

// Writes the rows of all tables to one file each, in the order of tables(). Rows are in ascending
// order of ids.
void write_rows(const Database& db, const std::vector<FileWriter*>& files);

}  // namespace msprof::parquet
