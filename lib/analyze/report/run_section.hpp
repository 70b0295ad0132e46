// Describes the run: run.json and facts about the capture from the store.
#pragma once

#include <string>
#include <vector>

#include "analyze/capture_info.hpp"
#include "analyze/overview.hpp"
#include "analyze/report/report_page.hpp"
#include "analyze/report/report_words.hpp"

namespace msprof::report {

// Returns an HTML section with a table.
std::string run_section(const TraceDb& store, const ReportHead& head, const CaptureInfo& info,
                        const std::vector<StepInfo>& steps, const ReportWords& words);

}  // namespace msprof::report
