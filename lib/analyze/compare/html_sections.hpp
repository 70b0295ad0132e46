// The tables of a Comparison, each as a section with a heading. Omits empty tables, except
// operators.
#pragma once

#include <string>

#include "analyze/compare/comparison.hpp"

namespace msprof::html {

std::string ops_section(const Comparison& comparison);
std::string types_section(const Comparison& comparison);
std::string ratios_section(const Comparison& comparison);
std::string calls_section(const Comparison& comparison);
std::string ranges_section(const Comparison& comparison);
std::string counters_section(const Comparison& comparison);

}  // namespace msprof::html
