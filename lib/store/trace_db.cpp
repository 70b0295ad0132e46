#include "store/trace_db.hpp"

#include <fmt/format.h>

#include <vector>

#include "base/atomic_file.hpp"
#include "base/error.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

constexpr int kApplicationId = 0x4d535052;  // "MSPR" in the file header

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

// One bulk table: created when the store is, filled by batches.
template <typename Row>
struct BulkTable {
  BulkTable(Database& db, RowBatch& batch) : insert(make(db, batch)) {}
  static BulkInsert make(Database& db, RowBatch& batch) {
    create_table<Row>(db);
    const std::vector<std::string> names = column_names<Row>();
    std::vector<const char*> pointers;
    for (const auto& name : names) pointers.push_back(name.c_str());
    return BulkInsert(db, batch, Row::kTable, pointers);
  }
  BulkInsert insert;
};

}  // namespace

struct TraceDbWriter::Inserters {
  Inserters(Database& db, RowBatch& batch)
      : device(db, batch),
        model(db, batch),
        step(db, batch),
        op(db, batch),
        task(db, batch),
        task_run(db, batch),
        step_time(db, batch),
        task_pmu(db, batch),
        pmu_column(db, batch),
        api_call(db, batch),
        name(db.prepare("INSERT INTO name VALUES(?,?)")),
        meta(db.prepare("INSERT OR REPLACE INTO meta VALUES(?,?)")),
        raw_file(db.prepare("INSERT INTO raw_file VALUES(?,?,?)")),
        import_log(db.prepare("INSERT INTO import_log VALUES(?,?,?,?,?,?,?,?)")) {}

  // All bulk tables, for whoever picks one by its row or flushes them all.
  auto all() {
    return std::tie(device, model, step, op, task, task_run, step_time, task_pmu, pmu_column,
                    api_call);
  }

  BulkTable<DeviceRow> device;
  BulkTable<ModelRow> model;
  BulkTable<StepRow> step;
  BulkTable<OpRow> op;
  BulkTable<TaskRow> task;
  BulkTable<TaskRunRow> task_run;
  BulkTable<StepTimeRow> step_time;
  BulkTable<TaskPmuRow> task_pmu;
  BulkTable<PmuColumnRow> pmu_column;
  BulkTable<ApiCallRow> api_call;
  Statement name;
  Statement meta;
  Statement raw_file;
  Statement import_log;
};

template <typename Row>
BulkInsert& TraceDbWriter::inserter() {
  return std::get<BulkTable<Row>&>(inserters_->all()).insert;
}

template BulkInsert& TraceDbWriter::inserter<DeviceRow>();
template BulkInsert& TraceDbWriter::inserter<ModelRow>();
template BulkInsert& TraceDbWriter::inserter<StepRow>();
template BulkInsert& TraceDbWriter::inserter<OpRow>();
template BulkInsert& TraceDbWriter::inserter<TaskRow>();
template BulkInsert& TraceDbWriter::inserter<TaskRunRow>();
template BulkInsert& TraceDbWriter::inserter<StepTimeRow>();
template BulkInsert& TraceDbWriter::inserter<TaskPmuRow>();
template BulkInsert& TraceDbWriter::inserter<PmuColumnRow>();
template BulkInsert& TraceDbWriter::inserter<ApiCallRow>();

TraceDbWriter::TraceDbWriter(const fs::path& target)
    : target_(target), temporary_(temporary_beside(target)), db_(Database::create(temporary_)) {
  register_row_batch(db_, batch_);
  db_.execute(fmt::format("PRAGMA application_id={}; BEGIN;", kApplicationId));
  db_.execute(kTextTables);
  inserters_ = std::make_unique<Inserters>(db_, batch_);
}

TraceDbWriter::~TraceDbWriter() {
  inserters_.reset();
  db_.close();
  std::error_code ignored;
  fs::remove(temporary_, ignored);  // after publish() there is nothing under this name
}

std::int64_t TraceDbWriter::name_id(std::string_view text) {
  const auto [at, is_new] =
      name_ids_.try_emplace(std::string(text), static_cast<std::int64_t>(name_ids_.size()) + 1);
  if (is_new) inserters_->name.bind(1, at->second).bind(2, text).run();
  return at->second;
}

void TraceDbWriter::add(const RawFileState& file) {
  inserters_->raw_file.bind(1, file.name).bind(2, file.size_bytes).bind(3, file.mtime_ns).run();
}

void TraceDbWriter::add(const ImportLogRow& row) {
  Statement& insert = inserters_->import_log;
  insert.bind(1, row.severity).bind(2, row.category).bind(3, row.kind).bind(4, row.file);
  insert.bind(5, row.reason).bind(6, row.count);
  row.first_offset == kNull ? insert.bind_null(7) : insert.bind(7, row.first_offset);
  insert.bind(8, row.detail).run();
}

void TraceDbWriter::set_meta(std::string_view key, std::string_view value) {
  inserters_->meta.bind(1, key).bind(2, value).run();
}

void TraceDbWriter::flush_all() {
  std::apply([](auto&... table) { (table.insert.flush(), ...); }, inserters_->all());
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
  inserters_.reset();
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
  Statement read = prepare("SELECT value FROM meta WHERE key=?");
  read.bind(1, key);
  return read.step() ? std::string(read.text(0)) : std::string();
}

std::vector<RawFileState> TraceDb::raw_files() const {
  std::vector<RawFileState> files;
  Statement read = prepare("SELECT name, size_bytes, mtime_ns FROM raw_file ORDER BY name");
  while (read.step())
    files.push_back({std::string(read.text(0)), read.integer(1), read.integer(2)});
  return files;
}

}  // namespace msprof
