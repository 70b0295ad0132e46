#include "store/database.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/file_reader.hpp"
#include "base/findings.hpp"
#include "base/foreign_error.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "store/pages/pages.hpp"
#include "store/read_failure.hpp"

namespace msprof {

namespace {

// Maximum size of a row that is read. Import cuts texts at a quarter of this size.
constexpr int kMaxRow = 4 << 20;
// Limits well above our own SQL and tables.
constexpr int kMaxSqlBytes = 1 << 17;
constexpr int kMaxColumns = 500;

bool is_read_error(int extended_code) {
  return extended_code == SQLITE_IOERR_READ || extended_code == SQLITE_IOERR_FSTAT;
}

// Returns true if `db` cannot be read because the file system does not support locks. SQLite may
// report a failed lock as SQLITE_BUSY, except when it only checks for a lock.
bool lacks_locks(sqlite3* db) {
  // Reads only the header, under a lock.
  const int code = sqlite3_exec(db, "PRAGMA schema_version", nullptr, nullptr, nullptr) & 0xff;
  if (code != SQLITE_BUSY && code != SQLITE_IOERR && code != SQLITE_PERM) return false;
  sqlite3_file* file = nullptr;
  int is_reserved = 0;
  return sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK &&
         file != nullptr && file->pMethods != nullptr &&
         file->pMethods->xCheckReservedLock(file, &is_reserved) != SQLITE_OK;
}

// Returns true if another program left a journal: its changes are not in the file yet.
bool has_journal(const std::filesystem::path& path) {
  for (const char* suffix : {"-journal", "-wal"}) {
    struct stat journal = {};
    if (::stat((path.string() + suffix).c_str(), &journal) == 0 && journal.st_size > 0) return true;
  }
  return false;
}

// Returns an SQLite URI that declares the file immutable, so that SQLite ignores locks and
// journals: "file:/a%3Fb?immutable=1". Bytes that are special in a URI are percent-encoded.
std::string immutable_address(const std::filesystem::path& path) {
  std::error_code error;
  std::string address = "file:";
  for (const char c : std::filesystem::absolute(path, error).lexically_normal().string()) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '/' || c == '.' || c == '-' || c == '_';
    if (c == '/' && address == "file:/") continue;  // "file://" would be followed by a host name
    address += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return address + "?immutable=1";
}

void say_without_locks(const std::filesystem::path& path) {
  static std::once_flag said;
  std::call_once(said, [&] {
    log::info(
        "the file system of {} has no locks: stores on it are read without locking (no program may "
        "change them meanwhile)",
        path.string());
  });
}

}  // namespace

// Reads rows without SQLite.
struct Database::Pages {
  Statement lock;  // an open read statement holds a shared lock
  std::unique_ptr<const pages::Reader> file;
  std::map<std::string, std::uint32_t, std::less<>> roots{};  // by table
};

void end_on_interrupt(sqlite3* db) {
  // SQLite runs this many in less than a millisecond.
  constexpr int kInstructionsBetweenLooks = 1000;
  sqlite3_progress_handler(
      db, kInstructionsBetweenLooks, [](void*) { return interrupt::received() != 0 ? 1 : 0; },
      nullptr);
}

// A write error means a full disk or a missing permission; a read error means a damaged file or not
// a store.
void fail_with(sqlite3* db, std::string_view doing) {
  // After a signal every read fails, and SQLite may report that as another error.
  interrupt::check();
  const int code = sqlite3_errcode(db) & 0xff;
  const char* file = sqlite3_db_filename(db, "main");
  std::string message =
      fmt::format("{} {}: {}", doing, file == nullptr ? "the store" : file, sqlite3_errmsg(db));
  const int error_number = sqlite3_system_errno(db);
  if ((code == SQLITE_IOERR || code == SQLITE_CANTOPEN) && error_number != 0)
    message += ", " + errno_text(error_number);
  const int extended_code = sqlite3_extended_errcode(db);
  if (sqlite3_db_readonly(db, "main") == 1 && says_nothing_of_content(extended_code)) {
    if (code == SQLITE_NOMEM) message += "; more memory is needed than allowed";
    const bool is_temporary = code == SQLITE_IOERR && !is_read_error(extended_code);
    throw UnreadableDatabase(is_temporary ? Exit::cannot_write : Exit::partial_data, message);
  }
  if (extended_code == SQLITE_IOERR_SHORT_READ)
    throw Error(Exit::partial_data, message + "; `msprof import` creates a new store");
  switch (code) {
    case SQLITE_FULL:
      if (sqlite3_db_readonly(db, "main") == 1) {
        throw Error(Exit::cannot_write, message +
                                            " (temporary files are limited to 256 MiB plus four "
                                            "times the store; TMPDIR selects their folder)");
      }
      [[fallthrough]];
    case SQLITE_IOERR:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
      throw Error(Exit::cannot_write, message + " (choose another folder with --output)");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw Error(Exit::cannot_write,
                  message + ": another program has it open; close that program");
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      throw Error(Exit::partial_data, message);
    case SQLITE_TOOBIG:
      // Import never writes such a large value.
      throw Error(Exit::partial_data, message + "; `msprof import` creates a new store");
    case SQLITE_NOMEM:
      throw Error(Exit::partial_data, message + "; more memory is needed than allowed");
    case SQLITE_ERROR:
      // In a finished store, SQL fails only if the file's tables are not msprof's.
      if (sqlite3_db_readonly(db, "main") == 1) {
        throw Error(Exit::partial_data, message + "; `msprof import` creates a new store");
      }
      throw Error(Exit::internal_error, message);
    default:
      throw Error(Exit::internal_error, message);
  }
}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}
void Database::Close::operator()(sqlite3* db) const {
  sqlite3_close_v2(db);
}
void Database::Close::operator()(const Pages* pages) const {
  delete pages;
}

Statement::Statement(sqlite3* db, std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v3(db, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                         &statement, nullptr) != SQLITE_OK) {
    fail_with(db, fmt::format("cannot prepare '{}' in", sql));
  }
  statement_.reset(statement);
}

Statement::Statement(sqlite3_stmt* statement, StatementWatch* watch)
    : statement_(statement), watch_(watch) {}

void Statement::fail() const {
  if (watch_ != nullptr) watch_->fail(sqlite3_sql(statement_.get()));
  fail_with(sqlite3_db_handle(statement_.get()), "error in");
}

Statement& Statement::bind(int parameter, std::int64_t value) {
  if (sqlite3_bind_int64(statement_.get(), parameter, value) != SQLITE_OK) fail();
  return *this;
}

Statement& Statement::bind(int parameter, std::string_view text) {
  // A view with a null data pointer would be bound as NULL.
  const char* bytes = text.data() == nullptr ? "" : text.data();
  if (sqlite3_bind_text64(statement_.get(), parameter, bytes, text.size(), SQLITE_TRANSIENT,
                          SQLITE_UTF8) != SQLITE_OK) {
    fail();
  }
  return *this;
}

Statement& Statement::bind(int parameter, double value) {
  if (sqlite3_bind_double(statement_.get(), parameter, value) != SQLITE_OK) fail();
  return *this;
}

Statement& Statement::bind_blob(int parameter, std::string_view bytes) {
  const char* first = bytes.data() == nullptr ? "" : bytes.data();
  if (sqlite3_bind_blob64(statement_.get(), parameter, first, bytes.size(), SQLITE_TRANSIENT) !=
      SQLITE_OK) {
    fail();
  }
  return *this;
}

Statement& Statement::bind_null(int parameter) {
  if (sqlite3_bind_null(statement_.get(), parameter) != SQLITE_OK) fail();
  return *this;
}

bool Statement::step() {
  // SQLite calls the progress handler only in long steps.
  interrupt::check();
  if (watch_ != nullptr) watch_->enter();
  const int code = sqlite3_step(statement_.get());
  if (watch_ != nullptr) watch_->leave();
  switch (code) {
    case SQLITE_ROW:
      return true;
    case SQLITE_DONE:
      return false;
    default:
      fail();
  }
}

void Statement::run() {
  step();
  reset();
}

void Statement::reset() {
  sqlite3_reset(statement_.get());
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::optional<std::int64_t> Statement::maybe_integer(int column) const {
  if (!is_number(column)) return std::nullopt;
  return integer(column);
}

double Statement::real(int column) const {
  return sqlite3_column_double(statement_.get(), column);
}

std::optional<double> Statement::maybe_real(int column) const {
  if (!is_number(column)) return std::nullopt;
  return real(column);
}

std::string_view Statement::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  if (bytes == nullptr) return {};
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

std::string_view Statement::blob(int column) const {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
  if (bytes == nullptr) return {};
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

bool Statement::is_number(int column) const {
  const int type = sqlite3_column_type(statement_.get(), column);
  return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

bool Statement::is_integer(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_INTEGER;
}

bool Statement::is_blob(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_BLOB;
}

int Statement::column_count() const {
  return sqlite3_column_count(statement_.get());
}

std::string Statement::column_name(int column) const {
  const char* name = sqlite3_column_name(statement_.get(), column);
  return name == nullptr ? "" : name;
}

Database Database::create(const std::filesystem::path& path, int page_bytes) {
  Database database;
  sqlite3* db = nullptr;
  // The VFS disables locks: with PRAGMA locking_mode=EXCLUSIVE, SQLite would not check for changes
  // that builders make to the file. auto_vacuum is off because builders do not know its pages.
  const int code = sqlite3_open_v2(
      path.c_str(), &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX,
      "unix-none");
  database.db_.reset(db);
  if (code != SQLITE_OK) fail_with(db, "cannot create");
  end_on_interrupt(db);
  database.execute(fmt::format("PRAGMA page_size={}; PRAGMA auto_vacuum=NONE;", page_bytes));
  database.execute(
      "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
      "PRAGMA secure_delete=OFF; PRAGMA cache_size=-16384;");
  return database;
}

Database Database::open_read_only(const std::filesystem::path& path) {
  Database database = open(path, path.string(), 0, pages::guarded_vfs());
  if (lacks_locks(database.handle())) {
    if (has_journal(path)) {
      throw Error(Exit::partial_data,
                  fmt::format("{} cannot be read: another program left a journal next to it, and "
                              "its file system has no locks",
                              path.string()));
    }
    say_without_locks(path);
    database = open(path, immutable_address(path), SQLITE_OPEN_URI, pages::guarded_vfs());
  }
  database.prepare_to_read();
  return database;
}

Database Database::open_immutable(const std::filesystem::path& path) {
  Database database = open(path, immutable_address(path), SQLITE_OPEN_URI, pages::guarded_vfs());
  database.prepare_to_read();
  return database;
}

Database Database::open_unlocked(const std::filesystem::path& path) {
  Database database = open(path, path.string(), 0, "unix-none");
  database.prepare_to_read();
  return database;
}

Database Database::open(const std::filesystem::path& path, const std::string& address, int flags,
                        const char* system) {
  Database database;
  sqlite3* db = nullptr;
  const int code = sqlite3_open_v2(address.c_str(), &db,
                                   SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | flags, system);
  database.db_.reset(db);
  if (code != SQLITE_OK) {
    interrupt::check();
    const int error_number = db == nullptr ? ENOMEM : sqlite3_system_errno(db);
    throw UnreadableDatabase(
        to_unreadable_exit(error_number),
        fmt::format("cannot open {}: {}", path.string(),
                    error_number == 0 ? sqlite3_errstr(code) : errno_text(error_number)));
  }
  end_on_interrupt(db);
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, kMaxRow);
  sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, kMaxSqlBytes);
  sqlite3_limit(db, SQLITE_LIMIT_COLUMN, kMaxColumns);
  return database;
}

void Database::prepare_to_read() {
  // Beyond this, sorts use a temporary file, so that an export's memory does not grow with the run.
  execute("PRAGMA cache_size=-16384; PRAGMA trusted_schema=OFF;");
}

Error Database::damaged(std::string_view what) const {
  return pages::damaged_file(db_.get(), what);
}

std::filesystem::path Database::path() const {
  return sqlite3_db_filename(db_.get(), "main");
}

Statement& Database::reuse(std::string_view sql) const {
  auto known = reused_.find(sql);
  if (known == reused_.end()) known = reused_.emplace(sql, prepare(sql)).first;
  known->second.reset();
  return known->second;
}

void Database::close() {
  reused_.clear();
  pages_.reset();
  db_.reset();
}

void Database::read_by_pages() {
  pages_.reset();
  Statement lock = prepare("SELECT 1 FROM sqlite_schema");
  if (!lock.step()) return;
  auto file = pages::Reader::open(db_.get());
  if (!file) return;
  auto opened = std::make_unique<Pages>(Pages{std::move(lock), std::move(file)});
  Statement read = prepare("SELECT name, rootpage FROM sqlite_schema WHERE type = 'table'");
  while (read.step()) {
    const std::int64_t root = read.integer(1);
    if (root > 0 && root <= UINT32_MAX)
      opened->roots.emplace(read.text(0), static_cast<std::uint32_t>(root));
  }
  pages_.reset(opened.release());
}

std::unique_ptr<pages::TableReader> Database::read_pages(std::string_view table,
                                                         std::span<const std::size_t> wanted,
                                                         const pages::Filter& filter) const {
  if (!pages_) return nullptr;
  const auto root = pages_->roots.find(table);
  return root == pages_->roots.end() ? nullptr : pages_->file->read(root->second, wanted, filter);
}

void Database::execute(const std::string& sql) {
  if (sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    fail_with(db_.get(), "error in");
  }
}

}  // namespace msprof
