// report_page(): one capture as one HTML file to send: verdict, what was run, a picture of one
// execution, the hottest operators, memory, counters, advice. For `msprof report`.
//
// Like the report of a comparison (analyze/compare/html_report.hpp) it needs nothing beside itself
// and reads without its scripts, which zoom and sort; a Content-Security-Policy forbids everything
// else, and texts of captures are escaped and shortened.
#pragma once

#include <optional>
#include <string>

#include "analyze/advise/rule.hpp"
#include "session/run_record.hpp"
#include "store/trace_db.hpp"

namespace msprof {

struct ReportHead {
  std::string capture;  // the name of its folder
  std::string verdict;  // for people: "complete without HBM bandwidth"
  bool is_partial = false;
  std::string version;           // of msprof
  std::optional<RunRecord> run;  // run.json
};

// UTF-8, with a newline at its end; the same store gives the same bytes.
std::string report_page(const TraceDb& store, const ReportHead& head, Language language);

}  // namespace msprof
