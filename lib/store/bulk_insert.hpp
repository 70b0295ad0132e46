// BulkInsert: rows of integers into one table, a batch a statement. For TraceDb.
// The batch is a virtual table that the statement selects from, so that no value is bound one by
// one: measured at more than twice the rate of a bare prepared INSERT of 14 integers.
#pragma once

#include <cstdint>
#include <memory>
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
};

// Makes the virtual table known to `db`; the batch must outlive the connection.
void register_row_batch(Database& db, RowBatch& batch);

class BulkInsert {
 public:
  // `columns` are the column names of `table`, in the order of the cells of a row.
  BulkInsert(const Database& db, RowBatch& batch, const std::string& table,
             std::span<const char* const> columns);

  // The cells of a new row, to be filled at once by the caller.
  std::int64_t* add() {
    if (rows_ == kBatchRows) flush();
    return &cells_[columns_ * rows_++];
  }
  void flush();

 private:
  static constexpr std::size_t kBatchRows = 1024;
  RowBatch* batch_;
  std::size_t columns_;
  std::size_t rows_ = 0;
  std::vector<std::int64_t> cells_;
  Statement statement_;
};

}  // namespace msprof
