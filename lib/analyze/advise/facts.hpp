// Facts: numbers over all operators of one device that no condition on rows can express. For rules
// that name them.
// Source: cann_device.md 22, rule_ai_core_and_ai_cpu_parallelism_1 and rule_model_bottleneck_1.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "export/table_reader.hpp"

namespace msprof {

bool is_fact(std::string_view name);
std::vector<std::string> fact_names();

// "1715760307201793.880", in us, as ns: a double would lose the last digits. Empty for no such
// text.
std::optional<std::int64_t> ns_of_us(std::string_view text);

// Values that a fact came from, in the order to show them: "AI CPU only (us)", 12.5.
using FactNumbers = std::vector<std::pair<std::string, double>>;

struct FactValue {
  double value = 0;
  double time_us = 0;  // time at stake
  FactNumbers numbers;
};

// Gathers the facts of one device from its rows of op_summary, in order of time.
class ComputedFacts {
 public:
  // Fields that add() expects, in that order.
  static std::vector<WantedField> fields();

  void add(std::span<const TableValue> values);

  // Returns a fact; empty if the data for it does not exist. Ends what is open: call it after all
  // rows.
  std::optional<FactValue> value(std::string_view name);

 private:
  void add_interval(bool is_cpu, std::int64_t start_ns, std::int64_t duration_ns);
  void advance(std::int64_t to_ns);
  std::optional<FactValue> ai_cpu_alone() const;
  std::optional<FactValue> cube_share() const;

  // The merged intervals, swept: until when each of the two computes.
  std::int64_t now_ns_ = 0;
  std::int64_t core_end_ns_ = INT64_MIN;
  std::int64_t cpu_end_ns_ = INT64_MIN;
  double core_only_ns_ = 0;
  double cpu_only_ns_ = 0;
  double both_ns_ = 0;
  bool has_cpu_ = false;
  bool has_intervals_ = false;
  // Durations of operators by the unit that they load most, in us.
  double cube_us_ = 0;
  double vector_us_ = 0;
  double scalar_us_ = 0;
  double mte_us_ = 0;
};

}  // namespace msprof
