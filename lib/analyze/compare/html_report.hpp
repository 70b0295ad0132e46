// html_report(): a Comparison as one HTML file: a picture of what changed, and the tables.
// For `msprof compare --html`.
//
// The file needs nothing beside itself: no network, no other file. It reads well without its
// script, which only sorts, filters and changes the colours. A Content-Security-Policy forbids
// everything else, and all text of captures is escaped and shortened.
#pragma once

#include <string>

#include "analyze/compare/comparison.hpp"

namespace msprof {

// UTF-8, with a newline at its end; the same comparison gives the same bytes.
std::string html_report(const Comparison& comparison);

}  // namespace msprof
