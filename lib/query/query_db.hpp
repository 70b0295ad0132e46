// QueryDb: a finished store, or the part of a cluster, for queries: read only, with the readable
// views (views.hpp, cluster_views.hpp). For `msprof query`, for rules and comparisons.
#pragma once

#include <string_view>

#include "cluster/part.hpp"
#include "store/sql_guard.hpp"
#include "store/trace_db.hpp"

namespace msprof {

class QueryDb {
 public:
  // With a connection of its own; `store` may go. `questions`: SQL that will be asked, in any form;
  // the summary tables that it names are there as tables.
  explicit QueryDb(const TraceDb& store, std::string_view questions = {});
  // The same for a cluster; of the tables of cluster_views() those are filled that SQL names.
  explicit QueryDb(const cluster::Part& part, std::string_view questions = {});

  // SQL of this program. Errors are those of a damaged store.
  Statement prepare(std::string_view sql) const { return guard_.prepare_ours(sql); }
  // SQL of users, of rule files: one SELECT, within the limits of SqlGuard. Throws Error(usage)
  // with what is wrong with it, also while it is stepped through. One at a time; the statement must
  // not outlive this.
  Statement ask(std::string_view sql) const { return guard_.prepare_theirs(sql); }
  // True if the SQL asked last reads unit loads that a model gave (store/unit_loads.hpp).
  bool reads_modelled() const;
  // Sets the time that one ask() may work, in seconds (from the start: 60); 0: no limit. `option`
  // is named by the sentence about a time-out as the way to more.
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
