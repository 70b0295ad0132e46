// SqlGuard: a connection that only reads from now on, whatever SQL it is given. For SQL of users,
// of rule files, and for stores from elsewhere.
//
// Refused are writing of any kind (also to temporary tables), transactions, ATTACH, PRAGMA,
// extensions, and functions that reach out of the database. What may take for ever or all memory
// has a limit: a text's length, a value's size, the memory of SQLite, the time.
#pragma once

#include <compare>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "store/database.hpp"

namespace msprof {

// A column that SQL reads.
struct ReadColumn {
  std::string table;   // or view
  std::string column;  // empty: none in particular, as count(*) does
  std::string within;  // the view, subquery or WITH that reads it; empty: the SQL itself
  auto operator<=>(const ReadColumn&) const = default;
};

class SqlGuard {
 public:
  static constexpr double kGraceSeconds = 3;

  // From now on `db`, which outlives this, only reads. Temporary views and tables must be there.
  explicit SqlGuard(const Database& db);
  ~SqlGuard();
  SqlGuard(SqlGuard&&) noexcept;
  SqlGuard& operator=(SqlGuard&&) noexcept;

  // How long SQLite may work on one statement, in seconds; 0: as long as it takes. `option` is
  // named in the sentence about a time-out, "--timeout". Ctrl-C ends a statement in any case.
  // SQL that hangs within one function cannot be ended: so long after the limit the program is, and
  // a second after Ctrl-C.
  void limit_time(double seconds, std::string_view option = {},
                  double grace_seconds = kGraceSeconds);

  // SQL that is not ours: one statement. Errors in it are Error(usage) with SQLite's words and the
  // place; a damaged store is Error(partial_data). Only one of theirs at a time.
  Statement prepare_theirs(std::string_view sql) const;
  // The columns that the last SQL of theirs reads, those that views read for it included.
  const std::set<ReadColumn>& columns_read() const;
  // SQL of this program, under the same rules; what it cannot read is a damaged store.
  Statement prepare_ours(std::string_view sql) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace msprof
