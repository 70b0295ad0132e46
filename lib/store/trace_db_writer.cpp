#include "store/trace_db_writer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

// Nothing has such a name; readers refuse much longer ones (database.cpp).
constexpr std::size_t kMaxName = 1 << 20;

// Large pages insert a quarter faster; but every table takes one, so small stores have small ones.
int page_bytes_for(std::uint64_t raw_bytes) {
  constexpr std::uint64_t kLargeCapture = 32 << 20;
  return raw_bytes < kLargeCapture ? 4096 : 32768;
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
    : target_(target),
      temporary_(target),
      db_(Database::create(temporary_.path(), page_bytes_for(raw_bytes))) {
  db_.execute(fmt::format("PRAGMA application_id={};", kApplicationId));
  const auto& tables = store_tables();
  for (std::size_t i = kTables; i < tables.size(); ++i) db_.execute(creation_of(tables[i]));
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
  text = text.substr(0, kMaxName);
  if (const auto known = name_ids_.find(text); known != name_ids_.end()) return known->second;
  const auto id = static_cast<std::int64_t>(name_ids_.size()) + 1;
  name_ids_.emplace(text, id);
  tables_->add_text(id, text);
  return id;
}

// The other tables are small: their statements run here, while the thread of the queue waits.
void TraceDbWriter::add(const RawFileState& file) {
  tables_->pause();
  statements_->raw_file.bind(1, file.name).bind(2, file.size_bytes).bind(3, file.mtime_ns).run();
}

void TraceDbWriter::add(const ImportLogRow& row) {
  tables_->pause();
  Statement& insert = statements_->import_log;
  insert.bind(1, row.severity).bind(2, row.category).bind(3, row.kind).bind(4, row.file);
  insert.bind(5, row.reason).bind(6, row.count);
  row.first_offset == kNull ? insert.bind_null(7) : insert.bind(7, row.first_offset);
  insert.bind(8, row.detail).bind(9, row.id).run();
}

void TraceDbWriter::set_meta(std::string_view key, std::string_view value) {
  tables_->pause();
  statements_->meta.bind(1, key).bind(2, value).run();
}

const Database& TraceDbWriter::readable() {
  tables_->drain();
  // Rows come from the pages that are there now; one that reads them is in a transaction.
  readers_.push_back(Database::open_read_only(temporary_.path()));
  readers_.back().execute("PRAGMA cache_size=-2048;");
  readers_.back().read_by_pages();
  return readers_.back();
}

void TraceDbWriter::execute(const std::string& sql) {
  tables_->execute(sql);
}

void TraceDbWriter::publish() {
  tables_->drain();
  // The version is the last thing written: a store that has it is whole.
  db_.execute(fmt::format("PRAGMA user_version={};", kSchemaVersion));
  tables_.reset();
  statements_.reset();
  readers_.clear();
  db_.close();
  flush_to_disk(temporary_.path(), target_);
  replace_database(temporary_.path(), target_);
}

}  // namespace msprof
