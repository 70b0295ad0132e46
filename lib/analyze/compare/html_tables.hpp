// The tables of a Comparison in HTML: operators, types, ratios, calls. For html_report().
#pragma once

#include <string>

#include "analyze/compare/comparison.hpp"

namespace msprof::html {

// Sections with a heading; empty where there is nothing to show.
std::string ops_section(const Comparison& comparison);
std::string types_section(const Comparison& comparison);
std::string ratios_section(const Comparison& comparison);
std::string calls_section(const Comparison& comparison);

}  // namespace msprof::html
