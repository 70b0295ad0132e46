#include "store/row_cursor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

namespace msprof {

namespace {

std::string_view column_name(std::string_view declaration) {
  return declaration.substr(0, declaration.find(' '));
}

bool is_limited(const RowFilter& filter) {
  return filter.first_id != INT64_MIN || filter.last_id != INT64_MAX;
}

std::string select(const char* table, std::span<const char* const> declarations,
                   const std::vector<std::size_t>& wanted, const RowFilter& filter) {
  std::vector<std::string_view> names;
  names.reserve(wanted.size());
  for (const std::size_t column : wanted) names.push_back(column_name(declarations[column]));
  const std::string_view id = column_name(declarations[0]);
  std::vector<std::string> conditions;
  if (is_limited(filter)) conditions.push_back(fmt::format("{} BETWEEN ? AND ?", id));
  if (filter.equal) {
    conditions.push_back(fmt::format("{} = ?", column_name(declarations[filter.equal->first])));
  }
  for (const std::size_t column : filter.not_null) {
    conditions.push_back(fmt::format("{} IS NOT NULL", column_name(declarations[column])));
  }
  return fmt::format("SELECT {} FROM {}{}{} ORDER BY {}{}", fmt::join(names, ", "), table,
                     conditions.empty() ? "" : " WHERE ", fmt::join(conditions, " AND "), id,
                     filter.is_backwards ? " DESC" : "");
}

// Returns the root page for a scan of `table`; nullopt if SQLite must read it.
std::optional<std::uint32_t> find_root(const Database& db, const char* table, std::string_view id) {
  if (db.pages() == nullptr || !id.ends_with(" INTEGER PRIMARY KEY")) return std::nullopt;
  return db.pages()->find_root(table);
}

std::vector<std::size_t> each_once(std::vector<std::size_t> places) {
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}

}  // namespace

CellReader::CellReader(const Database& db, const char* table,
                       std::span<const char* const> declarations, std::vector<std::size_t> wanted,
                       const RowFilter& filter)
    : wanted_(each_once(std::move(wanted))) {
  if (const auto root = find_root(db, table, declarations[0])) {
    scan_.emplace(*db.pages(), *root, wanted_, filter);
    return;
  }
  read_.emplace(db.prepare(select(table, declarations, wanted_, filter)));
  int parameter = 1;
  if (is_limited(filter)) {
    read_->bind(parameter, filter.first_id).bind(parameter + 1, filter.last_id);
    parameter += 2;
  }
  if (filter.equal) read_->bind(parameter, filter.equal->second);
}

bool CellReader::next_of_statement(std::int64_t* cells) {
  if (!read_->step()) return false;
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    const int column = static_cast<int>(i);
    const std::int64_t value = read_->integer(column);
    cells[wanted_[i]] = value == 0 && !read_->is_number(column) ? kNull : value;
  }
  return true;
}

}  // namespace msprof
