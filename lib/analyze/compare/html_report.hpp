// Formats a Comparison as a single HTML file with charts and tables. Used by `msprof compare
// --html`.
//
// The file is self-contained and readable without its script, which only sorts, filters and changes
// colours. A Content-Security-Policy forbids everything else, and all texts from captures are
// escaped and shortened.
#pragma once

#include <string>

#include "analyze/compare/comparison.hpp"

namespace msprof {

// Returns UTF-8 text with a final newline. The same comparison gives the same bytes.
std::string html_report(const Comparison& comparison);

}  // namespace msprof
