// compare() and compare_stores(): two runs, or several a side, made into a Comparison. For
// `msprof compare`.
#pragma once

#include <string>
#include <vector>

#include "analyze/compare/comparison.hpp"
#include "analyze/compare/run_profile.hpp"
#include "store/trace_db.hpp"

namespace msprof {

// Both sides have at least one run, and all runs have the same TimeUnit.
Comparison compare(const std::vector<RunProfile>& base, const std::vector<RunProfile>& now);

// A run whose store is still to be read.
struct ComparedRun {
  TraceDb store;
  std::string capture;  // what to call it
  bool is_partial = false;
  std::string run{};  // when, where and with what (run_line); empty: unknown
};

// Chooses what times are of: executions, else iterations where they hold most of the operators'
// time, else whole runs. Both sides have at least one run. Throws Error(nothing_to_do) where a run
// has no operator with a time.
Comparison compare_stores(const std::vector<ComparedRun>& base,
                          const std::vector<ComparedRun>& now);

}  // namespace msprof
