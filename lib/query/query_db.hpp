// QueryDb opens a store or a merged cluster file read-only for SQL, with the views of views.hpp or
// cluster_views.hpp. Used by `msprof query`, rules and comparisons.
#pragma once

#include <string_view>

#include "cluster/part.hpp"
#include "store/sql_guard.hpp"
#include "store/trace_db.hpp"

namespace msprof {

class QueryDb {
 public:
  // Opens a separate connection; `store` need not outlive it. `questions` is text that contains the
  // SQL to run: summary tables named in it are created.
  explicit QueryDb(const TraceDb& store, std::string_view questions = {});
  // The same for a cluster; fills the tables of cluster_views() named in the SQL.
  explicit QueryDb(const cluster::Part& part, std::string_view questions = {});

  // For our own SQL: errors are reported as damage to the store.
  Statement prepare(std::string_view sql) const { return guard_.prepare_ours(sql); }
  // For SQL from users and rule files: a single SELECT, subject to the limits of SqlGuard. Throws
  // Error(usage) with the reason, also while the statement is stepped. Only one statement at a
  // time; it must not outlive this object.
  Statement ask(std::string_view sql) const { return guard_.prepare_theirs(sql); }
  // True if the last ask() read unit loads computed by a model (store/unit_loads.hpp).
  bool reads_modelled() const;
  // Sets the time limit of one ask() in seconds (default 60); 0 means no limit. The time-out
  // message suggests `option` to raise it.
  void limit_time(double seconds, std::string_view option,
                  double grace_seconds = SqlGuard::kGraceSeconds) {
    guard_.limit_time(seconds, option, grace_seconds);
  }

 private:
  bool is_of_cluster_ = false;
  Database db_;
  SqlGuard guard_;
};

}  // namespace msprof
