// BulkTables: rows of integers and doubles into the tables of a database that is being made. Rows
// are gathered here, a batch a table, and inserted by a thread of its own. For TraceDbWriter and
// the unified database.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/bulk_insert.hpp"
#include "store/database.hpp"
#include "store/insert_queue.hpp"

namespace msprof {

class BulkTables {
 public:
  // Texts go to `text_table`, which has the columns id and text and is there already.
  BulkTables(Database& db, const std::string& text_table);

  // Makes a table and gives its number. Columns are as SQL declares them: "id INTEGER PRIMARY KEY";
  // one that is REAL or NUMERIC in `real_columns` takes the bits of doubles. At most 32.
  std::size_t create(std::string_view table, std::span<const std::string> columns,
                     BulkInsert::ColumnSet real_columns = 0);

  // Room for the cells of the next row; valid until the next call.
  std::int64_t* add_row(std::size_t table) {
    Pending& pending = pending_[table];
    if (pending.rows == kBatchRows) flush(table);
    if (pending.rows == 0) make_room(pending);
    return &pending.cells[pending.columns * pending.rows++];
  }
  void add_text(std::int64_t id, std::string_view text);

  // Until everything is inserted; after it the caller may use the database itself.
  void drain();
  // The same for what has been passed on so far, without the rows that wait for their batch.
  void pause() { queue_.drain(); }

 private:
  static constexpr std::size_t kBatchRows = 1024;
  struct Pending {
    std::size_t columns = 0;
    std::size_t rows = 0;
    std::vector<std::int64_t> cells;
  };

  void make_room(Pending& pending);
  void flush(std::size_t table);
  void flush_texts();
  void insert(const InsertBatch& batch);

  Database* db_;
  RowBatch batch_;
  Statement text_;
  std::deque<BulkInsert> inserts_;
  std::vector<Pending> pending_;
  std::vector<std::pair<std::int64_t, std::string>> texts_;
  InsertQueue queue_;  // last: its thread uses the others
};

}  // namespace msprof
