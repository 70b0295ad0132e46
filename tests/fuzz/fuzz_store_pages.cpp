// Fuzz target: the pages of a store. They must be read or rejected as damaged; if SQLite finds no
// error, the rows must equal those that it reads. A scan must not return more than the file can
// hold.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/log.hpp"
#include "page_graph.hpp"
#include "store/row_cursor.hpp"
#include "store/schema.hpp"
#include "support/files.hpp"
#include "support/temp_folder.hpp"

namespace {

using namespace msprof;
namespace fs = std::filesystem;
using Cells = std::vector<std::int64_t>;

// Rows that were read; empty if they are rejected.
template <typename Row>
std::optional<Cells> read_cells(const Database& db, const typename RowCursor<Row>::Columns& columns,
                                const typename RowCursor<Row>::Filter& filter) {
  Cells cells;
  try {
    for (RowCursor<Row> rows(db, columns, filter); rows.next();) {
      for (const auto column : columns) cells.push_back((*rows).*column);
    }
  } catch (const Error& error) {
    if (error.code() != Exit::partial_data) std::abort();
    return std::nullopt;
  }
  return cells;
}

template <typename Row>
void compare(const Database& by_pages, const Database& sqlite, bool is_sound,
             const typename RowCursor<Row>::Columns& columns) {
  using Filter = typename RowCursor<Row>::Filter;
  if (!RowCursor<Row>(by_pages, columns).reads_pages()) return;
  for (const Filter& filter :
       {Filter{}, Filter{.is_backwards = true}, Filter{.first_id = 5, .last_id = 90},
        Filter{.not_null = {columns[1]}, .equal = {{columns[2], 1}}, .is_backwards = true}}) {
    const auto cells = read_cells<Row>(by_pages, columns, filter);
    if (is_sound && cells != read_cells<Row>(sqlite, columns, filter)) std::abort();
  }
}

bool is_ours(const Database& db) {
  return has_tables(db, {make_table<DeviceRow>(), make_table<MemcpyTaskRow>()});
}

// Reads a table through SQLite, as queries without page access do.
void scan_by_sqlite(const Database& db, std::string_view sql, std::size_t file_bytes) {
  std::size_t rows = 0;
  std::size_t bytes = 0;
  try {
    for (Statement read = db.prepare(sql); read.step(); ++rows) {
      for (int column = 0; column < read.column_count(); ++column)
        bytes += read.is_number(column) ? 0 : read.blob(column).size();
      if (rows > file_bytes || bytes > 2 * file_bytes) std::abort();
    }
  } catch (const Error& error) {
    if (error.code() != Exit::partial_data) std::abort();
  }
}

bool is_sound(const Database& db) {
  Statement check = db.prepare("PRAGMA integrity_check(1)");
  return check.step() && check.text(0) == "ok";
}

}  // namespace

MSPROF_MUTATE_PAGES

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  log::set_level(log::Level::silent);
  static const test::TempFolder scratch;
  const fs::path path = scratch / "msprof.db";
  test::write_file(path, std::string_view(reinterpret_cast<const char*>(data), size));
  try {
    const Database sqlite = Database::open_read_only(path);
    Database by_pages = Database::open_read_only(path);
    if (!is_ours(by_pages)) return 0;
    for (const char* sql :
         {"SELECT * FROM memcpy_task", "SELECT task_id FROM memcpy_task ORDER BY 1",
          "SELECT * FROM device ORDER BY id DESC", "SELECT size_bytes FROM memcpy_task"})
      scan_by_sqlite(sqlite, sql, size);
    by_pages.read_by_pages();
    const bool sound = is_sound(sqlite);
    compare<DeviceRow>(by_pages, sqlite, sound,
                       {&DeviceRow::id, &DeviceRow::chip_name_id, &DeviceRow::frequency_hz});
    compare<MemcpyTaskRow>(
        by_pages, sqlite, sound,
        {&MemcpyTaskRow::task_id, &MemcpyTaskRow::size_bytes, &MemcpyTaskRow::direction});
  } catch (const Error&) {
    // SQLite rejects the file.
  }
  return 0;
}
