// Ratios and loads of op_summary for the operators of a run. For read_run().
#pragma once

#include "analyze/compare/run_profile.hpp"
#include "store/database.hpp"

namespace msprof {

// Fills OpProfile::ratios, means weighted by time, and RunProfile::largest_ratio.
void read_ratios(const Database& db, RunProfile& run);

}  // namespace msprof
