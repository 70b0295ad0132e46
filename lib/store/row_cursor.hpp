// RowCursor: reads the rows of one table as structs of store/rows/, in the order of their ids. Only
// requested columns are read. For exports and derive passes. Reads the pages of a finished store
// (pages/) if possible, else through SQLite; callers need not know which.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "store/cells.hpp"
#include "store/database.hpp"

namespace msprof {

// Conditions on rows; columns are indexes.
struct RowFilter {
  std::int64_t first_id = INT64_MIN;
  std::int64_t last_id = INT64_MAX;
  std::vector<std::size_t> not_null;
  std::optional<std::pair<std::size_t, std::int64_t>> equal;
  bool is_backwards = false;  // read rows from the largest id to the smallest
};

// Reads cells by index; RowCursor adds the names.
class CellReader {
 public:
  // `declarations`: SQL declarations of the columns of `table`, the id first. `wanted`: indexes
  // into them.
  CellReader(const Database& db, const char* table, std::span<const char* const> declarations,
             std::vector<std::size_t> wanted, const RowFilter& filter);
  ~CellReader();
  CellReader(CellReader&& other) noexcept;

  // Reads the next row; false after the last. Fills the wanted entries of `cells`; kNull if a cell
  // is not a number.
  bool next(std::int64_t* cells);
  bool reads_pages() const { return pages_ != nullptr; }

 private:
  std::vector<std::size_t> wanted_;
  std::unique_ptr<pages::TableReader> pages_;
  std::optional<Statement> read_;  // set if pages_ is null
};

template <typename Row>
class RowCursor {
 public:
  using Column = std::int64_t Row::*;
  using Columns = std::vector<Column>;
  // A RowFilter whose columns are names.
  struct Filter {
    std::int64_t first_id = INT64_MIN;
    std::int64_t last_id = INT64_MAX;
    Columns not_null{};
    std::optional<std::pair<Column, std::int64_t>> equal{};
    bool is_backwards = false;
  };

  RowCursor(const Database& db, const Columns& columns, const Filter& filter = {})
      : cells_(db, Row::kTable, Row::kColumns, column_places(columns), make_filter(filter)) {}

  explicit RowCursor(const Database& db)
      : cells_(db, Row::kTable, Row::kColumns, all_places(), RowFilter{}) {}

  bool next() { return cells_.next(reinterpret_cast<std::int64_t*>(&row_)); }
  // True if the next row may be read on another thread, one at a time; SQLite statements are tied
  // to their connection.
  bool reads_pages() const { return cells_.reads_pages(); }
  // Columns that were not requested keep the defaults of Row.
  const Row& operator*() const { return row_; }
  const Row* operator->() const { return &row_; }

 private:
  static_assert(sizeof(Row) == sizeof(std::int64_t) * Row::kColumns.size());

  static std::size_t column_place(Column column) {
    const Row row;
    return static_cast<std::size_t>(&(row.*column) - reinterpret_cast<const std::int64_t*>(&row));
  }
  static std::vector<std::size_t> column_places(const Columns& columns) {
    std::vector<std::size_t> places;
    for (const Column column : columns) places.push_back(column_place(column));
    return places;
  }
  static std::vector<std::size_t> all_places() {
    std::vector<std::size_t> places(Row::kColumns.size());
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = i;
    return places;
  }
  static RowFilter make_filter(const Filter& filter) {
    RowFilter result{
        filter.first_id, filter.last_id, column_places(filter.not_null), {}, filter.is_backwards};
    if (filter.equal) result.equal.emplace(column_place(filter.equal->first), filter.equal->second);
    return result;
  }

  CellReader cells_;
  Row row_;
};

}  // namespace msprof
