// BulkInsert: rows of integers (and doubles) into one table, a batch a statement. For BulkTables.
// The batch is a virtual table that the statement selects from, so that no value is bound one by
// one: measured at more than twice the rate of a bare prepared INSERT of 14 integers.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "store/database.hpp"

namespace msprof {

// A cell without a value.
inline constexpr std::int64_t kNull = INT64_MIN;

// The rows that wait to be inserted; read by the virtual table "row_batch".
struct RowBatch {
  const std::int64_t* cells = nullptr;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::uint32_t real_columns = 0;  // bit i: the cells of column i are the bits of doubles
};

// Makes the virtual table known to `db`; the batch must outlive its statements.
void register_row_batch(Database& db, RowBatch& batch);

// One table; the cells come in batches, a row after the other. Columns without a value in the whole
// batch are left out of the statement: each costs as much as one that has one. So is the id, the
// first column of a table that has one, where the ids of a batch are those that SQLite would give:
// it then need not search.
class BulkInsert {
 public:
  using ColumnSet = std::uint32_t;
  static constexpr std::size_t kMostColumns = 32;

  // `columns` are the column names of `table`, in the order of the cells of a row; `has_id`: the
  // first is its INTEGER PRIMARY KEY; `real_columns`: those that hold doubles, as their bits.
  BulkInsert(const Database& db, RowBatch& batch, std::string table,
             std::vector<std::string> columns, bool has_id, ColumnSet real_columns);

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
  std::int64_t last_id_ = 0;  // of the largest row
};

}  // namespace msprof
