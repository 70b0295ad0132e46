// Facts are numbers computed over all operators of one device, for rules that cannot be expressed
// as conditions on rows.
// Source: cann_device.md 22, rule_ai_core_and_ai_cpu_parallelism_1 and rule_model_bottleneck_1.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "export/table/table_reader.hpp"

namespace msprof {

bool is_fact(std::string_view name);
std::vector<std::string> fact_names();

// Converts a number in us to ns, without the precision loss of a double. Returns empty for other
// cells and for negative numbers.
std::optional<std::int64_t> us_as_ns(const Cell& cell);

// The values that a fact was computed from, in display order, such as "AI CPU only (us)", 12.5.
using FactNumbers = std::vector<std::pair<std::string, double>>;

struct FactValue {
  double value = 0;
  double time_us = 0;  // time affected
  FactNumbers numbers;
};

// Computes the facts of one device from its rows of op_summary, which must be in time order.
class ComputedFacts {
 public:
  // The fields that add() expects, in this order.
  static std::vector<WantedField> fields();

  void add(std::span<const TableValue> values);

  // Returns a fact; empty if its data is missing. Call only after all rows were added.
  std::optional<FactValue> value(std::string_view name);

 private:
  void add_interval(bool is_cpu, std::int64_t start_ns, std::int64_t duration_ns);
  void advance(std::int64_t to_ns);
  std::optional<FactValue> ai_cpu_alone() const;
  std::optional<FactValue> cube_share() const;

  // Sweep over merged intervals: the time reached so far, and the end of the current interval per
  // kind.
  std::int64_t now_ns_ = 0;
  std::int64_t core_end_ns_ = INT64_MIN;
  std::int64_t cpu_end_ns_ = INT64_MIN;
  double core_only_ns_ = 0;
  double cpu_only_ns_ = 0;
  double both_ns_ = 0;
  bool has_cpu_ = false;
  bool has_intervals_ = false;
  // Operator time by most heavily loaded unit, in us.
  double cube_us_ = 0;
  double vector_us_ = 0;
  double scalar_us_ = 0;
  double mte_us_ = 0;
};

}  // namespace msprof
