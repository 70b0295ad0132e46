// Compares two runs, or several runs per side. Used by `msprof compare`.
#pragma once

#include <string>
#include <vector>

#include "analyze/compare/comparison.hpp"
#include "analyze/compare/run_profile.hpp"
#include "store/trace_db.hpp"

namespace msprof {

// Each side must have at least one run, and all runs the same TimeUnit.
Comparison compare(const std::vector<RunProfile>& base, const std::vector<RunProfile>& now);

// A run to be read from its store.
struct ComparedRun {
  TraceDb store;
  std::string capture;  // name in messages
  bool is_partial = false;
  std::string run{};  // when, where and how it was run (run_line); empty: unknown
};

// Selects the unit of times: executions, else iterations if they contain most of the operators'
// time, else whole runs. Each side must have at least one run. Throws Error(nothing_to_do) if a run
// has no operator with a time.
Comparison compare_stores(const std::vector<ComparedRun>& base,
                          const std::vector<ComparedRun>& now);

}  // namespace msprof
