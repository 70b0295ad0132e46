// BulkTables: inserts rows of integers and doubles into a new database. Rows are collected in
// batches per table; a separate thread writes them as pages (pages/README.md) or passes them to
// SQLite. For TraceDbWriter, rank summaries and the unified database.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/cells.hpp"
#include "store/database.hpp"
#include "store/insert_queue.hpp"

namespace msprof::pages {
enum class ColumnStorage : std::uint8_t;
class TableWriter;
class Writer;
}  // namespace msprof::pages
namespace msprof {

// Writes pages directly while the ids of a table ascend and the table has no index. After the first
// row out of order, or the first index, SQLite inserts the rows, one transaction per batch.
class BulkTables {
 public:
  using ColumnSet = std::uint32_t;  // bit i: column i

  // Texts go to the existing, empty table `text_table` with the columns id (INTEGER PRIMARY KEY)
  // and text. `db` must not be in a transaction: each statement is its own transaction.
  BulkTables(Database& db, const std::string& text_table);
  ~BulkTables();

  // Creates a table and returns its index. Columns are SQL declarations: "id INTEGER PRIMARY KEY";
  // at most 32. REAL and NUMERIC columns in `real_columns` receive doubles as their bits.
  std::size_t create(std::string_view table, std::span<const std::string> columns,
                     ColumnSet real_columns = 0);

  // Returns the buffer for the cells of the next row; valid until the next call.
  std::int64_t* add_row(std::size_t table) {
    Pending& pending = pending_[table];
    if (pending.rows == kBatchRows) flush(table);
    if (pending.rows == 0) make_room(pending);
    return &pending.cells[pending.columns * pending.rows++];
  }
  void add_text(std::int64_t id, std::string_view text);

  // Blocks until SQLite can find all rows in the file. Afterwards the caller may use the database
  // directly, and other connections may start to read.
  void drain();
  // Blocks until all batches passed on so far are inserted. Afterwards the caller may run
  // statements on other tables.
  void pause() { queue_.drain(); }
  // drain(), then runs SQL that may change tables or create indexes.
  void execute(const std::string& sql);

 private:
  static constexpr std::size_t kBatchRows = 1024;
  struct Pending {
    std::size_t columns = 0;
    std::size_t rows = 0;
    std::vector<std::int64_t> cells;
  };

  // Exactly one of `pages` and `insert` is set.
  struct Table {
    std::string name;
    std::size_t columns = 0;
    ColumnSet real_columns = 0;
    std::unique_ptr<pages::TableWriter> pages;
    std::optional<Statement> insert;
  };

  void make_room(Pending& pending);
  void flush(std::size_t table);
  void flush_texts();
  std::unique_ptr<pages::TableWriter> append_to(const std::string& table,
                                                std::vector<pages::ColumnStorage> columns);
  bool has_index(const std::string& table) const;
  void use_sqlite(Table& table);
  void insert(const InsertBatch& batch);
  void insert_rows(Table& table, std::span<const std::int64_t> cells) const;
  void insert_text(std::int64_t id, std::string_view text);

  Database* db_;
  std::unique_ptr<pages::Writer> file_;
  std::string text_table_;
  std::unique_ptr<pages::TableWriter> text_pages_;  // null: SQLite inserts the texts
  Statement text_;
  std::deque<Table> tables_;
  std::vector<Pending> pending_;
  std::vector<std::pair<std::int64_t, std::string>> texts_;
  InsertQueue queue_;  // last member: its thread uses the others
};

}  // namespace msprof
