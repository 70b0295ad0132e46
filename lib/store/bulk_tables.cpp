#include "store/bulk_tables.hpp"

#include <fmt/format.h>

#include <bit>

#include "base/error.hpp"
#include "store/pages/pages.hpp"

namespace msprof {

namespace {

constexpr std::string_view kIdType = "INTEGER PRIMARY KEY";

// Returns the storage of each column; nullopt if SQLite must process cells itself: for other types,
// UNIQUE, CHECK or DEFAULT.
std::optional<std::vector<pages::ColumnStorage>> column_storages(
    std::span<const std::string> columns, BulkTables::ColumnSet real_columns) {
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
    : db_(&db),
      file_(pages::Writer::open(db.handle())),
      text_table_(text_table),
      text_pages_(append_to(text_table, {})),
      text_(db.prepare(fmt::format("INSERT INTO {} VALUES(?,?)", text_table))),
      queue_([this](const InsertBatch& batch) { insert(batch); }) {}

BulkTables::~BulkTables() = default;

std::unique_ptr<pages::TableWriter> BulkTables::append_to(
    const std::string& table, std::vector<pages::ColumnStorage> columns) {
  Statement read = db_->prepare("SELECT rootpage FROM sqlite_schema WHERE name = ?");
  read.bind(1, table);
  if (!read.step()) throw db_->damaged("without the table " + table);
  return file_->append(static_cast<std::uint32_t>(read.integer(0)), std::move(columns));
}

std::size_t BulkTables::create(std::string_view table, std::span<const std::string> columns,
                               ColumnSet real_columns) {
  queue_.drain();
  db_->execute(fmt::format("CREATE TABLE {} ({})", table, fmt::join(columns, ", ")));
  Table& made = tables_.emplace_back();
  made.name = table;
  made.columns = columns.size();
  made.real_columns = real_columns;
  if (auto kinds = column_storages(columns, real_columns)) {
    made.pages = append_to(made.name, std::move(*kinds));
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
  if (text_pages_) text_pages_->finish();
  for (Table& table : tables_) {
    if (table.pages) table.pages->finish();
  }
}

bool BulkTables::has_index(const std::string& table) const {
  Statement read =
      db_->prepare("SELECT 1 FROM sqlite_schema WHERE tbl_name = ? AND type <> 'table'");
  return read.bind(1, table).step();
}

// SQL can invalidate what the writers of tables with rows know.
void BulkTables::execute(const std::string& sql) {
  drain();
  db_->execute(sql);
  if (text_pages_ && (text_pages_->last_id() || has_index(text_table_))) text_pages_.reset();
  for (Table& table : tables_) {
    if (table.pages && (table.pages->last_id() || has_index(table.name))) use_sqlite(table);
  }
}

void BulkTables::use_sqlite(Table& table) {
  if (table.pages) table.pages->finish();
  table.pages.reset();
  const std::vector<std::string_view> cells(table.columns, "?");
  table.insert.emplace(
      db_->prepare(fmt::format("INSERT INTO {} VALUES({})", table.name, fmt::join(cells, ","))));
}

void BulkTables::insert(const InsertBatch& batch) {
  for (const auto& [id, text] : batch.names) insert_text(id, text);
  if (batch.rows == 0) return;
  Table& table = tables_[batch.table];
  const std::span<const std::int64_t> cells(batch.cells);
  const std::size_t appended = table.pages ? table.pages->add(cells, batch.rows) : 0;
  if (appended == batch.rows) return;
  if (table.pages) use_sqlite(table);
  insert_rows(table,
              cells.subspan(appended * table.columns, (batch.rows - appended) * table.columns));
}

void BulkTables::insert_rows(Table& table, std::span<const std::int64_t> cells) const {
  db_->execute("BEGIN");
  for (; !cells.empty(); cells = cells.subspan(table.columns)) {
    for (std::size_t i = 0; i < table.columns; ++i) {
      const int parameter = static_cast<int>(i) + 1;
      if (cells[i] == kNull) {
        table.insert->bind_null(parameter);
      } else if ((table.real_columns >> i & 1) != 0) {
        table.insert->bind(parameter, std::bit_cast<double>(cells[i]));
      } else {
        table.insert->bind(parameter, cells[i]);
      }
    }
    table.insert->run();
  }
  db_->execute("COMMIT");
}

void BulkTables::insert_text(std::int64_t id, std::string_view text) {
  if (text_pages_ && text_pages_->add_text(id, text)) return;
  if (text_pages_) text_pages_->finish();
  text_pages_.reset();
  text_.bind(1, id).bind(2, text).run();
}

}  // namespace msprof
