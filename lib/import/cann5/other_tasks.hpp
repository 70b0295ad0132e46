// Tasks that the log of a device does not have: nodes of the AI CPUs, copies, and what collectives
// are made of. For the associations of CANN 5 and of classic captures. Source:
// cann5_classic.md 5.3, 7.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "derive/passes.hpp"
#include "import/cann5/cann5_import.hpp"
#include "import/cann5/old_tasks.hpp"

namespace msprof::cann5 {

// The task of each node: the one that the scheduler saw at that time and `may_be` allows, whose
// kind is AI CPU from then on; else one of its own behind the others.
std::vector<std::size_t> place_nodes(const std::vector<AicpuNodeRow>& nodes,
                                     const std::function<bool(const OldTask&)>& may_be,
                                     TraceDbWriter& store, std::vector<OldTask>& tasks);

// By their starts, with ids from `next_id`.
void write_nodes(std::vector<AicpuNodeRow>& nodes, TraceDbWriter& store, std::int64_t& next_id);

// Adds the copies that the scheduler of a 910 saw. They are named.
void add_copies(const std::vector<cann::CopyState>& copies, const CannPart& part,
                TraceDbWriter& store, std::vector<OldTask>& tasks);

// The iteration in which a task ends, of those in the order of their ends; null behind the last.
const IterationEnd* window_of(const std::vector<IterationEnd>& windows, std::int64_t end_ns);

// Adds the tasks of collectives and uses `records` up: the records of a collective have no begin,
// those of one iteration are one.
void add_comm_tasks(std::vector<OldCommTask>& records, const std::vector<IterationEnd>& windows,
                    TraceDbWriter& store, std::int64_t& next_call, std::vector<OldTask>& tasks);

}  // namespace msprof::cann5
