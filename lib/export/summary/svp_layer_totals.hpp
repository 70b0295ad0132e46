// Sums over the tasks of one capture, by operator: what op_summary and op_statistic print.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/number.hpp"
#include "export/summary/svp_product_names.hpp"
#include "store/database.hpp"

namespace msprof::svp {

enum Counter : std::size_t {
  kTotalCycles,
  kMacBusy,
  kMacPpen,
  kVecBusy,
  kVecPpen,
  kDstr,
  kDtrans,
  kDld,
  kWld,
  kDdrRead,
  kDdrWrite,
  kCounterCount
};

struct LayerTotal {
  std::optional<std::int64_t> layer_id;
  std::string name;
  std::string original_names;
  std::string type;
  bool on_cpu = false;               // AA_CPU, else AA_CORE
  std::int64_t count = 0;            // records
  std::int64_t execution_count = 0;  // executions that have a record
  std::int64_t first_start_ns = INT64_MAX;
  std::optional<int128> duration_sum_ns;  // of a CPU operator
  std::optional<std::int64_t> longest_ns;
  std::optional<std::int64_t> shortest_ns;
  std::array<std::optional<int128>, kCounterCount> counters;  // sums; empty where a record lacks it

  // Nanoseconds of all records, exact; empty where the frequency is unknown.
  std::optional<Fraction> time_ns(std::optional<std::int64_t> frequency_hz) const;
};

// The operators of a capture that have records, in net and layer order.
std::vector<LayerTotal> layer_totals(const Database& db, const Capture& capture);

// The share of each operator: its time, or its cycles where no frequency is known but all operators
// ran on the cores; empty for all where neither can be added up. `per_execution` takes means.
std::vector<std::optional<Fraction>> weights(const std::vector<LayerTotal>& layers,
                                             std::optional<std::int64_t> frequency_hz,
                                             bool per_execution);

// Sum, or empty when one is empty or there is none.
std::optional<Fraction> sum(const std::vector<std::optional<Fraction>>& parts);

// part / whole in percent with three decimals; empty where the whole is empty or 0.
std::optional<std::string> percent(const std::optional<Fraction>& part,
                                   const std::optional<Fraction>& whole);

}  // namespace msprof::svp
