// Operators of a capture with their loads, the longest first. For report_page().
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analyze/overview.hpp"
#include "store/database.hpp"

namespace msprof::report {

struct OperatorCell {
  std::string text;  // empty: none
  bool is_number = false;
};

// Rows of op_summary: of a board those of one step, layers as that table has them; of an Atlas
// machine summed by operator, loads as means weighted by time.
struct Operators {
  std::vector<std::string> columns;  // the first is the name
  std::vector<std::vector<OperatorCell>> rows;
  struct Cost {
    double time_us = 0;
    std::optional<double> memory_bound;  // waiting for memory over computing
  };
  std::vector<Cost> costs;  // of the rows
  // Of each column the value that fills its bar: the longest time, a load of all; 0: it has none.
  std::vector<double> full;
  bool are_layers = false;  // of a board
  double total_us = 0;
  bool knows_memory_bound = false;
  std::vector<std::string> modelled_columns;
};

// The number that a cell has; empty where it is none.
std::optional<double> number_of(const std::string& text);

// `step`: of a board; null: of the whole capture.
Operators operators_of(const Database& db, const StepInfo* step);

}  // namespace msprof::report
