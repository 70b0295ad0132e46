// What was run: run.json, and what the store says of its capture. For report_page().
#pragma once

#include <string>
#include <vector>

#include "analyze/capture_info.hpp"
#include "analyze/overview.hpp"
#include "analyze/report/report_page.hpp"
#include "analyze/report/report_words.hpp"

namespace msprof::report {

// HTML: a section with a table.
std::string run_section(const TraceDb& store, const ReportHead& head, const CaptureInfo& info,
                        const std::vector<StepInfo>& steps, const Words& words);

}  // namespace msprof::report
