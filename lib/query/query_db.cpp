#include "query/query_db.hpp"

#include <fmt/format.h>

#include "query/views.hpp"

namespace msprof {

namespace {

constexpr double kSeconds = 60;

Database with_views(const TraceDb& store) {
  Database db = Database::open_read_only(store.path());
  // Temporary objects of this connection: the store itself stays as it is.
  for (const View& view : views()) {
    db.execute(fmt::format("CREATE TEMP VIEW {} AS {}", view.name, view.select));
  }
  return db;
}

}  // namespace

QueryDb::QueryDb(const TraceDb& store) : db_(with_views(store)), guard_(db_) {
  guard_.limit_time(kSeconds);
}

}  // namespace msprof
