// Style sheet and zoom script of the page of `msprof report`, in addition to those of comparisons.
#pragma once

#include "analyze/compare/html_parts.hpp"

namespace msprof::report {

extern const html::Asset kPageStyle;
extern const html::Asset kZoomScript;

}  // namespace msprof::report
