// Tasks that are not in a device's log: AI CPU nodes, copies, and tasks of collectives. Used by the
// joins of CANN 5 and of classic captures. Source: cann5_classic.md 5.3, 7.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "derive/passes.hpp"
#include "import/old/old_import.hpp"
#include "import/old/old_tasks.hpp"

namespace msprof::cann5 {

// Finds the task of each node: the task that the scheduler saw at that time and that `may_be`
// accepts; its kind becomes AI CPU. If there is none, appends a task. Returns indexes into `tasks`.
std::vector<std::size_t> place_nodes(const std::vector<AicpuNodeRow>& nodes,
                                     const std::function<bool(const OldTask&)>& may_be,
                                     TraceDbWriter& store, std::vector<OldTask>& tasks);

// Writes the nodes in order of start, with ids from `next_id`.
void write_nodes(std::vector<AicpuNodeRow>& nodes, TraceDbWriter& store, std::int64_t& next_id);

// Adds the copies seen by the scheduler of a 910, with a name.
void add_copies(const std::vector<cann::CopyState>& copies, const CannPart& part,
                TraceDbWriter& store, std::vector<OldTask>& tasks);

// Returns the iteration in which a task ends; null after the last. `windows` is sorted by end.
const IterationEnd* find_window(const std::vector<IterationEnd>& windows, std::int64_t end_ns);

// Adds the tasks of collectives and empties `records`. The records do not contain the start of the
// collective, so those of one collective and iteration count as one call.
void add_comm_tasks(std::vector<OldCommTask>& records, const std::vector<IterationEnd>& windows,
                    TraceDbWriter& store, std::int64_t& next_call, std::vector<OldTask>& tasks);

}  // namespace msprof::cann5
