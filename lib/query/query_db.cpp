#include "query/query_db.hpp"

#include <fmt/format.h>

#include "query/views.hpp"

namespace msprof {

QueryDb::QueryDb(const TraceDb& store) : db_(Database::open_read_only(store.path())) {
  // Temporary objects of this connection: the store itself stays as it is.
  for (const View& view : views()) {
    db_.execute(fmt::format("CREATE TEMP VIEW {} AS {}", view.name, view.select));
  }
}

}  // namespace msprof
