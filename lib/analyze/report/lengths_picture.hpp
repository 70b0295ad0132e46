// Draws the lengths of all executions or iterations as bars, to show drifts and outliers.
#pragma once

#include <string>

#include "analyze/report/report_words.hpp"
#include "analyze/report/window.hpp"

namespace msprof::report {

// Returns an HTML figure; empty for fewer than three lengths. `caption` is one of `words`.
std::string lengths_html(const Lengths& lengths, std::string_view caption,
                         const ReportWords& words);

}  // namespace msprof::report
