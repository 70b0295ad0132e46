#include "store/bulk_tables.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace msprof {

namespace {

constexpr std::string_view kIdType = "INTEGER PRIMARY KEY";

// Registers the virtual table before the statements that use it are prepared.
Database& with_row_batch(Database& db, RowBatch& batch) {
  register_row_batch(db, batch);
  return db;
}

// Column names without their types.
std::vector<std::string> column_names(std::span<const std::string> columns) {
  std::vector<std::string> names;
  for (const std::string& column : columns) names.push_back(column.substr(0, column.find(' ')));
  return names;
}

// Returns the storage of each column; nullopt if SQLite must process cells itself: for other types,
// UNIQUE, CHECK or DEFAULT.
std::optional<std::vector<pages::ColumnStorage>> column_storages(
    std::span<const std::string> columns, BulkInsert::ColumnSet real_columns) {
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
      text_builder_(make_builder(text_table, {})),
      text_(db.prepare(fmt::format("INSERT INTO {} VALUES(?,?)", text_table))),
      queue_([this](const InsertBatch& batch) { insert(batch); }) {}

pages::TableBuilder BulkTables::make_builder(const std::string& table,
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
  made.columns = column_names(columns);
  made.has_id = columns.front().ends_with(kIdType);
  made.real_columns = real_columns;
  if (auto kinds = column_storages(columns, real_columns)) {
    made.builder.emplace(make_builder(made.name, std::move(*kinds)));
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

// SQL can invalidate the state of builders whose tables have rows.
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
