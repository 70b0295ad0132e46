// Arrows from the calls that ran a model to the executions they started, for the layers of a merged
// timeline of a board. The records do not name each other, so that times decide: an execution is
// of the synchronous call that it lies within. Executions that lie in none are of the asynchronous
// calls, in their order, where there are as many of these and none begins later than its execution.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "export/export_scope.hpp"
#include "export/trace_json_writer.hpp"
#include "store/database.hpp"

namespace msprof::svp {

class ExecutionArrows {
 public:
  // Of one model; only arrows whose calls `scope` takes.
  ExecutionArrows(const Database& db, std::int64_t model_row, const ExportScope& scope);

  // Writes the begin of an arrow behind the slice of a call that has one.
  void write_start(TraceJsonWriter& out, std::int64_t call_id, TraceLane lane,
                   std::int64_t time_ns) const;
  // The call whose arrow ends at this slice: the first one that is drawn of an execution that has
  // one.
  std::optional<std::int64_t> take_end(std::int64_t step_id, std::int64_t execution);
  static void write_end(TraceJsonWriter& out, std::int64_t call_id, TraceLane lane,
                        std::int64_t time_ns);

 private:
  using Execution = std::pair<std::int64_t, std::int64_t>;  // step, number
  std::map<Execution, std::int64_t> calls_;                 // those that have no end yet
  std::set<std::int64_t> started_;                          // calls that have one
  Execution asked_{-1, -1};                                 // last, and has none any more
};

}  // namespace msprof::svp
