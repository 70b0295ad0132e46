// Formats a Comparison for people and for programs. For `msprof compare`.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "analyze/compare/comparison.hpp"

namespace msprof {

struct TextStyle {
  std::size_t top = 15;  // maximum rows per table
  int width = 0;         // of the terminal, in columns; 0: unlimited
  bool bold = false;
};
std::string comparison_text(const Comparison& comparison, const TextStyle& style);

// Adds the fields of the --json document, except schema and exit code.
void add_comparison(const Comparison& comparison, nlohmann::ordered_json& document);

// Returns a header and one row per operator; counters, if any, follow after an empty line. `excel`:
// as CsvWriter::write_for_excel().
std::string comparison_csv(const Comparison& comparison, bool excel);

}  // namespace msprof
