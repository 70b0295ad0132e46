#include "store/trace_db_writer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"
#include "store/new_database.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

// Longer texts are cut. Far above the length of any name; readers reject texts only beyond four
// times this (database.cpp).
constexpr std::size_t kMaxText = 1 << 20;

// Large pages make inserts 25 % faster, but every table has at least one page, so small stores use
// small pages.
int page_bytes_for(std::uint64_t raw_bytes) {
  constexpr std::uint64_t kLargeCapture = 32 << 20;
  return raw_bytes < kLargeCapture ? 4096 : 32768;
}

// Returns true if every SQLite client reads the text unchanged: Python fails on invalid UTF-8, and
// many programs stop at a NUL.
bool is_storable(std::string_view text) {
  return text.find('\0') == std::string_view::npos && is_valid_utf8(text);
}

}  // namespace

struct TraceDbWriter::Statements {
  explicit Statements(Database& db)
      : meta(db.prepare("INSERT OR REPLACE INTO meta VALUES(?,?)")),
        raw_file(db.prepare("INSERT INTO raw_file VALUES(?,?,?)")),
        import_log(db.prepare("INSERT INTO import_log VALUES(?,?,?,?,?,?,?,?,?)")) {}

  Statement meta;
  Statement raw_file;
  Statement import_log;
};

TraceDbWriter::TraceDbWriter(const fs::path& target, std::uint64_t raw_bytes)
    : temporary_(new_database_file(target)),
      db_(Database::create(temporary_.path(), page_bytes_for(raw_bytes))) {
  db_.execute(fmt::format("PRAGMA application_id={};", kApplicationId));
  const auto& tables = store_tables();
  for (std::size_t i = kTables; i < tables.size(); ++i) db_.execute(create_statement(tables[i]));
  statements_ = std::make_unique<Statements>(db_);
  tables_ = std::make_unique<BulkTables>(db_, "name");
  for (std::size_t i = 0; i < kTables; ++i) tables_->create(tables[i].name, tables[i].columns);
}

TraceDbWriter::~TraceDbWriter() {
  tables_.reset();
  statements_.reset();
  readers_.clear();
  db_.close();
}

std::int64_t TraceDbWriter::name_id(std::string_view text) {
  text = text.substr(0, kMaxText);
  if (const auto known = name_ids_.find(text); known != name_ids_.end()) return known->second;
  if (!is_storable(text)) {
    const std::int64_t id = name_id(stored_text(text));
    name_ids_.emplace(text, id);
    return id;
  }
  const std::int64_t id = ++last_name_id_;
  name_ids_.emplace(text, id);
  tables_->add_text(id, text);
  return id;
}

std::string TraceDbWriter::stored_text(std::string_view text) {
  text = text.substr(0, kMaxText);
  if (is_storable(text)) return std::string(text);
  const std::string_view kept = text.substr(0, text.find('\0'));
  const bool is_padded = text.find_first_not_of('\0', kept.size()) == std::string_view::npos;
  if (!is_padded || !is_valid_utf8(kept)) ++repaired_texts_;
  return valid_utf8(kept);
}

// Tables that contain texts are small: their statements run on this thread while the queue's thread
// waits.
void TraceDbWriter::add(const RawFileState& file) {
  tables_->pause();
  statements_->raw_file.bind(1, stored_text(file.name))
      .bind(2, file.size_bytes)
      .bind(3, file.mtime_ns)
      .run();
}

void TraceDbWriter::add(const ImportLogRow& row) {
  tables_->pause();
  Statement& insert = statements_->import_log;
  insert.bind(1, row.severity).bind(2, row.category).bind(3, stored_text(row.kind));
  insert.bind(4, stored_text(row.file)).bind(5, stored_text(row.reason)).bind(6, row.count);
  row.first_offset == kNull ? insert.bind_null(7) : insert.bind(7, row.first_offset);
  insert.bind(8, stored_text(row.detail)).bind(9, row.id).run();
}

void TraceDbWriter::set_meta(std::string_view key, std::string_view value) {
  tables_->pause();
  statements_->meta.bind(1, key).bind(2, stored_text(value)).run();
}

const Database& TraceDbWriter::readable() {
  tables_->drain();
  // Opens a separate connection: a page reader keeps a transaction open and sees only the pages
  // that exist now.
  readers_.push_back(Database::open_unlocked(temporary_.path()));
  readers_.back().execute("PRAGMA cache_size=-2048;");
  readers_.back().read_by_pages();
  return readers_.back();
}

void TraceDbWriter::add_index(const StoreIndex& index) {
  tables_->execute(create_statement(index));
  indexes_.insert(index.name);
}

void TraceDbWriter::publish() {
  for (const StoreIndex& index : kStoreIndexes)
    if (!indexes_.contains(index.name)) add_index(index);
  tables_->drain();
  // The version is written last: a store that has it is complete.
  db_.execute(fmt::format("PRAGMA user_version={};", kSchemaVersion));
  tables_.reset();
  statements_.reset();
  readers_.clear();
  db_.close();
  temporary_.publish();
}

}  // namespace msprof
