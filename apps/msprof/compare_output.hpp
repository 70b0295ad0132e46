// A Comparison for people and for programs. For `msprof compare`.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "analyze/compare/comparison.hpp"

namespace msprof {

struct TextStyle {
  std::size_t top = 15;  // rows of a table
  int width = 0;         // columns of the terminal; 0: no limit
  bool bold = false;
};
std::string comparison_text(const Comparison& comparison, const TextStyle& style);

// The fields of the document of --json, without schema and exit code.
void add_comparison(const Comparison& comparison, nlohmann::ordered_json& document);

// Returns a row an operator, with a header; behind an empty line counters, where there are any.
// `excel`: as CsvWriter::write_for_excel().
std::string comparison_csv(const Comparison& comparison, bool excel);

}  // namespace msprof
