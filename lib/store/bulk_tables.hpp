// BulkTables: rows of integers and doubles into the tables of a database that is being made. Rows
// are gathered here, a batch a table; a thread of its own makes pages of them (TableBuilder), or
// hands them to SQLite. For TraceDbWriter, parts and the unified database.
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

// BulkInsert: rows of integers (and doubles) into one table, a batch a statement. For BulkTables.
// The batch is a virtual table that the statement selects from, so that no value is bound one by
// one: measured at more than twice the rate of a bare prepared INSERT of 14 integers.

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
  static constexpr std::size_t kMaxColumns = 32;

  // `columns` are the column names of `table`, in the order of the cells of a row; `has_id`: the
  // first is its INTEGER PRIMARY KEY; `real_columns`: those that hold doubles, as their bits;
  // `last_id`: the largest of the rows that are there.
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
  std::optional<std::int64_t> last_id_;  // of the largest row
};

// InsertQueue: batches of rows on their way to SQLite, inserted by a thread of its own, so that
// decoding and inserting share two cores. For TraceDbWriter.

// Rows of one table, or texts for the table `name`, whichever is not empty.
struct InsertBatch {
  std::size_t table = 0;
  std::size_t rows = 0;
  std::vector<std::int64_t> cells;
  std::vector<std::pair<std::int64_t, std::string>> names;
};

class InsertQueue {
 public:
  // `insert` runs on the thread of the queue, one batch after the other in the order of push().
  explicit InsertQueue(std::function<void(const InsertBatch&)> insert);
  // Ends the thread; batches that wait are not inserted any more.
  ~InsertQueue();
  InsertQueue(const InsertQueue&) = delete;
  InsertQueue& operator=(const InsertQueue&) = delete;

  // Waits while too many batches wait. Throws what an earlier insert threw.
  void push(InsertBatch batch);
  // Blocks until everything is inserted; after it the caller may use the database itself.
  void drain();
  // Returns space for the cells of a batch: that of one already inserted, if there is one.
  std::vector<std::int64_t> cells();

 private:
  void work();
  void insert_first(std::unique_lock<std::mutex>& lock);
  void rethrow();

  static constexpr std::size_t kMaxWaiting = 32;
  // Waking a thread costs as much as decoding a hundred rows: it sleeps until so many batches wait.
  static constexpr std::size_t kFew = 8;
  std::function<void(const InsertBatch&)> insert_;
  std::mutex mutex_;
  std::condition_variable filled_;   // for the thread
  std::condition_variable emptied_;  // for who pushes and drains
  std::deque<InsertBatch> waiting_;
  std::vector<std::vector<std::int64_t>> used_cells_;
  bool is_busy_ = false;
  bool wants_all_ = false;  // somebody waits for the last batch
  bool is_ending_ = false;
  std::exception_ptr error_;
  std::thread thread_;  // last: it uses all the others
};

// Rows of a table are made into pages while their ids grow and SQLite need not know of them one by
// one: until the first row that is out of order, and until the table gets an index. From then on
// SQLite inserts them, a batch a statement.
class BulkTables {
 public:
  // Texts go to `text_table`, which has the columns id (its INTEGER PRIMARY KEY) and text, is there
  // already, and is empty. `db` must not be in a transaction: each statement is one of its own.
  BulkTables(Database& db, const std::string& text_table);

  // Makes a table and gives its number. Columns are as SQL declares them: "id INTEGER PRIMARY KEY";
  // one that is REAL or NUMERIC in `real_columns` takes the bits of doubles. At most 32.
  std::size_t create(std::string_view table, std::span<const std::string> columns,
                     BulkInsert::ColumnSet real_columns = 0);

  // Returns space for the cells of the next row; valid until the next call.
  std::int64_t* add_row(std::size_t table) {
    Pending& pending = pending_[table];
    if (pending.rows == kBatchRows) flush(table);
    if (pending.rows == 0) make_room(pending);
    return &pending.cells[pending.columns * pending.rows++];
  }
  void add_text(std::int64_t id, std::string_view text);

  // Blocks until all rows are in the file, where SQLite finds them; after it the caller may use the
  // database itself. Who reads it through a connection of its own must not have begun to before.
  void drain();
  // Blocks until what has been passed on so far is worked off. After it the caller may run
  // statements about other tables.
  void pause() { queue_.drain(); }
  // drain(), then SQL that may change tables or make indexes.
  void execute(const std::string& sql);

 private:
  static constexpr std::size_t kBatchRows = 1024;
  struct Pending {
    std::size_t columns = 0;
    std::size_t rows = 0;
    std::vector<std::int64_t> cells;
  };

  // Has one of both.
  struct Table {
    std::string name;
    std::vector<std::string> columns;  // their names
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
  InsertQueue queue_;  // last: its thread uses the others
};

}  // namespace msprof
