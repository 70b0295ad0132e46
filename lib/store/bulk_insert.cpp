#include "store/bulk_insert.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "base/error.hpp"
#include "store/cells.hpp"

namespace msprof {

namespace {

struct Table {
  sqlite3_vtab base;  // first member: SQLite passes pointers to it
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
  // Without xCreate the table exists in every connection; no CREATE VIRTUAL TABLE is needed.
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
    throw Error(Exit::internal_error, "cannot register the SQLite module row_batch");
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

}  // namespace msprof
