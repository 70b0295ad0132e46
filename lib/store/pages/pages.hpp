// Appends rows to the tables of an SQLite file, and reads them, without SQL. README.md describes
// the format, the guarantees and the limits. Only sources of lib/store include this header, and
// the other headers of this folder are private.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"

struct sqlite3;

namespace msprof::pages {

// Marks a cell without a value.
inline constexpr std::int64_t kNoValue = INT64_MIN;

// How the cells of a column are stored. NUMERIC and INTEGER columns store integral doubles as
// integers; REAL columns return them as doubles.
enum class ColumnStorage : std::uint8_t { id, integer, numeric_double, real_double };
inline constexpr std::size_t kMaxColumns = 32;

class TableWriter {
 public:
  virtual ~TableWriter() = default;
  // Appends rows, one cell per column; doubles as their bits. Stops at the first id that is empty
  // or not larger than the one before. Returns the number of rows appended.
  virtual std::size_t add(std::span<const std::int64_t> cells, std::size_t rows) = 0;
  // Appends a row with an id and a text. Returns false if the id is not larger than the last one.
  virtual bool add_text(std::int64_t id, std::string_view text) = 0;
  // Writes everything that a reader needs to find the rows appended so far.
  virtual void finish() = 0;
  // Id of the last row; empty if there is no row.
  virtual std::optional<std::int64_t> last_id() const = 0;
};

// Appends to a new file, which no other program uses. Throws Error(cannot_write) like SQLite's
// statements if the disk is full.
class Writer {
 public:
  virtual ~Writer() = default;
  // `db` must outlive the writer, have a table, and have no transaction while rows are appended.
  static std::unique_ptr<Writer> open(sqlite3* db);
  // `root`: root page of an empty table, which must not get an index. `columns`: at most
  // kMaxColumns, of them at most one id; empty: an id and a text. Rows of a table without an id are
  // numbered from 1. This must outlive the result.
  virtual std::unique_ptr<TableWriter> append(std::uint32_t root,
                                              std::vector<ColumnStorage> columns) = 0;
};

// Conditions on rows; columns are indexes.
struct Filter {
  std::int64_t first_id = INT64_MIN;
  std::int64_t last_id = INT64_MAX;
  std::vector<std::size_t> not_null;
  std::optional<std::pair<std::size_t, std::int64_t>> equal;
  bool is_backwards = false;  // read rows from the largest id to the smallest
};

class TableReader {
 public:
  virtual ~TableReader() = default;
  // Reads the next row; false after the last. Fills the wanted entries of `cells`; kNoValue if a
  // cell is not a number. Throws the Error of damaged_file() if the pages are inconsistent.
  virtual bool next(std::int64_t* cells) = 0;
};

// Reads a finished file. Thread-safe; each TableReader is used by one thread at a time.
class Reader {
 public:
  virtual ~Reader() = default;
  // `db` must outlive the reader and hold a lock, so that the file does not change. Returns null if
  // only SQLite can read the file: it has a write-ahead log, another text encoding, or a size that
  // differs from its header.
  static std::unique_ptr<const Reader> open(sqlite3* db);
  // Reads a table in the order of its ids. `root`: its root page. `wanted`: the columns that next()
  // fills; column 0 is the id. This must outlive the result. Returns null if the file has no page
  // `root`.
  virtual std::unique_ptr<TableReader> read(std::uint32_t root, std::span<const std::size_t> wanted,
                                            const Filter& filter) const = 0;
};

// Returns the Error for a file whose content contradicts itself; stores are untrusted input.
Error damaged_file(sqlite3* db, std::string_view what);

// Returns the name of a VFS for untrusted files, for sqlite3_open_v2(). It bounds the work of a
// statement by the size of the file, whatever the pages hold, and stops statements on an interrupt.
const char* guarded_vfs();

}  // namespace msprof::pages
