#include "query/query_db.hpp"

#include <fmt/format.h>

#include "query/product_tables.hpp"
#include "query/views.hpp"

namespace msprof {

namespace {

constexpr double kSeconds = 60;

Database open_for(const TraceDb& store, std::string_view questions) {
  Database db = Database::open_read_only(store.path());
  // Temporary objects of this connection: the store itself stays as it is.
  for (const View& view : views()) {
    db.execute(fmt::format("CREATE TEMP VIEW {} AS {}", view.name, view.select));
  }
  fill_product_tables(store.database(), db, words_of(questions));
  return db;
}

}  // namespace

QueryDb::QueryDb(const TraceDb& store, std::string_view questions)
    : db_(open_for(store, questions)), guard_(db_) {
  guard_.limit_time(kSeconds);
}

}  // namespace msprof
