// Writes the files that msserviceprofiler reads in a capture's host folder: sqlite/msproftx.db, and
// data/all_file.complete, without which it exports the capture again. Source: cann_host.md 2.7.
#include <unistd.h>

#include <filesystem>

#include "base/atomic_file.hpp"
#include "export/exporter.hpp"
#include "export/products.hpp"
#include "export/scope/cann_rules.hpp"
#include "export/scope/export_style.hpp"
#include "store/database.hpp"
#include "store/new_database.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

constexpr int kServicePageBytes = 4096;
constexpr const char* kServiceDbName = "msproftx.db";

constexpr const char* kServiceTables[] = {
    "CREATE TABLE MsprofTx (pid INTEGER, tid INTEGER, category INTEGER, event_type TEXT,"
    " payload_type INTEGER, payload_value INTEGER, start_time INTEGER, end_time INTEGER,"
    " message_type INTEGER, message TEXT)",
    "CREATE TABLE MsprofTxEx (pid INTEGER, tid INTEGER, event_type TEXT, start_time INTEGER,"
    " end_time INTEGER, mark_id INTEGER, domain TEXT, message TEXT)"};

// Returns true for a writable folder, but false for a link, which may lead out of the capture. If
// these files cannot be written, the export does not fail.
bool takes_files(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(fs::symlink_status(path, error)) && ::access(path.c_str(), W_OK) == 0;
}

void bind_or_null(Statement& insert, int parameter, std::optional<std::int64_t> value) {
  value ? insert.bind(parameter, *value) : insert.bind_null(parameter);
}

class ServiceDb {
 public:
  ServiceDb(const Database& store, const fs::path& path)
      : texts_(store), db_(Database::create(path, kServicePageBytes)) {
    db_.execute("BEGIN;");
    for (const char* table : kServiceTables) db_.execute(table);
    Statement plain = db_.prepare("INSERT INTO MsprofTx VALUES(?,?,?,?,?,?,?,?,?,?)");
    Statement marks = db_.prepare("INSERT INTO MsprofTxEx VALUES(?,?,?,?,?,?,?,?)");
    Statement read = store.prepare(
        "SELECT process_id, thread_id, event_type, start_count, end_count, message_name_id,"
        " is_extended, mark_id, domain_name_id, category, payload_type, payload_value,"
        " message_type FROM user_range WHERE start_count IS NOT NULL ORDER BY id");
    while (read.step()) read.integer(kExtended) != 0 ? add_mark(marks, read) : add(plain, read);
  }

  void finish() {
    db_.execute("COMMIT;");
    db_.close();
  }

 private:
  enum Cell : int {
    kProcess,
    kThread,
    kEvent,
    kStart,
    kEnd,
    kMessage,
    kExtended,
    kMark,
    kDomain,
    kCategory,
    kPayloadType,
    kPayloadValue,
    kMessageType
  };

  void add(Statement& insert, const Statement& row) {
    constexpr int kNumbers[] = {kProcess,      kThread, kCategory, kEvent,      kPayloadType,
                                kPayloadValue, kStart,  kEnd,      kMessageType};
    int parameter = 0;
    for (const int cell : kNumbers) bind_or_null(insert, ++parameter, row.maybe_integer(cell));
    insert.bind(4, cann::event_type_text(row.integer(kEvent)));
    insert.bind(++parameter, texts_(row.integer(kMessage)));
    insert.run();
  }

  void add_mark(Statement& insert, const Statement& row) {
    constexpr int kNumbers[] = {kProcess, kThread, kEvent, kStart, kEnd, kMark};
    int parameter = 0;
    for (const int cell : kNumbers) bind_or_null(insert, ++parameter, row.maybe_integer(cell));
    insert.bind(3, cann::event_type_text(row.integer(kEvent)));
    insert.bind(++parameter, texts_(row.integer(kDomain)));
    insert.bind(++parameter, texts_(row.integer(kMessage)));
    insert.run();
  }

  cann::Texts texts_;
  Database db_;
};

ExportedFile write_service_db(const Database& store, const fs::path& folder) {
  create_output_folder(folder);
  const fs::path target = folder / kServiceDbName;
  check_replaceable(target);
  TemporaryFile temporary = new_database_file(target);
  ServiceDb(store, temporary.path()).finish();
  temporary.publish();
  return {target, fs::file_size(target)};
}

}  // namespace

void add_service_files(std::vector<ExportJob>& jobs, const TraceDb& store, const fs::path& base) {
  const Database& db = store.database();
  const fs::path host = base / "host";
  if (!has_unified_db(db) || is_old_capture(db) || !takes_files(host)) return;
  const fs::path folder = host / "sqlite";
  std::error_code error;
  const bool has_ranges =
      cann::has_rows(db, "SELECT 1 FROM user_range WHERE start_count IS NOT NULL");
  if (has_ranges && (takes_files(folder) || !fs::exists(fs::symlink_status(folder, error)))) {
    jobs.push_back({[folder](const Database& reader) -> std::vector<ExportedFile> {
      return {write_service_db(reader, folder)};
    }});
  }
  if (takes_files(host / "data")) {
    ExportJob mark;
    // Runs when all other jobs are done.
    mark.written = [file = host / "data" / "all_file.complete"]() -> std::vector<ExportedFile> {
      write_text_file(file, "");
      return {};
    };
    jobs.push_back(std::move(mark));
  }
}

}  // namespace msprof
