#include "store/bulk_tables.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <bit>

#include "base/error.hpp"

namespace msprof {

namespace {

struct Table {
  sqlite3_vtab base;  // first member: SQLite hands out pointers to it
  RowBatch* batch;
};

struct Cursor {
  sqlite3_vtab_cursor base;
  const RowBatch* batch;
  std::size_t row;
};

Cursor* as_cursor(sqlite3_vtab_cursor* cursor) {
  return reinterpret_cast<Cursor*>(cursor);
}

int connect(sqlite3* db, void* batch, int, const char* const*, sqlite3_vtab** result, char**) {
  std::string declaration = "CREATE TABLE row_batch(c0";
  for (std::size_t i = 1; i < BulkInsert::kMaxColumns; ++i) declaration += fmt::format(",c{}", i);
  const int code = sqlite3_declare_vtab(db, (declaration + ")").c_str());
  if (code != SQLITE_OK) return code;
  auto* table = new Table{};
  table->batch = static_cast<RowBatch*>(batch);
  *result = &table->base;
  return SQLITE_OK;
}

int disconnect(sqlite3_vtab* table) {
  delete reinterpret_cast<Table*>(table);
  return SQLITE_OK;
}

int best_index(sqlite3_vtab*, sqlite3_index_info*) {
  return SQLITE_OK;
}

int open(sqlite3_vtab* table, sqlite3_vtab_cursor** result) {
  auto* cursor = new Cursor{};
  cursor->batch = reinterpret_cast<Table*>(table)->batch;
  *result = &cursor->base;
  return SQLITE_OK;
}

int close(sqlite3_vtab_cursor* cursor) {
  delete as_cursor(cursor);
  return SQLITE_OK;
}

int filter(sqlite3_vtab_cursor* cursor, int, const char*, int, sqlite3_value**) {
  as_cursor(cursor)->row = 0;
  return SQLITE_OK;
}

int next(sqlite3_vtab_cursor* cursor) {
  ++as_cursor(cursor)->row;
  return SQLITE_OK;
}

int at_end(sqlite3_vtab_cursor* cursor) {
  return as_cursor(cursor)->row >= as_cursor(cursor)->batch->rows ? 1 : 0;
}

int column(sqlite3_vtab_cursor* cursor, sqlite3_context* context, int index) {
  const Cursor& at = *as_cursor(cursor);
  const std::int64_t value =
      at.batch->cells[at.row * at.batch->columns + static_cast<std::size_t>(index)];
  if (value == kNull) return SQLITE_OK;  // NULL is the default result
  if ((at.batch->real_columns >> index & 1) != 0) {
    sqlite3_result_double(context, std::bit_cast<double>(value));
  } else {
    sqlite3_result_int64(context, value);
  }
  return SQLITE_OK;
}

int row_id(sqlite3_vtab_cursor* cursor, sqlite3_int64* id) {
  *id = static_cast<sqlite3_int64>(as_cursor(cursor)->row);
  return SQLITE_OK;
}

constexpr sqlite3_module make_module() {
  sqlite3_module module = {};
  // No xCreate: the table exists in every connection without a CREATE VIRTUAL TABLE.
  module.xConnect = connect;
  module.xBestIndex = best_index;
  module.xDisconnect = disconnect;
  module.xOpen = open;
  module.xClose = close;
  module.xFilter = filter;
  module.xNext = next;
  module.xEof = at_end;
  module.xColumn = column;
  module.xRowid = row_id;
  return module;
}

const sqlite3_module kModule = make_module();

std::string insert_sql(const std::string& table, std::span<const std::string> columns,
                       std::uint32_t filled) {
  std::string names;
  std::string cells;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if ((filled >> i & 1) == 0) continue;
    const char* comma = names.empty() ? "" : ",";
    names += fmt::format("{}{}", comma, columns[i]);
    cells += fmt::format("{}c{}", comma, i);
  }
  return fmt::format("INSERT INTO {}({}) SELECT {} FROM row_batch", table, names, cells);
}

}  // namespace

void register_row_batch(Database& db, RowBatch& batch) {
  if (sqlite3_create_module(db.handle(), "row_batch", &kModule, &batch) != SQLITE_OK) {
    throw Error(Exit::internal_error, "the store does not take the module row_batch");
  }
}

BulkInsert::BulkInsert(const Database& db, RowBatch& batch, std::string table,
                       std::vector<std::string> columns, bool has_id, ColumnSet real_columns,
                       std::optional<std::int64_t> last_id)
    : db_(&db),
      batch_(&batch),
      table_(std::move(table)),
      columns_(std::move(columns)),
      has_id_(has_id),
      real_columns_(real_columns),
      last_id_(last_id) {}

BulkInsert::ColumnSet BulkInsert::filled_columns(std::span<const std::int64_t> cells,
                                                 std::size_t rows) const {
  ColumnSet filled = 1;  // always includes the id: an INSERT needs at least one column
  for (std::size_t column = 1; column < columns_.size(); ++column) {
    for (std::size_t row = 0; row < rows; ++row) {
      if (cells[row * columns_.size() + column] == kNull) continue;
      filled |= ColumnSet{1} << column;
      break;
    }
  }
  return filled;
}

// Returns true if the ids continue from the largest one without gaps.
bool BulkInsert::continues(std::span<const std::int64_t> cells, std::size_t rows) const {
  std::int64_t last = last_id_.value_or(0);
  for (std::size_t row = 0; row < rows; ++row) {
    if (last == INT64_MAX || cells[row * columns_.size()] != last + 1) return false;
    ++last;
  }
  return true;
}

void BulkInsert::insert(std::span<const std::int64_t> cells, std::size_t rows) {
  ColumnSet filled = filled_columns(cells, rows);
  if (has_id_ && filled != 1 && continues(cells, rows)) filled &= ~ColumnSet{1};
  auto known = statements_.find(filled);
  if (known == statements_.end()) {
    known = statements_.emplace(filled, db_->prepare(insert_sql(table_, columns_, filled))).first;
  }
  *batch_ = {cells.data(), rows, columns_.size(), real_columns_};
  known->second.run();
  if (!has_id_) return;
  for (std::size_t row = 0; row < rows; ++row)
    last_id_ = std::max(last_id_.value_or(INT64_MIN), cells[row * columns_.size()]);
}

InsertQueue::InsertQueue(std::function<void(const InsertBatch&)> insert)
    : insert_(std::move(insert)), thread_([this] { work(); }) {}

InsertQueue::~InsertQueue() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  filled_.notify_one();
  thread_.join();
}

void InsertQueue::rethrow() {
  if (error_) std::rethrow_exception(error_);
}

void InsertQueue::push(InsertBatch batch) {
  std::unique_lock lock(mutex_);
  emptied_.wait(lock, [this] { return waiting_.size() < kMaxWaiting || error_; });
  rethrow();
  waiting_.push_back(std::move(batch));
  const bool wakes = waiting_.size() == kFew;
  lock.unlock();
  if (wakes) filled_.notify_one();
}

void InsertQueue::drain() {
  std::unique_lock lock(mutex_);
  wants_all_ = true;
  filled_.notify_one();
  emptied_.wait(lock, [this] { return (waiting_.empty() && !is_busy_) || error_; });
  wants_all_ = false;
  rethrow();
}

std::vector<std::int64_t> InsertQueue::cells() {
  const std::lock_guard lock(mutex_);
  if (used_cells_.empty()) return {};
  std::vector<std::int64_t> cells = std::move(used_cells_.back());
  used_cells_.pop_back();
  return cells;
}

// Sleeps until enough batches wait, then inserts all of them.
void InsertQueue::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    filled_.wait(lock, [this] {
      return is_ending_ || waiting_.size() >= kFew || (wants_all_ && !waiting_.empty());
    });
    while (!is_ending_ && !waiting_.empty()) insert_first(lock);
    if (is_ending_) return;
  }
}

void InsertQueue::insert_first(std::unique_lock<std::mutex>& lock) {
  InsertBatch batch = std::move(waiting_.front());
  waiting_.pop_front();
  is_busy_ = true;
  lock.unlock();
  std::exception_ptr error;
  try {
    insert_(batch);
  } catch (...) {
    error = std::current_exception();
  }
  lock.lock();
  is_busy_ = false;
  used_cells_.push_back(std::move(batch.cells));
  if (error) {
    error_ = error;
    waiting_.clear();
  }
  emptied_.notify_all();
}

namespace {

constexpr std::string_view kIdType = "INTEGER PRIMARY KEY";

// Registers the virtual table before the statements that use it are prepared.
Database& with_row_batch(Database& db, RowBatch& batch) {
  register_row_batch(db, batch);
  return db;
}

// Column names without their types.
std::vector<std::string> names_of(std::span<const std::string> columns) {
  std::vector<std::string> names;
  for (const std::string& column : columns) names.push_back(column.substr(0, column.find(' ')));
  return names;
}

// Returns the storage of each column; empty if SQLite must process cells itself: other types,
// UNIQUE, CHECK, DEFAULT.
std::optional<std::vector<pages::ColumnStorage>> kinds_of(std::span<const std::string> columns,
                                                          BulkInsert::ColumnSet real_columns) {
  std::vector<pages::ColumnStorage> kinds;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const bool is_real = (real_columns >> i & 1) != 0;
    const auto space = columns[i].find(' ');
    const std::string type = space == std::string::npos ? "" : columns[i].substr(space + 1);
    if (type == kIdType) {
      kinds.push_back(pages::ColumnStorage::id);
    } else if (type == "INTEGER" || type == "NUMERIC") {
      kinds.push_back(is_real ? pages::ColumnStorage::numeric_double
                              : pages::ColumnStorage::integer);
    } else if (type == "REAL" && is_real) {
      kinds.push_back(pages::ColumnStorage::real_double);
    } else {
      return std::nullopt;
    }
  }
  return kinds;
}

}  // namespace

BulkTables::BulkTables(Database& db, const std::string& text_table)
    : db_(&with_row_batch(db, batch_)),
      file_(db),
      text_table_(text_table),
      text_builder_(builder_of(text_table, {})),
      text_(db.prepare(fmt::format("INSERT INTO {} VALUES(?,?)", text_table))),
      queue_([this](const InsertBatch& batch) { insert(batch); }) {}

pages::TableBuilder BulkTables::builder_of(const std::string& table,
                                           std::vector<pages::ColumnStorage> columns) {
  Statement read = db_->prepare("SELECT rootpage FROM sqlite_schema WHERE name = ?");
  read.bind(1, table);
  if (!read.step()) throw db_->damaged("without the table " + table);
  const auto root = static_cast<pages::PageAppender::PageNumber>(read.integer(0));
  return pages::TableBuilder(file_, root, std::move(columns));
}

std::size_t BulkTables::create(std::string_view table, std::span<const std::string> columns,
                               BulkInsert::ColumnSet real_columns) {
  queue_.drain();
  db_->execute(fmt::format("CREATE TABLE {} ({})", table, fmt::join(columns, ", ")));
  Table& made = tables_.emplace_back();
  made.name = table;
  made.columns = names_of(columns);
  made.has_id = columns.front().ends_with(kIdType);
  made.real_columns = real_columns;
  if (auto kinds = kinds_of(columns, real_columns)) {
    made.builder.emplace(builder_of(made.name, std::move(*kinds)));
  } else {
    use_sqlite(made);
  }
  pending_.push_back({columns.size(), 0, {}});
  return pending_.size() - 1;
}

void BulkTables::add_text(std::int64_t id, std::string_view text) {
  texts_.emplace_back(id, text);
  if (texts_.size() == kBatchRows) flush_texts();
}

void BulkTables::make_room(Pending& pending) {
  if (pending.cells.empty()) pending.cells = queue_.cells();
  pending.cells.resize(pending.columns * kBatchRows);
}

void BulkTables::flush(std::size_t table) {
  Pending& pending = pending_[table];
  if (pending.rows == 0) return;
  InsertBatch batch;
  batch.table = table;
  batch.rows = std::exchange(pending.rows, 0);
  batch.cells = std::exchange(pending.cells, {});
  queue_.push(std::move(batch));
}

void BulkTables::flush_texts() {
  if (texts_.empty()) return;
  InsertBatch batch;
  batch.names = std::exchange(texts_, {});
  queue_.push(std::move(batch));
}

void BulkTables::drain() {
  flush_texts();
  for (std::size_t table = 0; table < pending_.size(); ++table) flush(table);
  queue_.drain();
  if (text_builder_) text_builder_->finish();
  for (Table& table : tables_) {
    if (table.builder) table.builder->finish();
  }
}

bool BulkTables::has_index(const std::string& table) const {
  Statement read =
      db_->prepare("SELECT 1 FROM sqlite_schema WHERE tbl_name = ? AND type <> 'table'");
  return read.bind(1, table).step();
}

// SQL can invalidate what a builder knows about a table that has rows.
void BulkTables::execute(const std::string& sql) {
  drain();
  db_->execute(sql);
  if (text_builder_ && (text_builder_->last_id() || has_index(text_table_))) text_builder_.reset();
  for (Table& table : tables_) {
    if (table.builder && (table.builder->last_id() || has_index(table.name))) use_sqlite(table);
  }
}

void BulkTables::use_sqlite(Table& table) {
  std::optional<std::int64_t> last_id;
  if (table.builder) {
    table.builder->finish();
    last_id = table.builder->last_id();
    table.builder.reset();
  }
  table.insert.emplace(*db_, batch_, table.name, table.columns, table.has_id, table.real_columns,
                       last_id);
}

void BulkTables::insert(const InsertBatch& batch) {
  for (const auto& [id, text] : batch.names) insert_text(id, text);
  if (batch.rows > 0) insert_rows(tables_[batch.table], batch);
}

void BulkTables::insert_rows(Table& table, const InsertBatch& batch) {
  const std::span<const std::int64_t> cells(batch.cells);
  const std::size_t taken = table.builder ? table.builder->add(cells, batch.rows) : 0;
  if (taken == batch.rows) return;
  if (table.builder) use_sqlite(table);
  table.insert->insert(cells.subspan(taken * table.columns.size()), batch.rows - taken);
}

void BulkTables::insert_text(std::int64_t id, std::string_view text) {
  if (text_builder_ && text_builder_->add_text(id, text)) return;
  if (text_builder_) text_builder_->finish();
  text_builder_.reset();
  text_.bind(1, id).bind(2, text).run();
}

}  // namespace msprof
