#include "store/row_ids.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace msprof {

std::int64_t last_id(const Database& db, std::string_view table) {
  Statement read =
      db.prepare(fmt::format("SELECT ifnull((SELECT max(rowid) FROM {}), 0), page_count * page_size"
                             " FROM pragma_page_count, pragma_page_size",
                             table));
  if (!read.step()) return 0;
  const std::int64_t id = read.integer(0);
  // Minimum size of a row in a page: pointer (two bytes), length, id (three bytes from 2^14 on) and
  // header.
  constexpr std::int64_t kRowBytes = 7;
  constexpr std::int64_t kShortIds = 1 << 14;
  if (id > read.integer(1) / kRowBytes + kShortIds)
    throw db.damaged(fmt::format("the id {} in {} is too large", id, table));
  return std::max<std::int64_t>(id, 0);
}

void fail_without_row(const Database& db, std::string_view table, std::int64_t id) {
  throw db.damaged(fmt::format("a row refers to row {} of {}, which does not exist", id, table));
}

}  // namespace msprof
