#include "derive/pmu_metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "base/number.hpp"
#include "base/vendor_real.hpp"

namespace msprof {

namespace {

constexpr int kAscend310 = 0;
constexpr int kAscend910B = 5;

constexpr double kNotAvailable = std::numeric_limits<double>::quiet_NaN();
constexpr double kBytesPerGib8 = 8589934592.0;  // 2^33 (cann_device.md 12.3)

// True for STARS chips older than the 910B (cann_device.md 25.2).
bool is_first_stars(int platform) {
  return platform == 7 || platform == 8 || platform == 11;
}

double as_double(std::int64_t counter) {
  return counter == kNull ? 0 : static_cast<double>(static_cast<std::uint64_t>(counter));
}

PmuUnit metric_unit(const PmuMetric& metric) {
  switch (metric.formula) {
    case PmuFormula::share:
    case PmuFormula::quotient:
      return PmuUnit::ratio;
    case PmuFormula::share_time:
      return PmuUnit::time_us;
    case PmuFormula::bandwidth:
      return PmuUnit::bandwidth;
    case PmuFormula::count:
      return PmuUnit::cycles;
    default:
      return PmuUnit::other;
  }
}

}  // namespace

PmuMetrics::PmuMetrics(const Database& db, Choice choice) : choice_(choice) {
  Statement any = db.prepare("SELECT 1 FROM task_pmu LIMIT 1");
  if (!any.step()) return;
  read_devices(db);
  read_cells(db);
  if (devices_.empty() || (cycles_[kAic] == kUnset && cycles_[kAiv] == kUnset)) return;
  has_sides_ = platform_ == kAscend910B || is_v6_platform(platform_);
  is_310_ = platform_ == kAscend310;
  is_old_ = !read_meta(db, "generation").empty();
  is_rounded_ = !has_sides_ && !is_310_ && !is_old_;
  if (choice_ == Choice::all && !has_sides_ && !is_first_stars(platform_)) return;
  has_sides_ ? add_sided_columns() : add_common_columns();
  if (columns_.empty() || choice_ == Choice::all) return;
  add_memory_bound();
  add_cube_utilization();
}

void PmuMetrics::read_devices(const Database& db) {
  Statement read = db.prepare(
      "SELECT device.id, ifnull(frequency_hz, 0), ifnull(core_count, 0),"
      " ifnull(vector_core_count, 0), ifnull(platform, -1), ifnull(core.text, ''),"
      " ifnull(vector.text, '') FROM device"
      " LEFT JOIN name AS core ON core.id = core_metrics_name_id"
      " LEFT JOIN name AS vector ON vector.id = vector_core_metrics_name_id ORDER BY device.id");
  while (read.step()) {
    devices_.push_back({read.integer(0), read.integer(1), {read.integer(2), read.integer(3)}});
    if (sets_[kAic].empty()) sets_[kAic] = read.text(5);
    if (sets_[kAiv].empty()) sets_[kAiv] = read.text(6);
    if (platform_ < 0) platform_ = static_cast<int>(read.integer(4));
  }
}

void PmuMetrics::read_cells(const Database& db) {
  Statement read = db.prepare(
      "SELECT column_number, name.text FROM pmu_column JOIN name ON name.id = counter_name_id"
      " ORDER BY column_number");
  while (read.step()) {
    const std::int64_t cell = read.integer(0);
    if (cell < 0 || cell >= static_cast<std::int64_t>(kPmuColumns)) continue;
    cells_.emplace(read.text(1), static_cast<int>(cell));
  }
  const auto cell = [&](const char* name) {
    const auto at = cells_.find(name);
    return at == cells_.end() ? kUnset : at->second;
  };
  cycles_ = {cell("aic_total_cycles"), cell("aiv_total_cycles")};
  frequency_ = cell("frequency_mhz");
  core_kind_ = cell("core_kind");
  block_num_ = cell("block_num");
  times_ = {cell("aic_time_ns"), cell("aiv_time_ns")};
}

void PmuMetrics::add_column(std::string name, PmuUnit unit, Plan plan) {
  columns_.push_back({std::move(name), unit});
  plans_.push_back(plan);
}

// Adds separate columns for cube and vector cores, each from its own metric set.
void PmuMetrics::add_sided_columns() {
  add_set(kAic, static_cast<int>(kAic));
  add_set(kAiv, static_cast<int>(kAiv));
}

// Adds one group of columns, with the values of the kind of core that ran.
void PmuMetrics::add_common_columns() {
  add_set(sets_[kAic].empty() ? kAiv : kAic, kUnset);
}

void PmuMetrics::add_set(std::size_t side, int fixed_side) {
  if (sets_[side].empty() || cycles_[side] == kUnset) return;
  const std::string prefix = fixed_side == kUnset ? "" : side == kAic ? "aic_" : "aiv_";
  const bool is_vector = fixed_side == static_cast<int>(kAiv);
  const bool takes_all = choice_ == Choice::all || fixed_side == kUnset;
  Plan plan;
  plan.side = fixed_side;
  const std::string total = is_vector ? "aiv_time(us)" : "aicore_time(us)";
  add_column(choice_ == Choice::all ? prefix + "total_time(us)" : total, PmuUnit::time_us, plan);
  plan.formula = PmuFormula::total_cycles;
  add_column(prefix + "total_cycles", PmuUnit::cycles, plan);
  for (const PmuMetric& metric : pmu_set(sets_[side], platform_)) {
    if (takes_all || pmu_is_supported(metric.name, is_vector)) {
      add_metric(metric, side, fixed_side);
    }
  }
}

// A metric whose events were not recorded has no column.
void PmuMetrics::add_metric(const PmuMetric& metric, std::size_t side, int fixed_side) {
  Plan plan;
  plan.formula = metric.formula;
  plan.side = fixed_side;
  plan.is_missing = metric.is_missing;
  if (metric.is_missing ? choice_ == Choice::all : !resolve(metric, plan)) return;
  const std::string prefix = fixed_side == kUnset ? "" : side == kAic ? "aic_" : "aiv_";
  add_column(prefix + metric.name, metric_unit(metric), plan);
}

bool PmuMetrics::resolve(const PmuMetric& metric, Plan& plan) const {
  constexpr std::array<const char*, 2> kSides = {"aic", "aiv"};
  plan.terms = metric.term_count;
  bool is_there = false;
  for (std::size_t side = 0; side < kSides.size(); ++side) {
    bool has_all = metric.term_count > 0;
    for (std::size_t i = 0; i < metric.term_count; ++i) {
      const PmuTerm& term = metric.terms[i];
      const auto cell = cells_.find(fmt::format("{}_{:#x}", kSides[side], term.event));
      plan.counters[side][i] = cell == cells_.end() ? kUnset : cell->second;
      plan.factors[i] = term.factor;
      has_all = has_all && (cell != cells_.end() || term.is_optional);
    }
    if (!has_all) plan.counters[side][0] = kUnset;
    const bool counts = plan.side == kUnset || plan.side == static_cast<int>(side);
    is_there = is_there || (has_all && counts);
  }
  return is_there;
}

int PmuMetrics::find_column(std::string_view name) const {
  const auto at = std::find_if(columns_.begin(), columns_.end(),
                               [&](const PmuColumn& column) { return column.name == name; });
  return at == columns_.end() ? kUnset : static_cast<int>(at - columns_.begin());
}

void PmuMetrics::add_memory_bound() {
  for (const char* word : {"ratio", "exe_ratio"}) {
    Plan plan;
    plan.formula = PmuFormula::memory_bound;
    plan.of = {find_column(fmt::format("mte2_{}", word)), find_column(fmt::format("vec_{}", word)),
               find_column(fmt::format("mac_{}", word))};
    if (std::count(plan.of.begin(), plan.of.end(), kUnset) != 0) continue;
    add_column("memory_bound", PmuUnit::other, plan);
    return;
  }
}

void PmuMetrics::add_cube_utilization() {
  const bool is_there = has_sides_ ? find_column("aic_mac_ratio") != kUnset &&
                                         find_column("aic_total_cycles") != kUnset
                                   : find_column("mac_ratio") != kUnset;
  if (!is_there) return;
  Plan plan;
  plan.formula = PmuFormula::cube_utilization;
  plan.side = has_sides_ ? static_cast<int>(kAic) : kUnset;
  // The vendor has two formulas; uses the one for this chip (cann_device.md 16).
  const bool is_native = platform_ == kAscend910B || is_v6_platform(platform_);
  if (!is_native) plan.of[0] = find_column("mac_ratio");
  add_column("cube_utilization(%)", PmuUnit::percent, plan);
}

void PmuMetrics::evaluate_only(const std::vector<bool>& columns) {
  for (std::size_t i = 0; i < plans_.size(); ++i) plans_[i].is_wanted = columns[i];
  for (std::size_t i = 0; i < plans_.size(); ++i) {
    for (const int part : plans_[i].of) {
      if (columns[i] && part != kUnset) plans_[static_cast<std::size_t>(part)].is_wanted = true;
    }
  }
}

const PmuMetrics::Device* PmuMetrics::find_device(std::int64_t id) const {
  for (const Device& device : devices_) {
    if (device.id == id) return &device;
  }
  return nullptr;
}

PmuMetrics::Side PmuMetrics::make_side(const Device& device, std::size_t side,
                                       const PmuTask& task) const {
  Side result;
  if (cycles_[side] == kUnset) return result;
  result.cycles = as_double(task.counters[cycles_[side]]);
  result.cores = device.cores[side];
  if (times_[side] != kUnset) {
    result.total_us = python_round(as_double(task.counters[times_[side]]) / 1000, 2);
    if (device.frequency_hz > 0)
      result.seconds = result.cycles / static_cast<double>(device.frequency_hz);
    return result;
  }
  if (device.frequency_hz <= 0 || result.cycles == 0) return result;
  result.seconds = result.cycles / static_cast<double>(device.frequency_hz);
  // In a MIX task the main cores run block_num blocks, the other cores mix_block_num
  // (cann_device.md 6.5).
  constexpr std::int64_t kMixAic = 2;
  constexpr std::int64_t kMixAiv = 3;
  const std::int64_t kind = core_kind_ == kUnset ? kNull : task.counters[core_kind_];
  const bool is_other = (kind == kMixAic && side == kAiv) || (kind == kMixAiv && side == kAic);
  std::int64_t blocks = is_other ? task.mix_block_num : task.block_num;
  if (block_num_ != kUnset && task.counters[block_num_] > 0) blocks = task.counters[block_num_];
  if (blocks <= 0 || result.cores <= 0) return result;
  double hz = static_cast<double>(device.frequency_hz);
  if (frequency_ != kUnset && task.counters[frequency_] > 0) {
    hz = static_cast<double>(task.counters[frequency_]) * 1e6;
  }
  const std::int64_t rounds = (blocks - 1) / result.cores + 1;
  result.total_us =
      result.cycles * 1e6 / hz / static_cast<double>(blocks) * static_cast<double>(rounds);
  if (is_310_) result.seconds *= static_cast<double>(rounds) / static_cast<double>(blocks);
  if (is_rounded_) result.total_us = python_round(result.total_us, 2);
  return result;
}

// Counters are divided by the cycles first, as the vendor does (cann_device.md 12.3).
double PmuMetrics::compute_value(const Plan& plan, const Side& side, std::size_t number,
                                 const std::int64_t* counters) const {
  const auto& cells = plan.counters[number];
  if (cells[0] == kUnset) return kNotAvailable;
  const auto counter = [&](std::size_t i) {
    return cells[i] == kUnset ? 0 : as_double(counters[cells[i]]);
  };
  if (plan.formula == PmuFormula::count) return counter(0);
  if (side.cycles == 0) return 0;
  double sum = 0;
  switch (plan.formula) {
    case PmuFormula::share:
    case PmuFormula::share_time:
      for (std::size_t i = 0; i < plan.terms; ++i) sum += counter(i) / side.cycles;
      return plan.formula == PmuFormula::share ? sum : side.total_us * sum;
    case PmuFormula::quotient: {
      const double whole = counter(0) / side.cycles;
      return whole == 0 ? 0 : counter(1) / side.cycles / whole;
    }
    case PmuFormula::bandwidth:
      if (side.seconds == 0) return 0;
      for (std::size_t i = 0; i < plan.terms; ++i) {
        sum += counter(i) * plan.factors[i] / side.seconds / kBytesPerGib8;
      }
      return sum;
    default:
      for (std::size_t i = 0; i < plan.terms; ++i) sum += counter(i) * plan.factors[i];
      return sum;
  }
}

// The value before the division by the duration is rounded to six decimals (cann_device.md 12.3).
double PmuMetrics::utilization(const Device& device, const Side& side, const PmuTask& task) const {
  const std::int64_t cores = device.cores[kAic];
  if (task.duration_ns <= 0 || device.frequency_hz <= 0 || cores <= 0) return 0;
  const double mhz = static_cast<double>(device.frequency_hz) / 1e6;
  const double busy_us = side.cycles / (mhz * static_cast<double>(cores)) * 100;
  return python_round(busy_us, 6) / (static_cast<double>(task.duration_ns) / 1000.0);
}

void PmuMetrics::evaluate(std::int64_t device_id, const PmuTask& task,
                          std::span<double> values) const {
  const Device* device = find_device(device_id);
  if (device == nullptr) {
    std::fill(values.begin(), values.end(), kNotAvailable);
    return;
  }
  const bool ran_vector = !has_sides_ && core_kind_ != kUnset && task.counters[core_kind_] % 2 == 1;
  evaluate_all(*device, ran_vector ? kAiv : kAic, task, values);
}

// `ran`: the side that ran, used for columns without a fixed side.
void PmuMetrics::evaluate_all(const Device& device, std::size_t ran, const PmuTask& task,
                              std::span<double> values) const {
  std::array<Side, 2> sides;
  if (has_sides_ || ran == kAic) sides[kAic] = make_side(device, kAic, task);
  if (has_sides_ || ran == kAiv) sides[kAiv] = make_side(device, kAiv, task);
  for (std::size_t i = 0; i < plans_.size(); ++i) {
    const Plan& plan = plans_[i];
    const std::size_t number = plan.side == kUnset ? ran : static_cast<std::size_t>(plan.side);
    const Side& side = sides[number];
    if (plan.is_missing || !plan.is_wanted) {
      values[i] = kNotAvailable;
    } else if (plan.formula == PmuFormula::total_time) {
      values[i] = side.total_us;
    } else if (plan.formula == PmuFormula::total_cycles) {
      values[i] = side.cycles;
    } else if (plan.formula == PmuFormula::cube_utilization) {
      const bool is_idle =
          plan.of[0] != kUnset && sqlite_round3(values[static_cast<std::size_t>(plan.of[0])]) == 0;
      values[i] = is_idle ? 0 : utilization(device, side, task);
    } else if (plan.formula == PmuFormula::memory_bound) {
      // Uses the ratios as printed, which are rounded (cann_device.md 12.3).
      const auto printed = [&](std::size_t part) {
        const double value = values[static_cast<std::size_t>(plan.of[part])];
        return is_old_ ? value : sqlite_round3(value);
      };
      const double most = std::fmax(printed(1), printed(2));
      const double bound = most == 0 ? 0 : printed(0) / most;
      values[i] = is_old_ ? bound : python_round(bound, 3);
      if (std::isnan(printed(0)) || std::isnan(printed(1)) || std::isnan(printed(2))) {
        values[i] = kNotAvailable;
      }
    } else {
      values[i] = compute_value(plan, side, number, task.counters);
    }
  }
}

}  // namespace msprof
