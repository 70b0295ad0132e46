// Describes one capture in a single HTML file: verdict, run, timeline of one execution, hottest
// operators, memory, counters, advice. Used by `msprof report`.
//
// Like the report of a comparison (analyze/compare/html_report.hpp), the file is self-contained and
// readable without its scripts, which zoom and sort; a Content-Security-Policy forbids everything
// else, and texts from captures are escaped and shortened.
#pragma once

#include <optional>
#include <string>

#include "analyze/advise/rule.hpp"
#include "session/run_record.hpp"
#include "store/trace_db.hpp"

namespace msprof {

struct ReportHead {
  std::string capture;  // folder name
  std::string verdict;  // for people: "complete without HBM bandwidth"
  bool is_partial = false;
  std::string version;           // of msprof
  std::optional<RunRecord> run;  // contents of run.json
};

// Returns UTF-8 text with a final newline. The same store gives the same bytes.
std::string report_page(const TraceDb& store, const ReportHead& head, Language language);

}  // namespace msprof
