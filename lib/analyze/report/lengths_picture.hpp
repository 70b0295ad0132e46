// The lengths of all executions or iterations as bars, so that drifts and outliers are seen. For
// report_page().
#pragma once

#include <string>

#include "analyze/report/report_words.hpp"
#include "analyze/report/window.hpp"

namespace msprof::report {

// HTML: a figure; empty of fewer than three. `caption` is of `words`.
std::string lengths_html(const Lengths& lengths, std::string_view caption, const Words& words);

}  // namespace msprof::report
