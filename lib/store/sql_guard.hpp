// SqlGuard: makes a connection read-only for untrusted SQL. For SQL of users and rule files, and
// for untrusted stores.
//
// Refuses writes (also to temporary tables), transactions, ATTACH, PRAGMA, extensions, and
// functions that reach outside the database. Limits text length, value size, SQLite's memory and
// run time.
#pragma once

#include <compare>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "store/database.hpp"

namespace msprof {

struct ReadColumn {
  std::string table;   // table or view
  std::string column;  // empty: no particular column, as in count(*)
  std::string within;  // the view, subquery or WITH that reads it; empty: the statement itself
  auto operator<=>(const ReadColumn&) const = default;
};

class SqlGuard {
 public:
  static constexpr double kGraceSeconds = 3;

  // Makes `db` read-only; `db` must outlive this. Temporary views and tables must already exist.
  explicit SqlGuard(const Database& db);
  ~SqlGuard();
  SqlGuard(SqlGuard&&) noexcept;
  SqlGuard& operator=(SqlGuard&&) noexcept;

  // Limits the time per statement in seconds; 0: no limit. The time-out error suggests `option`,
  // e.g. "--timeout". Ctrl-C always stops a statement. SQL that hangs within one function cannot be
  // stopped: the program exits `grace_seconds` after the limit, or a second after Ctrl-C.
  void limit_time(double seconds, std::string_view option = {},
                  double grace_seconds = kGraceSeconds);

  // Prepares one statement of untrusted SQL. Throws Error(usage) with SQLite's message and the
  // position for invalid SQL, Error(partial_data) for a damaged store. Only one such statement at a
  // time.
  Statement prepare_theirs(std::string_view sql) const;
  // Returns the columns read by the last untrusted statement, including through views.
  const std::set<ReadColumn>& columns_read() const;
  // Prepares SQL of this program under the same rules; a failure means a damaged store.
  Statement prepare_ours(std::string_view sql) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace msprof
