// RowCursor: the rows of one table as the structs of store/rows/, in the order of their ids. Only
// the columns that are asked for are read. For exports and derive passes: what lies behind is
// SQLite today, and no other file depends on that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "store/cells.hpp"
#include "store/database.hpp"

namespace msprof {

// Filter of the rows of a table, columns by their index in it.
struct RowFilter {
  std::int64_t first_id = INT64_MIN;
  std::int64_t last_id = INT64_MAX;
  std::vector<std::size_t> not_null;
  std::optional<std::pair<std::size_t, std::int64_t>> equal;
  bool is_backwards = false;  // from the largest id to the smallest
};

// Reads cells; RowCursor gives them their names.
class CellReader {
 public:
  // `declarations`: the columns of `table` as SQL declares them, the id first; `wanted`: places in
  // it.
  CellReader(const Database& db, const char* table, std::span<const char* const> declarations,
             std::vector<std::size_t> wanted, const RowFilter& filter);

  // False after the last row. Fills the wanted ones of `cells`; kNull is a cell without a number.
  bool next(std::int64_t* cells) {
    if (!read_.step()) return false;
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      const int column = static_cast<int>(i);
      const std::int64_t value = read_.integer(column);
      cells[wanted_[i]] = value == 0 && !read_.is_number(column) ? kNull : value;
    }
    return true;
  }

 private:
  std::vector<std::size_t> wanted_;
  Statement read_;
};

template <typename Row>
class RowCursor {
 public:
  using Column = std::int64_t Row::*;
  using Columns = std::vector<Column>;
  // A RowFilter by names.
  struct Filter {
    std::int64_t first_id = INT64_MIN;
    std::int64_t last_id = INT64_MAX;
    Columns not_null{};
    std::optional<std::pair<Column, std::int64_t>> equal{};
    bool is_backwards = false;
  };

  RowCursor(const Database& db, const Columns& columns, const Filter& filter = {})
      : cells_(db, Row::kTable, Row::kColumns, places_of(columns), filter_of(filter)) {}

  // All columns of all rows.
  explicit RowCursor(const Database& db)
      : cells_(db, Row::kTable, Row::kColumns, all_places(), RowFilter{}) {}

  bool next() { return cells_.next(reinterpret_cast<std::int64_t*>(&row_)); }
  // Columns that were not requested have the value of a new Row.
  const Row& operator*() const { return row_; }
  const Row* operator->() const { return &row_; }

 private:
  static_assert(sizeof(Row) == sizeof(std::int64_t) * Row::kColumns.size());

  static std::size_t place_of(Column column) {
    const Row row;
    return static_cast<std::size_t>(&(row.*column) - reinterpret_cast<const std::int64_t*>(&row));
  }
  static std::vector<std::size_t> places_of(const Columns& columns) {
    std::vector<std::size_t> places;
    for (const Column column : columns) places.push_back(place_of(column));
    return places;
  }
  static std::vector<std::size_t> all_places() {
    std::vector<std::size_t> places(Row::kColumns.size());
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = i;
    return places;
  }
  static RowFilter filter_of(const Filter& filter) {
    RowFilter result{
        filter.first_id, filter.last_id, places_of(filter.not_null), {}, filter.is_backwards};
    if (filter.equal) result.equal.emplace(place_of(filter.equal->first), filter.equal->second);
    return result;
  }

  CellReader cells_;
  Row row_;
};

}  // namespace msprof
