// What the page of `msprof report` has beside the style sheet and script of comparisons, held as
// text: its own style sheet, and the script that zooms. For report_page().
#pragma once

#include "analyze/compare/html_parts.hpp"

namespace msprof::report {

extern const html::Asset kPageStyle;
extern const html::Asset kZoomScript;

}  // namespace msprof::report
