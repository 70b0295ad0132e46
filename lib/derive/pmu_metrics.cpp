#include "derive/pmu_metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "base/number.hpp"
#include "base/text.hpp"

namespace msprof {

namespace {

constexpr int kAscend310B = 7;

bool is_310p(int platform) {
  return platform >= 2 && platform <= 4;
}

// A metric as the tables of cann_device.md 12.3 have it. A pipe "vec" has a time and a ratio.
struct Entry {
  std::string_view name;
  PmuFormula formula = PmuFormula::share;
  std::array<PmuTerm, kMaxPmuTerms> terms{};
  bool is_pipe = false;
};

constexpr Entry pipe(std::string_view name, std::uint32_t event, std::uint32_t second = 0) {
  return {name, PmuFormula::share, {{{event, 1}, {second, 1}}}, true};
}
constexpr Entry ratio(std::string_view name, std::uint32_t event, std::uint32_t second = 0) {
  return {name, PmuFormula::share, {{{event, 1}, {second, 1}}}};
}
// `bytes`: what an event stands for in cann_device.md 12.3, as it is multiplied there.
constexpr Entry bandwidth(std::string_view name, double bytes, std::uint32_t event,
                          std::uint32_t second = 0) {
  return {name, PmuFormula::bandwidth, {{{event, bytes}, {second, bytes}}}};
}
constexpr Entry raw(std::string_view name, std::uint32_t event) {
  return {name, PmuFormula::weighted, {{{event, 1}}}};
}
constexpr Entry kib(std::string_view name, PmuTerm first, PmuTerm second = {}) {
  return {name, PmuFormula::weighted, {{first, second}}};
}

constexpr Entry kIcache = {"icache_miss_rate", PmuFormula::quotient, {{{0x54, 1}, {0x55, 1}}}};

constexpr std::array kPipe = {
    pipe("vec", 0x8),  pipe("mac", 0xa), pipe("scalar", 0x9), pipe("mte1", 0xb), pipe("mte2", 0xc),
    pipe("mte3", 0xd), kIcache};
constexpr std::array kPipeExct = {pipe("mac", 0x416, 0x417), pipe("scalar", 0x9),
                                  pipe("mte1", 0x302),       pipe("mte2", 0xc),
                                  pipe("fixpipe", 0x303),    kIcache};
constexpr std::array kPipeExecute = {pipe("vec_exe", 0x12c),    pipe("mac_exe", 0x49, 0x4a),
                                     pipe("scalar_exe", 0x9),   pipe("mte1_exe", 0x302),
                                     pipe("mte2_exe", 0xc),     pipe("mte3_exe", 0xd),
                                     pipe("fixpipe_exe", 0x303)};
constexpr std::array kArithmetic = {
    ratio("mac_fp16_ratio", 0x49),
    ratio("mac_int8_ratio", 0x4a),
    ratio("vec_fp32_ratio", 0x4b),
    ratio("vec_fp16_ratio", 0x4c, 0x4d),
    ratio("vec_int32_ratio", 0x4e),
    ratio("vec_misc_ratio", 0x4f),
    Entry{"cube_fops", PmuFormula::weighted, {{{0x49, 8192}, {0x4a, 16384}}}}};
constexpr Entry kVectorFops = {"vector_fops",
                               PmuFormula::weighted,
                               {{{0x4c, 128}, {0x4d, 64}, {0x4b, 64}, {0x4e, 64}, {0x4f, 32}}}};
constexpr Entry kVectorFops310p = {"vector_fops",
                                   PmuFormula::weighted,
                                   {{{0x4c, 128}, {0x4d, 64}, {0x4b, 64}, {0x4e, 16}, {0x4f, 16}}}};
constexpr std::array kMemory = {
    bandwidth("ub_read_bw", 256 * 4, 0x15),     bandwidth("ub_write_bw", 256 * 4, 0x16),
    bandwidth("l1_read_bw", 256 * 16, 0x31),    bandwidth("l1_write_bw", 128 * 8, 0x32),
    bandwidth("main_mem_read_bw", 8 * 8, 0x12), bandwidth("main_mem_write_bw", 8 * 8, 0x13),
    bandwidth("l2_read_bw", 256 * 8, 0xf),      bandwidth("l2_write_bw", 256 * 8, 0x10)};
constexpr std::array kMemoryL0 = {
    bandwidth("l0a_read_bw", 256 * 16, 0x1b),      bandwidth("l0a_write_bw", 256 * 16, 0x1c),
    bandwidth("l0b_read_bw", 256 * 16, 0x21),      bandwidth("l0b_write_bw", 256 * 8, 0x22),
    bandwidth("l0c_read_bw", 256 * 8, 0x27),       bandwidth("l0c_write_bw", 256 * 8, 0x29),
    bandwidth("l0c_read_bw_cube", 256 * 32, 0x28), bandwidth("l0c_write_bw_cube", 256 * 32, 0x2a)};
constexpr std::array kMemoryUb = {
    bandwidth("ub_read_bw_vector", 128 * 2, 0x43), bandwidth("ub_write_bw_vector", 128 * 2, 0x44),
    bandwidth("ub_read_bw_scalar", 128, 0x37), bandwidth("ub_write_bw_scalar", 128, 0x38)};
constexpr std::array kMemoryUb310b = {bandwidth("ub_read_bw_vector", 128 * 2, 0x17f, 0x180),
                                      bandwidth("ub_write_bw_vector", 128 * 2, 0x191),
                                      bandwidth("ub_read_bw_scalar", 128, 0x37),
                                      bandwidth("ub_write_bw_scalar", 128, 0x38)};
constexpr std::array kConflicts = {ratio("vec_bankgroup_cflt_ratio", 0x64),
                                   ratio("vec_bank_cflt_ratio", 0x65),
                                   ratio("vec_resc_cflt_ratio", 0x66)};
constexpr std::array kL2Cache = {
    raw("write_cache_hit", 0x500),   raw("write_cache_miss_allocate", 0x502),
    raw("r0_read_cache_hit", 0x504), raw("r0_read_cache_miss_allocate", 0x506),
    raw("r1_read_cache_hit", 0x508), raw("r1_read_cache_miss_allocate", 0x50a)};
constexpr std::array kMemoryAccess = {
    kib("read_main_memory_datas(KB)", {0x50d, 0.125}, {0x50e, 0.125}),
    kib("write_main_memory_datas(KB)", {0x50c, 0.125}),
    kib("GM_to_L1_datas(KB)", {0x32, 0.25}, {0x206, -0.25}),
    kib("L0C_to_L1_datas(KB)", {0x206, 0.125}),
    kib("L0C_to_GM_datas(KB)", {0x20c, 0.125}, {0x206, -0.125}),
    kib("GM_to_UB_datas(KB)", {0x3e, 0.125}),
    kib("UB_to_GM_datas(KB)", {0x3d, 0.125})};

// Columns that op_summary of the 310B has, but never a value for (cann_device.md 12.2).
constexpr std::array<std::string_view, 13> kMissingOn310b = {
    "vec_ratio",          "vec_time(us)",      "ub_read_bw(GB/s)",         "ub_write_bw(GB/s)",
    "l0c_write_bw(GB/s)", "l2_write_bw(GB/s)", "vec_fp32_ratio",           "vec_fp16_ratio",
    "vec_int32_ratio",    "vec_misc_ratio",    "vec_bankgroup_cflt_ratio", "vec_bank_cflt_ratio",
    "vec_resc_cflt_ratio"};

// Metrics left out of op_summary on one side: those with a prefix and a suffix.
struct Unsupported {
  bool is_vector;
  std::string_view prefix;
  std::string_view suffix;
};
constexpr std::array kUnsupported = {Unsupported{false, "vec_", ""},
                                     Unsupported{true, "mac_", ""},
                                     Unsupported{true, "mte1_", ""},
                                     Unsupported{false, "ub_read_bw(GB/s)", ""},
                                     Unsupported{false, "ub_write_bw(GB/s)", ""},
                                     Unsupported{true, "l1_", ""},
                                     Unsupported{false, "l0c_read_bw(GB/s)", ""},
                                     Unsupported{false, "l0c_write_bw(GB/s)", ""},
                                     Unsupported{true, "l0a_", ""},
                                     Unsupported{true, "l0b_", ""},
                                     Unsupported{true, "l0c_", "_cube(GB/s)"},
                                     Unsupported{false, "ub_", "_mte(GB/s)"},
                                     Unsupported{false, "ub_", "_vector(GB/s)"},
                                     Unsupported{false, "vector_fops", ""},
                                     Unsupported{true, "cube_fops", ""},
                                     Unsupported{true, "fixpipe_", ""}};

PmuMetric metric_of(const Entry& entry, std::string name, PmuFormula formula) {
  PmuMetric metric{std::move(name), formula, entry.terms, 0, false};
  while (metric.term_count < kMaxPmuTerms && entry.terms[metric.term_count].event != 0) {
    ++metric.term_count;
  }
  return metric;
}

class SetBuilder {
 public:
  explicit SetBuilder(int platform) : platform_(platform) {}

  SetBuilder& add(std::span<const Entry> entries) {
    for (const Entry& entry : entries) add(entry);
    return *this;
  }
  SetBuilder& add(const Entry& entry) {
    const std::string name(entry.name);
    if (entry.is_pipe) {
      keep(metric_of(entry, name + "_time(us)", PmuFormula::share_time));
      keep(metric_of(entry, name + "_ratio", PmuFormula::share));
    } else {
      const bool has_unit = entry.formula == PmuFormula::bandwidth;
      keep(metric_of(entry, has_unit ? name + "(GB/s)" : name, entry.formula));
    }
    return *this;
  }
  std::vector<PmuMetric> take() { return std::move(metrics_); }

 private:
  void keep(PmuMetric metric) {
    metric.is_missing = platform_ == kAscend310B &&
                        std::find(kMissingOn310b.begin(), kMissingOn310b.end(), metric.name) !=
                            kMissingOn310b.end();
    metrics_.push_back(std::move(metric));
  }
  int platform_;
  std::vector<PmuMetric> metrics_;
};

// "Custom:0x8,0xa": each event under the name "r8".
std::vector<PmuMetric> custom_set(std::string_view events) {
  std::vector<PmuMetric> metrics;
  for (const std::string_view part : split(events, ',')) {
    const std::string text = lower_ascii(trim(part));
    const std::size_t start = text.starts_with("0x") ? 2 : 0;
    const std::string digits =
        text.substr(std::min(text.find_first_not_of('0', start), text.size()));
    constexpr std::size_t kMaxDigits = 8;
    if (digits.empty() || digits.size() > kMaxDigits) continue;
    if (digits.find_first_not_of("0123456789abcdef") != std::string::npos) continue;
    PmuMetric metric;
    metric.name = "r" + digits;
    metric.formula = PmuFormula::count;
    metric.terms[0].event = static_cast<std::uint32_t>(std::stoul(digits, nullptr, 16));
    metric.term_count = 1;
    metrics.push_back(std::move(metric));
  }
  return metrics;
}

}  // namespace

std::vector<PmuMetric> pmu_set(std::string_view name, int platform) {
  constexpr std::string_view kCustom = "Custom:";
  if (name.starts_with(kCustom)) return custom_set(name.substr(kCustom.size()));
  SetBuilder set(platform);
  if (name == "PipeUtilization") set.add(kPipe);
  if (name == "PipeUtilizationExct") set.add(kPipeExct);
  if (name == "PipelineExecuteUtilization") set.add(kPipeExecute);
  if (name == "ArithmeticUtilization") {
    set.add(kArithmetic).add(is_310p(platform) ? kVectorFops310p : kVectorFops);
  }
  if (name == "Memory") set.add(kMemory);
  if (name == "MemoryL0") set.add(kMemoryL0);
  if (name == "MemoryUB") {
    platform == kAscend310B ? set.add(kMemoryUb310b) : set.add(kMemoryUb);
  }
  if (name == "ResourceConflictRatio") set.add(kConflicts);
  if (name == "L2Cache") set.add(kL2Cache);
  if (name == "MemoryAccess") set.add(kMemoryAccess);
  return set.take();
}

bool pmu_is_supported(std::string_view metric, bool is_vector) {
  return std::none_of(kUnsupported.begin(), kUnsupported.end(), [&](const Unsupported& other) {
    return other.is_vector == is_vector && metric.starts_with(other.prefix) &&
           metric.ends_with(other.suffix);
  });
}

namespace {

constexpr double kNotAvailable = std::numeric_limits<double>::quiet_NaN();
constexpr double kBytesPerGib8 = 8589934592.0;  // 2^33 (cann_device.md 12.3)

bool has_stars(int platform) {
  return platform == 5 || platform == 7 || platform == 8 || platform == 11 || platform == 15 ||
         platform == 16;
}

double as_double(std::int64_t counter) {
  return counter == kNull ? 0 : static_cast<double>(static_cast<std::uint64_t>(counter));
}

PmuUnit unit_of(const PmuMetric& metric) {
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
  if (devices_.empty() || (cycles_[kAic] == kNone && cycles_[kAiv] == kNone)) return;
  constexpr int kAscend910b = 5;
  has_sides_ = platform_ == kAscend910b;
  is_rounded_ = !has_stars(platform_);
  if (choice_ == Choice::all) {
    if (has_sides_) add_sided_columns();
    return;
  }
  has_sides_ ? add_sided_columns() : add_common_columns();
  if (columns_.empty()) return;
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
    devices_.push_back({read.integer(0),
                        read.integer(1),
                        {read.integer(2), read.integer(3)},
                        {std::string(read.text(5)), std::string(read.text(6))}});
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
    return at == cells_.end() ? kNone : at->second;
  };
  cycles_ = {cell("aic_total_cycles"), cell("aiv_total_cycles")};
  frequency_ = cell("frequency_mhz");
  core_kind_ = cell("core_kind");
}

void PmuMetrics::add_column(std::string name, PmuUnit unit, Plan plan) {
  columns_.push_back({std::move(name), unit});
  plans_.push_back(plan);
}

// Both sides, each with its own set.
void PmuMetrics::add_sided_columns() {
  add_set(kAic, static_cast<int>(kAic));
  add_set(kAiv, static_cast<int>(kAiv));
}

// One group of columns, filled from the side that ran.
void PmuMetrics::add_common_columns() {
  const bool has_core_set = std::any_of(devices_.begin(), devices_.end(), [](const Device& device) {
    return !device.metrics[kAic].empty();
  });
  add_set(has_core_set ? kAic : kAiv, kNone);
}

void PmuMetrics::add_set(std::size_t side, int fixed_side) {
  const auto device = std::find_if(devices_.begin(), devices_.end(), [&](const Device& other) {
    return !other.metrics[side].empty();
  });
  if (device == devices_.end() || cycles_[side] == kNone) return;
  const std::string prefix = fixed_side == kNone ? "" : side == kAic ? "aic_" : "aiv_";
  const bool is_vector = fixed_side == static_cast<int>(kAiv);
  const bool takes_all = choice_ == Choice::all || fixed_side == kNone;
  Plan plan;
  plan.side = fixed_side;
  const std::string total = is_vector ? "aiv_time(us)" : "aicore_time(us)";
  add_column(choice_ == Choice::all ? prefix + "total_time(us)" : total, PmuUnit::time_us, plan);
  plan.formula = PmuFormula::total_cycles;
  add_column(prefix + "total_cycles", PmuUnit::cycles, plan);
  for (const PmuMetric& metric : pmu_set(device->metrics[side], platform_)) {
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
  if (!resolve(metric, plan) && !metric.is_missing) return;
  const std::string prefix = fixed_side == kNone ? "" : side == kAic ? "aic_" : "aiv_";
  add_column(prefix + metric.name, unit_of(metric), plan);
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
      plan.counters[side][i] = cell == cells_.end() ? kNone : cell->second;
      plan.factors[i] = term.factor;
      has_all = has_all && cell != cells_.end();
    }
    if (!has_all) plan.counters[side][0] = kNone;
    const bool counts = plan.side == kNone || plan.side == static_cast<int>(side);
    is_there = is_there || (has_all && counts);
  }
  return is_there;
}

int PmuMetrics::column_of(std::string_view name) const {
  const auto at = std::find_if(columns_.begin(), columns_.end(),
                               [&](const PmuColumn& column) { return column.name == name; });
  return at == columns_.end() ? kNone : static_cast<int>(at - columns_.begin());
}

void PmuMetrics::add_memory_bound() {
  for (const char* word : {"ratio", "exe_ratio"}) {
    Plan plan;
    plan.formula = PmuFormula::memory_bound;
    plan.of = {column_of(fmt::format("mte2_{}", word)), column_of(fmt::format("vec_{}", word)),
               column_of(fmt::format("mac_{}", word))};
    if (std::count(plan.of.begin(), plan.of.end(), kNone) != 0) continue;
    add_column("memory_bound", PmuUnit::other, plan);
    return;
  }
}

void PmuMetrics::add_cube_utilization() {
  const bool is_there =
      has_sides_ ? column_of("aic_mac_ratio") != kNone && column_of("aic_total_cycles") != kNone
                 : column_of("mac_ratio") != kNone;
  if (!is_there) return;
  Plan plan;
  plan.formula = PmuFormula::cube_utilization;
  plan.side = has_sides_ ? static_cast<int>(kAic) : kNone;
  add_column("cube_utilization(%)", PmuUnit::percent, plan);
}

const PmuMetrics::Device* PmuMetrics::device_of(std::int64_t id) const {
  for (const Device& device : devices_) {
    if (device.id == id) return &device;
  }
  return nullptr;
}

PmuMetrics::Side PmuMetrics::side_of(const Device& device, std::size_t side,
                                     const PmuTask& task) const {
  Side result;
  if (cycles_[side] == kNone) return result;
  result.cycles = as_double(task.counters[cycles_[side]]);
  result.cores = device.cores[side];
  if (device.frequency_hz <= 0 || result.cycles == 0) return result;
  result.seconds = result.cycles / static_cast<double>(device.frequency_hz);
  // The main cores run block_num blocks, the others of a MIX task mix_block_num
  // (cann_device.md 6.5).
  constexpr std::int64_t kMixAic = 2;
  constexpr std::int64_t kMixAiv = 3;
  const std::int64_t kind = core_kind_ == kNone ? kNull : task.counters[core_kind_];
  const bool is_other = (kind == kMixAic && side == kAiv) || (kind == kMixAiv && side == kAic);
  const std::int64_t blocks = is_other ? task.mix_block_num : task.block_num;
  if (blocks <= 0 || result.cores <= 0) return result;
  double hz = static_cast<double>(device.frequency_hz);
  if (frequency_ != kNone && task.counters[frequency_] > 0) {
    hz = static_cast<double>(task.counters[frequency_]) * 1e6;
  }
  const std::int64_t rounds = (blocks - 1) / result.cores + 1;
  result.total_us =
      result.cycles * 1e6 / hz / static_cast<double>(blocks) * static_cast<double>(rounds);
  if (is_rounded_) result.total_us = python_round(result.total_us, 2);
  return result;
}

// Counters are divided by the cycles before anything else (cann_device.md 12.3).
double PmuMetrics::value_of(const Plan& plan, const Side& side, std::size_t number,
                            const std::int64_t* counters) const {
  const auto& cells = plan.counters[number];
  if (cells[0] == kNone) return kNotAvailable;
  const auto counter = [&](std::size_t i) { return as_double(counters[cells[i]]); };
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

// The part before the duration has six decimals (cann_device.md 12.3).
double PmuMetrics::utilization(const Device& device, const Side& side, const PmuTask& task) const {
  const std::int64_t cores = device.cores[kAic];
  if (task.duration_ns <= 0 || device.frequency_hz <= 0 || cores <= 0) return 0;
  const double mhz = static_cast<double>(device.frequency_hz) / 1e6;
  const double busy_us = side.cycles / (mhz * static_cast<double>(cores)) * 100;
  return python_round(busy_us, 6) / (static_cast<double>(task.duration_ns) / 1000.0);
}

void PmuMetrics::evaluate(std::int64_t device_id, const PmuTask& task,
                          std::span<double> values) const {
  const Device* device = device_of(device_id);
  if (device == nullptr) {
    std::fill(values.begin(), values.end(), kNotAvailable);
    return;
  }
  const bool ran_vector = !has_sides_ && core_kind_ != kNone && task.counters[core_kind_] % 2 == 1;
  const std::size_t ran = ran_vector ? kAiv : kAic;
  std::array<Side, 2> sides;
  if (has_sides_ || ran == kAic) sides[kAic] = side_of(*device, kAic, task);
  if (has_sides_ || ran == kAiv) sides[kAiv] = side_of(*device, kAiv, task);
  for (std::size_t i = 0; i < plans_.size(); ++i) {
    const Plan& plan = plans_[i];
    const std::size_t number = plan.side == kNone ? ran : static_cast<std::size_t>(plan.side);
    const Side& side = sides[number];
    if (plan.is_missing) {
      values[i] = kNotAvailable;
    } else if (plan.formula == PmuFormula::total_time) {
      values[i] = side.total_us;
    } else if (plan.formula == PmuFormula::total_cycles) {
      values[i] = side.cycles;
    } else if (plan.formula == PmuFormula::cube_utilization) {
      values[i] = utilization(*device, side, task);
    } else if (plan.formula == PmuFormula::memory_bound) {
      // Computed from the ratios as they are printed (cann_device.md 12.3).
      const auto printed = [&](std::size_t part) {
        return sqlite_round3(values[static_cast<std::size_t>(plan.of[part])]);
      };
      const double most = std::fmax(printed(1), printed(2));
      values[i] = most == 0 ? 0 : python_round(printed(0) / most, 3);
      if (std::isnan(printed(0)) || std::isnan(printed(1)) || std::isnan(printed(2))) {
        values[i] = kNotAvailable;
      }
    } else {
      values[i] = value_of(plan, side, number, task.counters);
    }
  }
}

}  // namespace msprof
