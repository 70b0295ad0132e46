// Metric sets of PmuMetrics: the metrics of a set of counters on each chip, and their events.
// Source: cann_device.md 12.1 to 12.5.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>

#include "base/text.hpp"
#include "derive/pmu_metrics.hpp"

namespace msprof {

namespace {

constexpr int kSetsOf310 = 0;
constexpr int kSetsOf310B = 7;

bool is_310p(int platform) {
  return platform >= 2 && platform <= 4;
}

// A metric in the tables of cann_device.md 12.3. A pipe such as "vec" has a time and a ratio.
struct MetricEntry {
  std::string_view name;
  PmuFormula formula = PmuFormula::share;
  std::array<PmuTerm, kMaxPmuTerms> terms{};
  bool is_pipe = false;
};

constexpr MetricEntry pipe(std::string_view name, std::uint32_t event, std::uint32_t second = 0) {
  return {name, PmuFormula::share, {{{event, 1}, {second, 1}}}, true};
}
constexpr MetricEntry ratio(std::string_view name, std::uint32_t event, std::uint32_t second = 0) {
  return {name, PmuFormula::share, {{{event, 1}, {second, 1}}}};
}
// `bytes`: bits per event, despite the name (cann_device.md 12.3).
constexpr MetricEntry bandwidth(std::string_view name, double bytes, std::uint32_t event,
                                std::uint32_t second = 0) {
  return {name, PmuFormula::bandwidth, {{{event, bytes}, {second, bytes}}}};
}
constexpr MetricEntry raw(std::string_view name, std::uint32_t event) {
  return {name, PmuFormula::weighted, {{{event, 1}}}};
}
constexpr MetricEntry kib(std::string_view name, PmuTerm first, PmuTerm second = {}) {
  return {name, PmuFormula::weighted, {{first, second}}};
}

constexpr MetricEntry kIcache = {
    "icache_miss_rate", PmuFormula::quotient, {{{0x54, 1}, {0x55, 1}}}};

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
    MetricEntry{"cube_fops", PmuFormula::weighted, {{{0x49, 8192}, {0x4a, 16384}}}}};
constexpr MetricEntry kVectorFops = {
    "vector_fops",
    PmuFormula::weighted,
    {{{0x4c, 128}, {0x4d, 64}, {0x4b, 64}, {0x4e, 64}, {0x4f, 32}}}};
constexpr MetricEntry kVectorFops310p = {
    "vector_fops",
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

// Sets of the 310 with different factors; it has no MemoryAccess (cann_device.md 12.4).
constexpr MetricEntry kVectorFops310 = {
    "vector_fops",
    PmuFormula::weighted,
    {{{0x4b, 32}, {0x4c, 128}, {0x4d, 64}, {0x4e, 64}, {0x4f, 32}}}};
constexpr std::array kMemory310 = {
    bandwidth("ub_read_bw", 256 * 4, 0x15),       bandwidth("ub_write_bw", 256 * 4, 0x16),
    bandwidth("l1_read_bw", 256 * 16, 0x31),      bandwidth("l1_write_bw", 128 * 8, 0x32),
    bandwidth("main_mem_read_bw", 256 * 8, 0x12), bandwidth("main_mem_write_bw", 256 * 8, 0x13),
    bandwidth("l2_read_bw", 256 * 8, 0xf),        bandwidth("l2_write_bw", 256 * 8, 0x10)};
constexpr std::array kMemoryUb310 = {
    bandwidth("ub_read_bw_vector", 256 * 16, 0x43), bandwidth("ub_write_bw_vector", 256 * 8, 0x44),
    bandwidth("ub_read_bw_scalar", 256 * 32, 0x37), bandwidth("ub_write_bw_scalar", 256 * 32, 0x38),
    bandwidth("ub_read_bw_mte", 128 * 8, 0x3d),     bandwidth("ub_write_bw_mte", 128 * 8, 0x3e)};

// The only sets of chips 15 and 16 (cann_device.md 12.2, 12.3, 12.5).
constexpr MetricEntry kIcacheV6 = {
    "icache_miss_rate", PmuFormula::quotient, {{{0x34, 1}, {0x35, 1}}}};
constexpr std::array kPipeV6 = {
    pipe("vec", 0x501),  pipe("mac", 0x301),  pipe("scalar", 0x1),    pipe("mte1", 0x701),
    pipe("mte2", 0x202), pipe("mte3", 0x203), pipe("fixpipe", 0x714), kIcacheV6};
constexpr std::array kArithmeticV6 = {ratio("mac_fp16_ratio", 0x323),
                                      ratio("mac_int8_ratio", 0x324)};
constexpr std::array kMemoryV6 = {
    bandwidth("ub_read_bw", 256 * 4, 0x56f, 0x571),
    MetricEntry{
        "ub_write_bw", PmuFormula::bandwidth, {{{0x570, 256 * 4, false}, {0x572, 256 * 4, true}}}},
    bandwidth("l1_read_bw", 256 * 16, 0x707),
    bandwidth("l1_write_bw", 256 * 8, 0x709),
    bandwidth("main_mem_read_bw", 8 * 8, 0x400),
    bandwidth("main_mem_write_bw", 8 * 8, 0x401)};
constexpr std::array kMemoryL0V6 = {
    bandwidth("l0a_read_bw", 256 * 16, 0x304),     bandwidth("l0a_write_bw", 256 * 16, 0x703),
    bandwidth("l0b_read_bw", 256 * 8, 0x306),      bandwidth("l0b_write_bw", 256 * 8, 0x705),
    bandwidth("l0c_read_bw", 256 * 8, 0x712),      bandwidth("l0c_read_bw_cube", 256 * 8, 0x30a),
    bandwidth("l0c_write_bw_cube", 256 * 8, 0x308)};
constexpr std::array kMemoryUbV6 = {
    bandwidth("ub_read_bw_mte", 128, 0x204),        bandwidth("ub_write_bw_mte", 128, 0x206),
    bandwidth("ub_read_bw_vector", 128 * 2, 0x571), bandwidth("ub_write_bw_vector", 128 * 2, 0x572),
    bandwidth("ub_read_bw_scalar", 128, 0x3),       bandwidth("ub_write_bw_scalar", 128, 0x5),
    bandwidth("fixp2ub_write_bw", 256 * 8, 0x70c)};
constexpr std::array kConflictsV6 = {
    ratio("vec_bank_cflt_ratio", 0x540, 0x556),
    MetricEntry{"vec_resc_cflt_ratio", PmuFormula::quotient, {{{0x502, 1}, {0x528, 1}}}}};
constexpr std::array kL2CacheV6 = {
    raw("read_local_l2_hit", 0x424),    raw("read_local_l2_miss", 0x425),
    raw("read_local_l2_victim", 0x426), raw("write_local_l2_hit", 0x42a),
    raw("write_local_l2_miss", 0x42b),  raw("write_local_l2_victim", 0x42c)};

// Columns of op_summary on the 310B that never have a value (cann_device.md 12.2).
constexpr std::array<std::string_view, 13> kMissingOn310b = {
    "vec_ratio",          "vec_time(us)",      "ub_read_bw(GB/s)",         "ub_write_bw(GB/s)",
    "l0c_write_bw(GB/s)", "l2_write_bw(GB/s)", "vec_fp32_ratio",           "vec_fp16_ratio",
    "vec_int32_ratio",    "vec_misc_ratio",    "vec_bankgroup_cflt_ratio", "vec_bank_cflt_ratio",
    "vec_resc_cflt_ratio"};

// Prefix and suffix of metrics that op_summary omits for one side.
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

PmuMetric make_metric(const MetricEntry& entry, std::string name, PmuFormula formula) {
  PmuMetric metric{std::move(name), formula, entry.terms, 0, false};
  while (metric.term_count < kMaxPmuTerms && entry.terms[metric.term_count].event != 0) {
    ++metric.term_count;
  }
  return metric;
}

class SetBuilder {
 public:
  explicit SetBuilder(int platform) : platform_(platform) {}

  SetBuilder& add(std::span<const MetricEntry> entries) {
    for (const MetricEntry& entry : entries) add(entry);
    return *this;
  }
  SetBuilder& add(const MetricEntry& entry) {
    const std::string name(entry.name);
    if (entry.is_pipe) {
      keep(make_metric(entry, name + "_time(us)", PmuFormula::share_time));
      keep(make_metric(entry, name + "_ratio", PmuFormula::share));
    } else {
      const bool has_unit = entry.formula == PmuFormula::bandwidth;
      keep(make_metric(entry, has_unit ? name + "(GB/s)" : name, entry.formula));
    }
    return *this;
  }
  std::vector<PmuMetric> take() { return std::move(metrics_); }

 private:
  void keep(PmuMetric metric) {
    metric.is_missing = platform_ == kSetsOf310B &&
                        std::find(kMissingOn310b.begin(), kMissingOn310b.end(), metric.name) !=
                            kMissingOn310b.end();
    metrics_.push_back(std::move(metric));
  }
  int platform_;
  std::vector<PmuMetric> metrics_;
};

// Parses an event number, "0x8" or "8"; nullopt if it is not a number.
std::optional<std::uint32_t> parse_event_number(std::string_view text) {
  const bool is_hex = text.starts_with("0x") || text.starts_with("0X");
  if (is_hex) text.remove_prefix(2);
  std::uint32_t number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, is_hex ? 16 : 10);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  return is_number ? std::optional(number) : std::nullopt;
}

// Parses "Custom:0x8,10". The metric names are the hexadecimal event numbers: "r8" and "ra".
std::vector<PmuMetric> custom_set(std::string_view events) {
  std::vector<PmuMetric> metrics;
  for (const std::string_view part : split(events, ',')) {
    const auto event = parse_event_number(trim(part));
    if (!event || *event == 0) continue;
    PmuMetric metric;
    metric.name = fmt::format("r{:x}", *event);
    metric.formula = PmuFormula::count;
    metric.terms[0].event = *event;
    metric.term_count = 1;
    metrics.push_back(std::move(metric));
  }
  return metrics;
}

std::vector<PmuMetric> v6_set(std::string_view name, int platform) {
  SetBuilder set(platform);
  if (name == "PipeUtilization") set.add(kPipeV6);
  if (name == "ArithmeticUtilization") set.add(kArithmeticV6);
  if (name == "Memory") set.add(kMemoryV6);
  if (name == "MemoryL0") set.add(kMemoryL0V6);
  if (name == "MemoryUB") set.add(kMemoryUbV6);
  if (name == "ResourceConflictRatio") set.add(kConflictsV6);
  if (name == "L2Cache") set.add(kL2CacheV6);
  return set.take();
}

}  // namespace

bool is_v6_platform(int platform) {
  return platform >= 15 && platform <= 18;
}

std::vector<PmuMetric> pmu_set(std::string_view name, int platform) {
  constexpr std::string_view kCustom = "Custom:";
  if (name.starts_with(kCustom)) return custom_set(name.substr(kCustom.size()));
  if (is_v6_platform(platform)) return v6_set(name, platform);
  // The meaning of the events of these chips is unknown (cann_new_kinds.md 6).
  if (platform == 12 || platform == 21) return {};
  SetBuilder set(platform);
  const bool is_310 = platform == kSetsOf310;
  if (name == "PipeUtilization") set.add(kPipe);
  if (name == "PipeUtilizationExct") set.add(kPipeExct);
  if (name == "PipelineExecuteUtilization") set.add(kPipeExecute);
  if (name == "ArithmeticUtilization") {
    set.add(kArithmetic)
        .add(is_310              ? kVectorFops310
             : is_310p(platform) ? kVectorFops310p
                                 : kVectorFops);
  }
  if (name == "Memory") is_310 ? set.add(kMemory310) : set.add(kMemory);
  if (name == "MemoryL0") set.add(kMemoryL0);
  if (name == "MemoryUB") {
    if (is_310) {
      set.add(kMemoryUb310);
    } else {
      platform == kSetsOf310B ? set.add(kMemoryUb310b) : set.add(kMemoryUb);
    }
  }
  if (name == "ResourceConflictRatio") set.add(kConflicts);
  if (name == "L2Cache") set.add(kL2Cache);
  if (name == "MemoryAccess" && !is_310) set.add(kMemoryAccess);
  return set.take();
}

bool pmu_is_supported(std::string_view metric, bool is_vector) {
  return std::none_of(kUnsupported.begin(), kUnsupported.end(), [&](const Unsupported& other) {
    return other.is_vector == is_vector && metric.starts_with(other.prefix) &&
           metric.ends_with(other.suffix);
  });
}

}  // namespace msprof
