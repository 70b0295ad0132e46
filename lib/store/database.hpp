// Database and Statement: SQLite wrappers that throw Error. For TraceDb and exports; sqlite3 is
// used only in this folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.hpp"

struct sqlite3;
struct sqlite3_stmt;
namespace msprof::pages {
struct Filter;
class TableReader;
}  // namespace msprof::pages
namespace msprof {

// Callbacks around the statements of a guarded connection (sql_guard.hpp).
class StatementWatch {
 public:
  virtual ~StatementWatch() = default;
  // Called around every step.
  virtual void enter() = 0;
  virtual void leave() = 0;
  // Throws the Error for a failed step.
  [[noreturn]] virtual void fail(std::string_view sql) const = 0;
};

// A prepared statement. Values are always bound, never formatted into SQL. Parameters count from 1,
// columns from 0.
class Statement {
 public:
  Statement(sqlite3* db, std::string_view sql);
  // Owns `statement`; `watch` must outlive it.
  Statement(sqlite3_stmt* statement, StatementWatch* watch);

  Statement& bind(int parameter, std::int64_t value);
  Statement& bind(int parameter, std::string_view text);
  Statement& bind(int parameter, double value);
  Statement& bind_blob(int parameter, std::string_view bytes);
  Statement& bind_null(int parameter);

  // Advances to the next row; false at the end. Throws Error(interrupted) after a signal.
  bool step();
  // Runs a statement that returns no rows and resets it for the next values.
  void run();
  void reset();

  std::int64_t integer(int column) const;
  // Returns nullopt if the value is not a number; an untrusted store may hold text.
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
};

// Throws the Error for the last failure of `db`, with file and remedy: "`doing` FILE: …".
[[noreturn]] void fail_with(sqlite3* db, std::string_view doing);

// Stops statements of `db` with SQLITE_INTERRUPT once an interrupt has been received.
void end_on_interrupt(sqlite3* db);

class Database {
 public:
  // Creates a file for one bulk load, without journal, syncs or locks: no other program knows its
  // name until it is complete and renamed. Any thread may use it, one statement at a time.
  // `page_bytes`: a power of two up to 65536.
  static Database create(const std::filesystem::path& path, int page_bytes);
  // Opens an existing file read-only; throws Error(nothing_to_do) if it does not exist and
  // Error(partial_data) if it cannot be opened. On a file system without locks, the file is assumed
  // not to change, and a message says so once per process; throws Error(partial_data) if a journal
  // exists there.
  static Database open_read_only(const std::filesystem::path& path);
  // Same, without locks, for a file made by create() that no other program knows.
  static Database open_unlocked(const std::filesystem::path& path);
  // Same, without locks and journals, for a published file: it is never written again.
  static Database open_immutable(const std::filesystem::path& path);

  void execute(const std::string& sql);
  Statement prepare(std::string_view sql) const { return Statement(db_.get(), sql); }
  // Same, but prepares each text once and returns the same statement again, reset. For queries that
  // run once per step: preparing them takes longer than running them. Do not use a text again while
  // its rows are being read.
  Statement& reuse(std::string_view sql) const;
  // Returns the Error for a store whose content contradicts itself; stores are untrusted input.
  Error damaged(std::string_view what) const;
  sqlite3* handle() const { return db_.get(); }
  std::filesystem::path path() const;
  void close();

  // From now on cursors read rows directly from the file's pages, unless only SQLite can read their
  // format. Requires a complete file with our tables. Until close() no other program can change it.
  void read_by_pages();
  bool reads_pages() const { return pages_ != nullptr; }
  // For RowCursor. Null if the rows of `table` must be read through SQLite.
  std::unique_ptr<pages::TableReader> read_pages(std::string_view table,
                                                 std::span<const std::size_t> wanted,
                                                 const pages::Filter& filter) const;

 private:
  static Database open(const std::filesystem::path& path, const std::string& address, int flags,
                       const char* system);
  void prepare_to_read();
  struct Pages;
  struct Close {
    void operator()(sqlite3* db) const;
    void operator()(const Pages* pages) const;
  };
  std::unique_ptr<sqlite3, Close> db_;
  std::unique_ptr<const Pages, Close> pages_;
  mutable std::map<std::string, Statement, std::less<>> reused_;
};

}  // namespace msprof
