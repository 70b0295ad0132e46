// Database and Statement: SQLite as values with one kind of error. For TraceDb, and for exports
// that read; the only headers that know sqlite3 by name stay in this folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/atomic_file.hpp"
#include "base/error.hpp"

struct sqlite3;
struct sqlite3_stmt;
namespace msprof::pages {
class PageFile;
}
namespace msprof {

// Events of statements for a guarded connection (sql_guard.hpp).
class StatementWatch {
 public:
  virtual ~StatementWatch() = default;
  // Around every step.
  virtual void enter() = 0;
  virtual void leave() = 0;
  // Throws the Error of a step that failed.
  [[noreturn]] virtual void fail(std::string_view sql) const = 0;
};

// A prepared statement. Values are bound, never formatted in; parameters count from 1, columns from
// 0.
class Statement {
 public:
  Statement(sqlite3* db, std::string_view sql);
  // Takes `statement`; `watch` outlives this.
  Statement(sqlite3_stmt* statement, StatementWatch* watch);

  Statement& bind(int parameter, std::int64_t value);
  Statement& bind(int parameter, std::string_view text);
  Statement& bind(int parameter, double value);
  Statement& bind_blob(int parameter, std::string_view bytes);
  Statement& bind_null(int parameter);

  // True while there is a row. Checks for Ctrl-C now and then.
  bool step();
  // step() for statements without rows, then ready for the next values.
  void run();
  void reset();

  std::int64_t integer(int column) const;
  // Empty if there is no number: also for a text, which a store from elsewhere may hold.
  std::optional<std::int64_t> maybe_integer(int column) const;
  double real(int column) const;
  std::optional<double> maybe_real(int column) const;
  // Valid until the next step().
  std::string_view text(int column) const;
  std::string_view blob(int column) const;
  bool is_null(int column) const;
  bool is_number(int column) const;
  bool is_integer(int column) const;
  bool is_blob(int column) const;

  int column_count() const;
  std::string column_name(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  [[noreturn]] void fail() const;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  StatementWatch* watch_ = nullptr;
  unsigned steps_ = 0;
};

// Throws the Error of what `db` failed at last, with its file and the way out: "`doing` FILE: …".
[[noreturn]] void fail_with(sqlite3* db, std::string_view doing);

// Error to throw when what a store holds contradicts itself: it can come with a capture from
// elsewhere.
Error damaged_store(sqlite3* db, std::string_view what);

class Database {
 public:
  // A new file for one bulk load: no journal, no syncs, no locks, as nobody else knows its name; it
  // is published by renaming when whole. Any thread may use it, one statement at a time.
  // `page_bytes`: a power of two up to 65536.
  static Database create(const std::filesystem::path& path, int page_bytes);
  // An existing file, read only; throws Error(nothing_to_do) when it is not a database. Where the
  // file system has no locks, the file is taken for one that nobody changes, and a message says so,
  // once.
  static Database open_read_only(const std::filesystem::path& path);
  // Likewise, for a file that create() made and nobody else knows: no locks are taken.
  static Database open_unlocked(const std::filesystem::path& path);

  void execute(const std::string& sql);
  Statement prepare(std::string_view sql) const { return Statement(db_.get(), sql); }
  // As damaged_store().
  Error damaged(std::string_view what) const { return damaged_store(db_.get(), what); }
  // True while a statement has begun and has not come to its end, and after BEGIN.
  bool is_in_transaction() const;
  sqlite3* handle() const { return db_.get(); }
  void close();

  // From now on cursors take rows from the pages of the file, where these are as SQLite's programs
  // leave them. For a file that has our tables and is not written any more: until close() no other
  // program can change it.
  void read_by_pages();
  // Null where rows are read through SQLite.
  const pages::PageFile* pages() const { return pages_.get(); }

 private:
  static Database open(const std::filesystem::path& path, const std::string& address, int flags,
                       const char* system);
  void prepare_to_read();
  struct Close {
    void operator()(sqlite3* db) const;
    void operator()(const pages::PageFile* pages) const;
  };
  std::unique_ptr<sqlite3, Close> db_;
  std::unique_ptr<const pages::PageFile, Close> pages_;
};

// The address of a file, for SQLite, as one that nobody changes: neither locks nor journals of
// other programs are looked at.
std::string immutable_address(const std::filesystem::path& path);

// A new database in the place of an older one. For the store and for databases that are products.
// Files of another program beside the old one (its -wal, -shm or -journal) would be applied to the
// new one at its next opening, and spoil it: they go together with the old one, or, while a
// program holds that open, nothing is touched.

// Throws Error(database_in_use) while another program has `target` open and files of its own beside
// it. Asked before the work, too, which can take minutes.
void check_replaceable(const std::filesystem::path& target);

// The new, empty file of such a database, which takes the place of `target` by its rename(); that
// throws as above, too.
TemporaryFile new_database_file(const std::filesystem::path& target);

}  // namespace msprof
