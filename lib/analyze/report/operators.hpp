// Reads the operators of a capture with their loads, longest first.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analyze/overview.hpp"
#include "store/database.hpp"

namespace msprof::report {

struct OperatorCell {
  std::string text;  // empty: no value
  bool is_number = false;
};

// Rows of op_summary. For a board: the layers of one step. For an Atlas machine: sums per operator,
// with time-weighted means of the loads.
struct Operators {
  std::vector<std::string> columns;  // the first is the name
  std::vector<std::vector<OperatorCell>> rows;
  struct Cost {
    double time_us = 0;
    std::optional<double> memory_bound;  // waiting for memory relative to computing
  };
  std::vector<Cost> costs;  // one per row
  // Per column, the value of a full bar: the longest time, or a full load; 0: no bars.
  std::vector<double> full;
  bool are_layers = false;  // true for a board
  double total_us = 0;
  bool knows_memory_bound = false;
  std::vector<std::string> modelled_columns;
};

// Parses the number in a cell; empty if it is not a number.
std::optional<double> parse_number(const std::string& text);

// `step` is a step of a board, or null for the whole capture.
Operators read_operators(const Database& db, const StepInfo* step);

}  // namespace msprof::report
