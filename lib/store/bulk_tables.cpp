#include "store/bulk_tables.hpp"

#include <fmt/format.h>

namespace msprof {

namespace {

// Registered before the statements that need it are prepared.
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

}  // namespace

BulkTables::BulkTables(Database& db, const std::string& text_table)
    : db_(&with_row_batch(db, batch_)),
      text_(db.prepare(fmt::format("INSERT INTO {} VALUES(?,?)", text_table))),
      queue_([this](const InsertBatch& batch) { insert(batch); }) {}

std::size_t BulkTables::create(std::string_view table, std::span<const std::string> columns,
                               BulkInsert::ColumnSet real_columns) {
  queue_.drain();
  db_->execute(fmt::format("CREATE TABLE {} ({})", table, fmt::join(columns, ", ")));
  const bool has_id = columns.front().ends_with("INTEGER PRIMARY KEY");
  inserts_.emplace_back(*db_, batch_, std::string(table), names_of(columns), has_id, real_columns);
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
}

void BulkTables::insert(const InsertBatch& batch) {
  for (const auto& [id, text] : batch.names) text_.bind(1, id).bind(2, text).run();
  if (batch.rows > 0) inserts_[batch.table].insert(batch.cells, batch.rows);
}

}  // namespace msprof
