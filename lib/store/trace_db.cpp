#include "store/trace_db.hpp"

#include <fmt/format.h>

#include <vector>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "store/meta.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

constexpr int kApplicationId = 0x4d535052;  // "MSPR" in the file header

// Large pages insert a quarter faster; but every table takes one, so small stores have small ones.
int page_bytes_for(std::uint64_t raw_bytes) {
  constexpr std::uint64_t kLargeCapture = 32 << 20;
  return raw_bytes < kLargeCapture ? 4096 : 32768;
}

// Tables with texts, for people as much as for programs.
constexpr const char* kTextTables =
    "CREATE TABLE name(id INTEGER PRIMARY KEY, text TEXT NOT NULL);"
    "CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL);"
    "CREATE TABLE raw_file(name TEXT NOT NULL, size_bytes INTEGER NOT NULL, mtime_ns INTEGER NOT "
    "NULL);"
    "CREATE TABLE import_log(severity TEXT NOT NULL, category TEXT NOT NULL, kind TEXT NOT NULL, "
    "file TEXT NOT NULL,"
    " reason TEXT NOT NULL, count INTEGER NOT NULL, first_offset INTEGER, detail TEXT NOT NULL);";

template <typename Row>
void create_table(Database& db) {
  std::string columns;
  for (const char* column : Row::kColumns) {
    columns +=
        fmt::format("{}{}{}", columns.empty() ? "" : ", ", column,
                    std::string_view(column).find(' ') == std::string_view::npos ? " INTEGER" : "");
  }
  db.execute(fmt::format("CREATE TABLE {}({})", Row::kTable, columns));
}

// Column names without their types.
template <typename Row>
std::vector<std::string> column_names() {
  std::vector<std::string> names;
  for (const std::string_view column : Row::kColumns) {
    names.emplace_back(column.substr(0, column.find(' ')));
  }
  return names;
}

// Creates every table of BulkRows; their statements in the order of BulkRows.
template <typename... Row>
std::vector<BulkInsert> bulk_inserts(Database& db, RowBatch& batch, std::tuple<Row...>*) {
  (create_table<Row>(db), ...);
  std::vector<BulkInsert> inserts;
  (inserts.emplace_back(db, batch, Row::kTable, column_names<Row>()), ...);
  return inserts;
}

}  // namespace

struct TraceDbWriter::Statements {
  Statements(Database& db, RowBatch& batch)
      : bulk(bulk_inserts(db, batch, static_cast<BulkRows*>(nullptr))),
        name(db.prepare("INSERT INTO name VALUES(?,?)")),
        meta(db.prepare("INSERT OR REPLACE INTO meta VALUES(?,?)")),
        raw_file(db.prepare("INSERT INTO raw_file VALUES(?,?,?)")),
        import_log(db.prepare("INSERT INTO import_log VALUES(?,?,?,?,?,?,?,?)")) {}

  void insert(const InsertBatch& batch) {
    for (const auto& [id, text] : batch.names) name.bind(1, id).bind(2, text).run();
    if (batch.rows > 0) bulk[batch.table].insert(batch.cells, batch.rows);
  }

  std::vector<BulkInsert> bulk;
  Statement name;
  Statement meta;
  Statement raw_file;
  Statement import_log;
};

TraceDbWriter::TraceDbWriter(const fs::path& target, std::uint64_t raw_bytes)
    : target_(target),
      temporary_(temporary_beside(target)),
      db_(Database::create(temporary_, page_bytes_for(raw_bytes))) {
  register_row_batch(db_, batch_);
  db_.execute(fmt::format("PRAGMA application_id={}; BEGIN;", kApplicationId));
  db_.execute(kTextTables);
  statements_ = std::make_unique<Statements>(db_, batch_);
  queue_ = std::make_unique<InsertQueue>(
      [statements = statements_.get()](const InsertBatch& batch) { statements->insert(batch); });
}

TraceDbWriter::~TraceDbWriter() {
  queue_.reset();
  statements_.reset();
  db_.close();
  std::error_code ignored;
  fs::remove(temporary_, ignored);  // after publish() there is nothing under this name
}

std::int64_t TraceDbWriter::name_id(std::string_view text) {
  if (const auto known = name_ids_.find(text); known != name_ids_.end()) return known->second;
  const auto id = static_cast<std::int64_t>(name_ids_.size()) + 1;
  name_ids_.emplace(text, id);
  new_names_.emplace_back(id, text);
  if (new_names_.size() == kBatchRows) flush_names();
  return id;
}

// The other tables are small: their statements run here, while the thread of the queue waits.
void TraceDbWriter::add(const RawFileState& file) {
  queue_->drain();
  statements_->raw_file.bind(1, file.name).bind(2, file.size_bytes).bind(3, file.mtime_ns).run();
}

void TraceDbWriter::add(const ImportLogRow& row) {
  queue_->drain();
  Statement& insert = statements_->import_log;
  insert.bind(1, row.severity).bind(2, row.category).bind(3, row.kind).bind(4, row.file);
  insert.bind(5, row.reason).bind(6, row.count);
  row.first_offset == kNull ? insert.bind_null(7) : insert.bind(7, row.first_offset);
  insert.bind(8, row.detail).run();
}

void TraceDbWriter::set_meta(std::string_view key, std::string_view value) {
  queue_->drain();
  statements_->meta.bind(1, key).bind(2, value).run();
}

void TraceDbWriter::make_room(Pending& pending, std::size_t columns) {
  if (pending.cells.empty()) pending.cells = queue_->cells();
  pending.cells.resize(columns * kBatchRows);
}

void TraceDbWriter::flush(std::size_t table) {
  Pending& pending = pending_[table];
  if (pending.rows == 0) return;
  InsertBatch batch;
  batch.table = table;
  batch.rows = std::exchange(pending.rows, 0);
  batch.cells = std::exchange(pending.cells, {});
  queue_->push(std::move(batch));
}

void TraceDbWriter::flush_names() {
  if (new_names_.empty()) return;
  InsertBatch batch;
  batch.names = std::exchange(new_names_, {});
  queue_->push(std::move(batch));
}

void TraceDbWriter::flush_all() {
  flush_names();
  for (std::size_t table = 0; table < kTables; ++table) flush(table);
  queue_->drain();
}

const Database& TraceDbWriter::readable() {
  flush_all();
  return db_;
}

void TraceDbWriter::execute(const std::string& sql) {
  flush_all();
  db_.execute(sql);
}

void TraceDbWriter::publish() {
  flush_all();
  // The version is the last thing written: a store that has it is whole.
  db_.execute(fmt::format("PRAGMA user_version={}; COMMIT;", kSchemaVersion));
  queue_.reset();
  statements_.reset();
  db_.close();
  msprof::publish(temporary_, target_);
}

std::optional<TraceDb> TraceDb::open(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return std::nullopt;
  try {
    TraceDb store(Database::open_read_only(path), path);
    Statement version = store.prepare("SELECT * FROM pragma_user_version, pragma_application_id");
    if (!version.step() || version.integer(0) != kSchemaVersion ||
        version.integer(1) != kApplicationId) {
      return std::nullopt;
    }
    return store;
  } catch (const Error& error) {
    if (error.code() == Exit::interrupted) throw;
    return std::nullopt;  // not a database, or not ours: import makes a new one
  }
}

std::string TraceDb::meta(std::string_view key) const {
  return read_meta(db_, key);
}

std::vector<RawFileState> TraceDb::raw_files() const {
  std::vector<RawFileState> files;
  Statement read = prepare("SELECT name, size_bytes, mtime_ns FROM raw_file ORDER BY name");
  while (read.step())
    files.push_back({std::string(read.text(0)), read.integer(1), read.integer(2)});
  return files;
}

}  // namespace msprof
