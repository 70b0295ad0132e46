// BulkInsert: inserts batches of rows of integers and doubles into one table, one statement per
// batch. For BulkTables.
//
// The statement selects from the batch, which is a virtual table, so no value is bound
// individually. Measured: more than twice the rate of a prepared INSERT of 14 integers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/database.hpp"

namespace msprof {

// The rows to insert next; read through the virtual table "row_batch".
struct RowBatch {
  const std::int64_t* cells = nullptr;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::uint32_t real_columns = 0;  // bit i: column i holds doubles as their bits
};

// Registers the virtual table in `db`; the batch must outlive its statements.
void register_row_batch(Database& db, RowBatch& batch);

// Inserts into one table; cells are in row-major order. The statement omits columns that have no
// value in the whole batch, as each costs as much as a filled one. It also omits an id in the first
// column if SQLite would assign the same ids: SQLite then need not search.
class BulkInsert {
 public:
  using ColumnSet = std::uint32_t;
  static constexpr std::size_t kMaxColumns = 32;

  // `columns` are the column names of `table` in cell order. `has_id`: the first column is the
  // INTEGER PRIMARY KEY. `real_columns`: columns that hold doubles as their bits. `last_id`: the
  // largest existing id.
  BulkInsert(const Database& db, RowBatch& batch, std::string table,
             std::vector<std::string> columns, bool has_id, ColumnSet real_columns,
             std::optional<std::int64_t> last_id);

  void insert(std::span<const std::int64_t> cells, std::size_t rows);

 private:
  ColumnSet filled_columns(std::span<const std::int64_t> cells, std::size_t rows) const;
  bool continues(std::span<const std::int64_t> cells, std::size_t rows) const;

  const Database* db_;
  RowBatch* batch_;
  std::string table_;
  std::vector<std::string> columns_;
  bool has_id_;
  ColumnSet real_columns_;
  std::map<ColumnSet, Statement> statements_;
  std::optional<std::int64_t> last_id_;  // largest id inserted so far
};

}  // namespace msprof
