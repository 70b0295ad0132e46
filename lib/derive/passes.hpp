// Derive passes: rows made from rows, after every raw file is in and before the store is published.
// For the importer. A new pass is one file and one line in passes.cpp.
#pragma once

#include "store/trace_db.hpp"

namespace msprof {

// Runs all passes in their order.
void run_derive_passes(TraceDbWriter& store);

// Indexes, which cost less after load than during it.
void create_indexes(TraceDbWriter& store);

// step_time: when each step began and ended, and how many tasks it has.
void derive_step_time(TraceDbWriter& store);

}  // namespace msprof
