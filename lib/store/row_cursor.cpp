#include "store/row_cursor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

namespace msprof {

namespace {

std::string_view name_of(std::string_view declaration) {
  return declaration.substr(0, declaration.find(' '));
}

bool is_limited(const RowFilter& filter) {
  return filter.first_id != INT64_MIN || filter.last_id != INT64_MAX;
}

std::string select(const char* table, std::span<const char* const> declarations,
                   const std::vector<std::size_t>& wanted, const RowFilter& filter) {
  std::vector<std::string_view> names;
  names.reserve(wanted.size());
  for (const std::size_t column : wanted) names.push_back(name_of(declarations[column]));
  const std::string_view id = name_of(declarations[0]);
  std::vector<std::string> conditions;
  if (is_limited(filter)) conditions.push_back(fmt::format("{} BETWEEN ? AND ?", id));
  if (filter.equal) {
    conditions.push_back(fmt::format("{} = ?", name_of(declarations[filter.equal->first])));
  }
  for (const std::size_t column : filter.not_null) {
    conditions.push_back(fmt::format("{} IS NOT NULL", name_of(declarations[column])));
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
    : wanted_(each_once(std::move(wanted))),
      read_(db.prepare(select(table, declarations, wanted_, filter))) {
  int parameter = 1;
  if (is_limited(filter)) {
    read_.bind(parameter, filter.first_id).bind(parameter + 1, filter.last_id);
    parameter += 2;
  }
  if (filter.equal) read_.bind(parameter, filter.equal->second);
}

}  // namespace msprof
