// QueryDb: a finished store as questions see it: read only, with the readable views (views.hpp).
// For `msprof query`, for rules and comparisons.
#pragma once

#include <string_view>

#include "store/trace_db.hpp"

namespace msprof {

class QueryDb {
 public:
  // With a connection of its own; `store` may go.
  explicit QueryDb(const TraceDb& store);

  const Database& database() const { return db_; }
  Statement prepare(std::string_view sql) const { return db_.prepare(sql); }

 private:
  Database db_;
};

}  // namespace msprof
