// Arrows from the calls that ran a model to the executions they started, for a board's merged
// timeline. The records share no ids, so times decide: an execution belongs to the synchronous call
// that contains it. The other executions belong to the asynchronous calls in order, if there are
// equally many and no call starts after its execution.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "export/scope/export_scope.hpp"
#include "export/trace/trace_writer.hpp"
#include "store/database.hpp"

namespace msprof::svp {

class ExecutionArrows {
 public:
  // For one model; only arrows whose calls are in `scope`.
  ExecutionArrows(const Database& db, std::int64_t model_row, const ExportScope& scope);

  // Writes the start of an arrow after the slice of a call that has one.
  void write_start(TraceWriter& out, std::int64_t call_id, TraceLane lane,
                   std::int64_t time_ns) const;
  // Returns the call whose arrow ends at this slice: the first drawn slice of an execution that has
  // an arrow.
  std::optional<std::int64_t> take_end(std::int64_t step_id, std::int64_t execution);
  static void write_end(TraceWriter& out, std::int64_t call_id, TraceLane lane,
                        std::int64_t time_ns);

 private:
  using Execution = std::pair<std::int64_t, std::int64_t>;  // step, number
  std::map<Execution, std::int64_t> calls_;                 // calls whose arrow has no end yet
  std::set<std::int64_t> started_;                          // calls that have an arrow
  Execution asked_{-1, -1};  // last execution queried, known to have no arrow left
};

}  // namespace msprof::svp
