// BulkTables: inserts rows of integers and doubles into a new database. Rows are collected in
// batches per table; a separate thread writes them as pages (TableBuilder) or passes them to
// SQLite. For TraceDbWriter, rank summaries and the unified database.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "store/cells.hpp"
#include "store/database.hpp"
#include "store/pages/table_builder.hpp"

namespace msprof {

// BulkInsert: inserts batches of rows of integers and doubles into one table, one statement per
// batch. For BulkTables.
// The batch is a virtual table that the statement selects from, so no value is bound individually:
// measured at more than twice the rate of a bare prepared INSERT of 14 integers.

// The rows to insert next; read through the virtual table "row_batch".
struct RowBatch {
  const std::int64_t* cells = nullptr;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::uint32_t real_columns = 0;  // bit i: column i holds doubles as their bits
};

// Registers the virtual table in `db`; the batch must outlive its statements.
void register_row_batch(Database& db, RowBatch& batch);

// Inserts into one table; cells are in row-major order. The statement omits columns without a value
// in the whole batch: each costs as much as a filled one. It also omits the id, if the table has
// one as its first column and the ids are those that SQLite would assign, which saves SQLite the
// search.
class BulkInsert {
 public:
  using ColumnSet = std::uint32_t;
  static constexpr std::size_t kMaxColumns = 32;

  // `columns` are the column names of `table` in cell order. `has_id`: the first is its INTEGER
  // PRIMARY KEY. `real_columns`: columns that hold doubles as their bits. `last_id`: the largest
  // existing id.
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

// InsertQueue: queue of batches that a separate thread inserts, so that decoding and inserting use
// two cores. For BulkTables.

// Rows of one table, or texts; the other is empty.
struct InsertBatch {
  std::size_t table = 0;
  std::size_t rows = 0;
  std::vector<std::int64_t> cells;
  std::vector<std::pair<std::int64_t, std::string>> names;
};

class InsertQueue {
 public:
  // `insert` runs on the queue's thread, for one batch at a time in the order of push().
  explicit InsertQueue(std::function<void(const InsertBatch&)> insert);
  // Stops the thread; queued batches are discarded.
  ~InsertQueue();
  InsertQueue(const InsertQueue&) = delete;
  InsertQueue& operator=(const InsertQueue&) = delete;

  // Blocks while the queue is full. Rethrows the exception of an earlier insert.
  void push(InsertBatch batch);
  // Blocks until everything is inserted; then the caller may use the database itself.
  void drain();
  // Returns a buffer for the cells of a batch, reusing that of an inserted batch if possible.
  std::vector<std::int64_t> cells();

 private:
  void work();
  void insert_first(std::unique_lock<std::mutex>& lock);
  void rethrow();

  static constexpr std::size_t kMaxWaiting = 32;
  // Waking a thread costs as much as decoding a hundred rows: it sleeps until this many batches
  // wait.
  static constexpr std::size_t kFew = 8;
  std::function<void(const InsertBatch&)> insert_;
  std::mutex mutex_;
  std::condition_variable filled_;   // wakes the thread
  std::condition_variable emptied_;  // wakes push() and drain()
  std::deque<InsertBatch> waiting_;
  std::vector<std::vector<std::int64_t>> used_cells_;
  bool is_busy_ = false;
  bool wants_all_ = false;  // drain() is waiting
  bool is_ending_ = false;
  std::exception_ptr error_;
  std::thread thread_;  // last member: it uses all others
};

// Writes pages directly while the ids of a table ascend and the table has no index. From the first
// row out of order, or the first index, on SQLite inserts the rows, one statement per batch.
class BulkTables {
 public:
  // Texts go to the existing, empty table `text_table` with the columns id (INTEGER PRIMARY KEY)
  // and text. `db` must not be in a transaction: each statement is its own transaction.
  BulkTables(Database& db, const std::string& text_table);

  // Creates a table and returns its index. Columns are SQL declarations: "id INTEGER PRIMARY KEY";
  // at most 32. REAL and NUMERIC columns in `real_columns` receive doubles as their bits.
  std::size_t create(std::string_view table, std::span<const std::string> columns,
                     BulkInsert::ColumnSet real_columns = 0);

  // Returns the buffer for the cells of the next row; valid until the next call.
  std::int64_t* add_row(std::size_t table) {
    Pending& pending = pending_[table];
    if (pending.rows == kBatchRows) flush(table);
    if (pending.rows == 0) make_room(pending);
    return &pending.cells[pending.columns * pending.rows++];
  }
  void add_text(std::int64_t id, std::string_view text);

  // Blocks until SQLite can find all rows in the file; then the caller may use the database itself.
  // Other connections must not start reading before.
  void drain();
  // Blocks until everything passed on so far is inserted. Then the caller may run statements on
  // other tables.
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

  // Exactly one of `builder` and `insert` is set.
  struct Table {
    std::string name;
    std::vector<std::string> columns;  // names only
    bool has_id = false;
    BulkInsert::ColumnSet real_columns = 0;
    std::optional<pages::TableBuilder> builder;
    std::optional<BulkInsert> insert;
  };

  void make_room(Pending& pending);
  void flush(std::size_t table);
  void flush_texts();
  pages::TableBuilder builder_of(const std::string& table,
                                 std::vector<pages::ColumnStorage> columns);
  bool has_index(const std::string& table) const;
  void use_sqlite(Table& table);
  void insert(const InsertBatch& batch);
  void insert_rows(Table& table, const InsertBatch& batch);
  void insert_text(std::int64_t id, std::string_view text);

  Database* db_;
  RowBatch batch_;
  pages::PageAppender file_;
  std::string text_table_;
  std::optional<pages::TableBuilder> text_builder_;
  Statement text_;
  std::deque<Table> tables_;
  std::vector<Pending> pending_;
  std::vector<std::pair<std::int64_t, std::string>> texts_;
  InsertQueue queue_;  // last member: its thread uses the others
};

}  // namespace msprof
