// PmuMetrics: computes core metrics from raw counters: the columns of the capture's metric set, and
// their values for a task. Source: cann_device.md 6.5, 12.1 to 12.4, 25.2.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/database.hpp"
#include "store/schema.hpp"

namespace msprof {

// A metric set: the metrics of a set of counters, in column order, with their formulas. Source:
// cann_device.md 12.1 to 12.3. If the vendor's two implementations differ (12.4), the native one is
// used.

enum class PmuFormula {
  total_time,
  total_cycles,
  share,       // sum of (event / cycles)
  share_time,  // share * total_time
  quotient,    // (second event / cycles) / (first / cycles)
  bandwidth,   // sum of events * bits / time / 2^33
  weighted,    // sum of (event * factor)
  count,       // value of the event, an integer
  memory_bound,
  cube_utilization
};

inline constexpr std::size_t kMaxPmuTerms = 5;

struct PmuTerm {
  std::uint32_t event = 0;
  double factor = 1;
  bool is_optional = false;  // if the event is not recorded, only the other terms are used
};

struct PmuMetric {
  std::string name;  // for example "mac_ratio", "l2_read_bw(GB/s)", "mac_time(us)"
  PmuFormula formula = PmuFormula::share;
  std::array<PmuTerm, kMaxPmuTerms> terms{};
  std::size_t term_count = 0;
  bool is_missing = false;  // the chip has the column but never a value
};

// Metrics of set `name` ("PipeUtilization", "Custom:0x8,0xa") on a chip; empty if the set is
// unknown.
std::vector<PmuMetric> pmu_set(std::string_view name, int platform);

// Returns true for chips with the counters of the 950 (cann_new_kinds.md 6).
bool is_v6_platform(int platform);

// Returns true if op_summary of chips with two kinds of cores has this metric for vector cores
// (`is_vector`) or for cube cores.
bool pmu_is_supported(std::string_view metric, bool is_vector);

enum class PmuUnit {
  time_us,
  cycles,  // printed as integers
  ratio,
  bandwidth,
  percent,  // cube_utilization(%): always three decimals, but "0" for a task without duration
  other
};

struct PmuColumn {
  std::string name;  // for example "aic_mac_time(us)", the column header in op_summary
  PmuUnit unit = PmuUnit::other;
};

struct PmuTask {
  const std::int64_t* counters = nullptr;  // kPmuColumns cells of task_pmu; null pointer: no PMU
                                           // data
  std::int64_t block_num = 0;
  std::int64_t mix_block_num = 0;
  std::int64_t duration_ns = 0;
};

class PmuMetrics {
 public:
  enum class Choice {
    of_op_summary,
    all,  // TASK_PMU_INFO on STARS chips: includes metrics that op_summary leaves out
  };

  // Uses the columns of the first device that has any; no columns if the PMU was off.
  explicit PmuMetrics(const Database& db, Choice choice = Choice::of_op_summary);

  const std::vector<PmuColumn>& columns() const { return columns_; }
  // True on chips whose columns are written by the vendor's native code; these have no units.
  bool is_native() const { return has_sides_; }
  // Limits evaluate() to these columns and the columns they depend on; others become N/A.
  void evaluate_only(const std::vector<bool>& columns);
  // Computes one value per column, equal to the vendor's double before it is printed. NaN means
  // that the chip or the core does not provide the value (N/A). `values` must have the size of
  // columns(), and the task must have counters.
  void evaluate(std::int64_t device_id, const PmuTask& task, std::span<double> values) const;

 private:
  static constexpr std::size_t kAic = 0;
  static constexpr std::size_t kAiv = 1;
  static constexpr int kUnset = -1;

  struct Device {
    std::int64_t id = 0;
    std::int64_t frequency_hz = 0;  // from info.json
    std::array<std::int64_t, 2> cores{};
  };
  // A column: a metric of one side (cube or vector cores), or of the side that ran.
  struct Plan {
    PmuFormula formula = PmuFormula::total_time;
    int side = kUnset;
    bool is_missing = false;  // always N/A
    bool is_wanted = true;
    std::size_t terms = 0;
    // column of task_pmu by side; kUnset: not recorded
    std::array<std::array<int, kMaxPmuTerms>, 2> counters{};
    std::array<double, kMaxPmuTerms> factors{};
    std::array<int, 3> of{kUnset, kUnset, kUnset};  // columns from which memory_bound is computed
  };
  struct Side {
    double cycles = 0;
    double total_us = 0;
    double seconds = 0;  // time base of rates, computed with the frequency in info.json
    std::int64_t cores = 0;
  };

  void read_devices(const Database& db);
  void read_cells(const Database& db);
  void add_sided_columns();
  void add_common_columns();
  void add_set(std::size_t side, int fixed_side);
  void add_column(std::string name, PmuUnit unit, Plan plan);
  void add_metric(const PmuMetric& metric, std::size_t side, int fixed_side);
  bool resolve(const PmuMetric& metric, Plan& plan) const;
  void add_memory_bound();
  void add_cube_utilization();
  int find_column(std::string_view name) const;

  const Device* find_device(std::int64_t id) const;
  Side make_side(const Device& device, std::size_t side, const PmuTask& task) const;
  double compute_value(const Plan& plan, const Side& side, std::size_t number,
                       const std::int64_t* counters) const;
  double utilization(const Device& device, const Side& side, const PmuTask& task) const;
  void evaluate_all(const Device& device, std::size_t ran, const PmuTask& task,
                    std::span<double> values) const;

  std::vector<Device> devices_;
  std::array<std::string, 2> sets_;   // metric set by side, of the first device that has one
  std::map<std::string, int> cells_;  // counter name, for example "aic_0x416", to column of
                                      // task_pmu
  std::array<int, 2> cycles_{kUnset, kUnset};
  int frequency_ = kUnset;
  int core_kind_ = kUnset;
  int block_num_ = kUnset;                    // column of the record's block_num
  std::array<int, 2> times_{kUnset, kUnset};  // columns of the run time by side, if recorded
  Choice choice_;
  int platform_ = -1;
  bool has_sides_ = false;   // both sides have columns (chip 5 and V6 chips)
  bool is_old_ = false;      // CANN 5 and older: no rounding (cann5_classic.md 10)
  bool is_rounded_ = false;  // total_us is rounded first (cann_device.md 6.5)
  bool is_310_ = false;      // rates use the time of all rounds of blocks (12.4)
  std::vector<PmuColumn> columns_;
  std::vector<Plan> plans_;
};

}  // namespace msprof
