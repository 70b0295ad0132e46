#include "store/row_cursor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "store/pages/pages.hpp"

namespace msprof {

static_assert(kNull == pages::kNoValue);

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
  if (std::string_view(declarations[0]).ends_with(" INTEGER PRIMARY KEY")) {
    pages_ = db.read_pages(
        table, wanted_,
        {filter.first_id, filter.last_id, filter.not_null, filter.equal, filter.is_backwards});
  }
  if (pages_) return;
  read_.emplace(db.prepare(select(table, declarations, wanted_, filter)));
  int parameter = 1;
  if (is_limited(filter)) {
    read_->bind(parameter, filter.first_id).bind(parameter + 1, filter.last_id);
    parameter += 2;
  }
  if (filter.equal) read_->bind(parameter, filter.equal->second);
}

CellReader::~CellReader() = default;
CellReader::CellReader(CellReader&& other) noexcept = default;

bool CellReader::next(std::int64_t* cells) {
  if (pages_) return pages_->next(cells);
  if (!read_->step()) return false;
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    const int column = static_cast<int>(i);
    const std::int64_t value = read_->integer(column);
    cells[wanted_[i]] = value == 0 && !read_->is_number(column) ? kNull : value;
  }
  return true;
}

}  // namespace msprof
