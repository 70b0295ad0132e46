// Every metric set of every chip family: counters are written as records, and metrics are checked
// in op_summary and in TASK_PMU_INFO. Expected values are computed here, by the rules of
// cann_device.md 12 and 25.2.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <map>

#include "golden/cann_fixture.hpp"

using namespace msprof::test;
using namespace msprof::test::prof;
namespace fs = std::filesystem;

namespace {

// A metric: its form and the factors of its events.
struct Metric {
  enum Form { pipe, ratio, bits, sum, quotient };
  std::string name;
  Form form;
  std::vector<std::pair<unsigned, double>> terms;
};
using Metrics = std::vector<Metric>;

struct MetricSet {
  std::string name;
  std::vector<unsigned> events;  // events in the order of the slots
  Metrics metrics;
};

// Chip families with own tables of metrics, and the rest.
enum class Family { ascend310, ascend310p, ascend310b, v6, other };

MetricSet memory_set(Family family) {
  const double main_memory = family == Family::ascend310 ? 256 * 8 : 8 * 8;
  return {"Memory",
          {0x15, 0x16, 0x31, 0x32, 0xf, 0x10, 0x12, 0x13},
          {{"ub_read_bw", Metric::bits, {{0x15, 256 * 4}}},
           {"ub_write_bw", Metric::bits, {{0x16, 256 * 4}}},
           {"l1_read_bw", Metric::bits, {{0x31, 256 * 16}}},
           {"l1_write_bw", Metric::bits, {{0x32, 128 * 8}}},
           {"main_mem_read_bw", Metric::bits, {{0x12, main_memory}}},
           {"main_mem_write_bw", Metric::bits, {{0x13, main_memory}}},
           {"l2_read_bw", Metric::bits, {{0xf, 256 * 8}}},
           {"l2_write_bw", Metric::bits, {{0x10, 256 * 8}}}}};
}

MetricSet memory_ub_set(Family family) {
  if (family == Family::ascend310)
    return {"MemoryUB",
            {0x43, 0x44, 0x37, 0x38, 0x3d, 0x3e},
            {{"ub_read_bw_vector", Metric::bits, {{0x43, 256 * 16}}},
             {"ub_write_bw_vector", Metric::bits, {{0x44, 256 * 8}}},
             {"ub_read_bw_scalar", Metric::bits, {{0x37, 256 * 32}}},
             {"ub_write_bw_scalar", Metric::bits, {{0x38, 256 * 32}}},
             {"ub_read_bw_mte", Metric::bits, {{0x3d, 128 * 8}}},
             {"ub_write_bw_mte", Metric::bits, {{0x3e, 128 * 8}}}}};
  if (family == Family::ascend310b)
    return {"MemoryUB",
            {0x17f, 0x180, 0x191, 0x37, 0x38},
            {{"ub_read_bw_vector", Metric::bits, {{0x17f, 256}, {0x180, 256}}},
             {"ub_write_bw_vector", Metric::bits, {{0x191, 256}}},
             {"ub_read_bw_scalar", Metric::bits, {{0x37, 128}}},
             {"ub_write_bw_scalar", Metric::bits, {{0x38, 128}}}}};
  return {"MemoryUB",
          {0x43, 0x44, 0x37, 0x38},
          {{"ub_read_bw_vector", Metric::bits, {{0x43, 256}}},
           {"ub_write_bw_vector", Metric::bits, {{0x44, 256}}},
           {"ub_read_bw_scalar", Metric::bits, {{0x37, 128}}},
           {"ub_write_bw_scalar", Metric::bits, {{0x38, 128}}}}};
}

MetricSet arithmetic_set(Family family) {
  std::vector<std::pair<unsigned, double>> fops = {
      {0x4c, 128}, {0x4d, 64}, {0x4b, 64}, {0x4e, 64}, {0x4f, 32}};
  if (family == Family::ascend310) fops[2].second = 32;
  if (family == Family::ascend310p) fops[3].second = fops[4].second = 16;
  return {"ArithmeticUtilization",
          {0x49, 0x4a, 0x4b, 0x4c, 0x4d, 0x4e, 0x4f},
          {{"mac_fp16_ratio", Metric::ratio, {{0x49, 1}}},
           {"mac_int8_ratio", Metric::ratio, {{0x4a, 1}}},
           {"vec_fp32_ratio", Metric::ratio, {{0x4b, 1}}},
           {"vec_fp16_ratio", Metric::ratio, {{0x4c, 1}, {0x4d, 1}}},
           {"vec_int32_ratio", Metric::ratio, {{0x4e, 1}}},
           {"vec_misc_ratio", Metric::ratio, {{0x4f, 1}}},
           {"cube_fops", Metric::sum, {{0x49, 8192}, {0x4a, 16384}}},
           {"vector_fops", Metric::sum, fops}}};
}

std::vector<MetricSet> common_sets(Family family) {
  std::vector<MetricSet> sets = {
      {"PipeUtilization",
       {0x8, 0xa, 0x9, 0xb, 0xc, 0xd, 0x54, 0x55},
       {{"vec", Metric::pipe, {{0x8, 1}}},
        {"mac", Metric::pipe, {{0xa, 1}}},
        {"scalar", Metric::pipe, {{0x9, 1}}},
        {"mte1", Metric::pipe, {{0xb, 1}}},
        {"mte2", Metric::pipe, {{0xc, 1}}},
        {"mte3", Metric::pipe, {{0xd, 1}}},
        {"icache_miss_rate", Metric::quotient, {{0x55, 1}, {0x54, 1}}}}},
      arithmetic_set(family),
      memory_set(family),
      {"MemoryL0",
       {0x1b, 0x1c, 0x21, 0x22, 0x27, 0x28, 0x29, 0x2a},
       {{"l0a_read_bw", Metric::bits, {{0x1b, 256 * 16}}},
        {"l0a_write_bw", Metric::bits, {{0x1c, 256 * 16}}},
        {"l0b_read_bw", Metric::bits, {{0x21, 256 * 16}}},
        {"l0b_write_bw", Metric::bits, {{0x22, 256 * 8}}},
        {"l0c_read_bw", Metric::bits, {{0x27, 256 * 8}}},
        {"l0c_write_bw", Metric::bits, {{0x29, 256 * 8}}},
        {"l0c_read_bw_cube", Metric::bits, {{0x28, 256 * 32}}},
        {"l0c_write_bw_cube", Metric::bits, {{0x2a, 256 * 32}}}}},
      memory_ub_set(family),
      {"ResourceConflictRatio",
       {0x64, 0x65, 0x66},
       {{"vec_bankgroup_cflt_ratio", Metric::ratio, {{0x64, 1}}},
        {"vec_bank_cflt_ratio", Metric::ratio, {{0x65, 1}}},
        {"vec_resc_cflt_ratio", Metric::ratio, {{0x66, 1}}}}},
      {"L2Cache",
       {0x500, 0x502, 0x504, 0x506, 0x508, 0x50a},
       {{"write_cache_hit", Metric::sum, {{0x500, 1}}},
        {"write_cache_miss_allocate", Metric::sum, {{0x502, 1}}},
        {"r0_read_cache_hit", Metric::sum, {{0x504, 1}}},
        {"r0_read_cache_miss_allocate", Metric::sum, {{0x506, 1}}},
        {"r1_read_cache_hit", Metric::sum, {{0x508, 1}}},
        {"r1_read_cache_miss_allocate", Metric::sum, {{0x50a, 1}}}}},
      {"Custom:0x416,0x73",
       {0x416, 0x73},
       {{"r416", Metric::sum, {{0x416, 1}}}, {"r73", Metric::sum, {{0x73, 1}}}}}};
  if (family == Family::ascend310) return sets;
  sets.push_back({"PipeUtilizationExct",
                  {0x416, 0x417, 0x9, 0x302, 0xc, 0x303, 0x54, 0x55},
                  {{"mac", Metric::pipe, {{0x416, 1}, {0x417, 1}}},
                   {"scalar", Metric::pipe, {{0x9, 1}}},
                   {"mte1", Metric::pipe, {{0x302, 1}}},
                   {"mte2", Metric::pipe, {{0xc, 1}}},
                   {"fixpipe", Metric::pipe, {{0x303, 1}}},
                   {"icache_miss_rate", Metric::quotient, {{0x55, 1}, {0x54, 1}}}}});
  sets.push_back({"MemoryAccess",
                  {0x32, 0x3d, 0x3e, 0x206, 0x20c, 0x50c, 0x50d, 0x50e},
                  {{"read_main_memory_datas(KB)", Metric::sum, {{0x50d, 0.125}, {0x50e, 0.125}}},
                   {"write_main_memory_datas(KB)", Metric::sum, {{0x50c, 0.125}}},
                   {"GM_to_L1_datas(KB)", Metric::sum, {{0x32, 0.25}, {0x206, -0.25}}},
                   {"L0C_to_L1_datas(KB)", Metric::sum, {{0x206, 0.125}}},
                   {"L0C_to_GM_datas(KB)", Metric::sum, {{0x20c, 0.125}, {0x206, -0.125}}},
                   {"GM_to_UB_datas(KB)", Metric::sum, {{0x3e, 0.125}}},
                   {"UB_to_GM_datas(KB)", Metric::sum, {{0x3d, 0.125}}}}});
  if (family != Family::ascend310b) return sets;
  sets.push_back({"PipelineExecuteUtilization",
                  {0x12c, 0x49, 0x4a, 0x9, 0x302, 0xc, 0xd, 0x303},
                  {{"vec_exe", Metric::pipe, {{0x12c, 1}}},
                   {"mac_exe", Metric::pipe, {{0x49, 1}, {0x4a, 1}}},
                   {"scalar_exe", Metric::pipe, {{0x9, 1}}},
                   {"mte1_exe", Metric::pipe, {{0x302, 1}}},
                   {"mte2_exe", Metric::pipe, {{0xc, 1}}},
                   {"mte3_exe", Metric::pipe, {{0xd, 1}}},
                   {"fixpipe_exe", Metric::pipe, {{0x303, 1}}}}});
  return sets;
}

// For chips 15 and 16; ten slots.
std::vector<MetricSet> v6_sets() {
  return {{"PipeUtilization",
           {0x501, 0x301, 0x1, 0x701, 0x202, 0x203, 0x34, 0x35, 0x714},
           {{"mac", Metric::pipe, {{0x301, 1}}},
            {"scalar", Metric::pipe, {{0x1, 1}}},
            {"mte1", Metric::pipe, {{0x701, 1}}},
            {"mte2", Metric::pipe, {{0x202, 1}}},
            {"fixpipe", Metric::pipe, {{0x714, 1}}},
            {"icache_miss_rate", Metric::quotient, {{0x35, 1}, {0x34, 1}}}}},
          {"ArithmeticUtilization",
           {0x323, 0x324},
           {{"mac_fp16_ratio", Metric::ratio, {{0x323, 1}}},
            {"mac_int8_ratio", Metric::ratio, {{0x324, 1}}}}},
          {"Memory",
           {0x707, 0x709, 0x400, 0x401},
           {{"l1_read_bw", Metric::bits, {{0x707, 256 * 16}}},
            {"l1_write_bw", Metric::bits, {{0x709, 256 * 8}}},
            {"main_mem_read_bw", Metric::bits, {{0x400, 8 * 8}}},
            {"main_mem_write_bw", Metric::bits, {{0x401, 8 * 8}}}}},
          {"MemoryL0",
           {0x304, 0x703, 0x306, 0x705, 0x30a, 0x308},
           {{"l0a_read_bw", Metric::bits, {{0x304, 256 * 16}}},
            {"l0a_write_bw", Metric::bits, {{0x703, 256 * 16}}},
            {"l0b_read_bw", Metric::bits, {{0x306, 256 * 8}}},
            {"l0b_write_bw", Metric::bits, {{0x705, 256 * 8}}},
            {"l0c_read_bw_cube", Metric::bits, {{0x30a, 256 * 8}}},
            {"l0c_write_bw_cube", Metric::bits, {{0x308, 256 * 8}}}}},
          {"MemoryUB",
           {0x3, 0x5},
           {{"ub_read_bw_scalar", Metric::bits, {{0x3, 128}}},
            {"ub_write_bw_scalar", Metric::bits, {{0x5, 128}}}}},
          {"L2Cache",
           {0x424, 0x425, 0x426, 0x42a, 0x42b, 0x42c},
           {{"read_local_l2_hit", Metric::sum, {{0x424, 1}}},
            {"read_local_l2_miss", Metric::sum, {{0x425, 1}}},
            {"read_local_l2_victim", Metric::sum, {{0x426, 1}}},
            {"write_local_l2_hit", Metric::sum, {{0x42a, 1}}},
            {"write_local_l2_miss", Metric::sum, {{0x42b, 1}}},
            {"write_local_l2_victim", Metric::sum, {{0x42c, 1}}}}}};
}

constexpr std::uint64_t kCycles = 1'000'000;  // a millisecond at 1000 MHz
constexpr double kTotalUs = 1000;
constexpr double kSpanUs = 1100;  // from the start of a task to its end: the total of V6 chips
constexpr double kGib = 1024.0 * 1024 * 1024;

double counter_value(std::size_t slot) {
  return 1000.0 * static_cast<double>(slot * slot + 7);
}

// Values by op_summary's column names without the core prefix.
std::map<std::string, double> expected_values(const MetricSet& set, double total_us = kTotalUs) {
  std::map<unsigned, double> counters;
  for (std::size_t i = 0; i < set.events.size(); ++i) counters[set.events[i]] = counter_value(i);
  std::map<std::string, double> values;
  for (const Metric& metric : set.metrics) {
    double sum = 0;
    for (const auto& [event, factor] : metric.terms) sum += counters.at(event) * factor;
    const double share = sum / kCycles;
    if (metric.form == Metric::pipe) {
      values[metric.name + "_ratio"] = share;
      values[metric.name + "_time(us)"] = total_us * share;
    } else if (metric.form == Metric::bits) {
      values[metric.name + "(GB/s)"] = sum / 8 / 0.001 / kGib;
    } else if (metric.form == Metric::quotient) {
      values[metric.name] = counters.at(metric.terms[0].first) / counters.at(metric.terms[1].first);
    } else {
      values[metric.name] = metric.form == Metric::ratio ? share : sum;
    }
  }
  return values;
}

ProfSetup make_setup(Family family, const std::string& platform, const MetricSet& set) {
  ProfSetup setup = family == Family::ascend310    ? setup_310()
                    : family == Family::ascend310p ? setup_310p()
                    : family == Family::ascend310b ? setup_310b()
                    : family == Family::v6         ? setup_950()
                    : platform == "1"              ? setup_910a()
                                                   : ProfSetup();
  setup.platform = platform;
  setup.aic_metrics = setup.aiv_metrics = set.name;
  std::string events;
  char text[16];
  for (const unsigned event : set.events) {
    std::snprintf(text, sizeof text, "%s0x%x", events.empty() ? "" : ",", event);
    events += text;
  }
  setup.aic_events = setup.aiv_events = events;
  return setup;
}

// Runs a task on the cube cores and, on chips with two kinds of cores, one on the vector cores.
void run_tasks(ProfCapture& run, const MetricSet& set) {
  TaskPmu pmu{kCycles, {}};
  for (std::size_t i = 0; i < set.events.size(); ++i) {
    const auto count = static_cast<std::uint64_t>(counter_value(i));
    i < 8 ? pmu.counters[i] = count : pmu.more[i - 8] = count;
  }
  run.scene.launch({"matmul", "MatMulV2", Core::aic, 1}, {kThread, 1000, 2000},
                   device_task(1, 10'000, 1'110'000), {.pmu = pmu});
  if (run.prof.setup().platform == "5")
    run.scene.launch({"add", "Add", Core::aiv, 1}, {kThread, 3000, 4000},
                     device_task(2, 2'000'000, 3'110'000), {.pmu = pmu});
  run.products();
}

// Metrics of a task in the unified database, by name.
std::map<std::string, double> db_metrics(const ProfCapture& run, const std::string& task) {
  const fs::path db = run.prof.folder() / "msprof_20231114221320.db";
  if (!fs::exists(db)) REQUIRE(run.run({"export", "db", "-q"}).exit_code == 0);
  std::map<std::string, double> values;
  if (query(db, "SELECT name FROM sqlite_master WHERE name = 'TASK_PMU_INFO'").empty()) return {};
  for (const std::string& line :
       query(db,
             "SELECT s.value, printf('%!.17g', p.value) FROM TASK_PMU_INFO p JOIN STRING_IDS s"
             " ON s.id = p.name JOIN TASK t USING (globalTaskId) WHERE t.taskId = " +
                 task)) {
    const std::size_t bar = line.find('|');
    CHECK(values.emplace(line.substr(0, bar), std::stod(line.substr(bar + 1))).second);
  }
  return values;
}

// Checks the cells of an op_summary row; on chips with two kinds of cores, only the cells of
// `side`. Returns the number of checked cells.
std::size_t check_op_summary(const ProfCapture& run, const std::map<std::string, double>& values,
                             const std::string& side, std::size_t row) {
  const CsvTable table = run.table("op_summary");
  std::size_t found = 0;
  for (const auto& [name, value] : values) {
    for (const std::string& prefix : {std::string(), side}) {
      if (std::find(table.header.begin(), table.header.end(), prefix + name) == table.header.end())
        continue;
      INFO(prefix + name);
      ++found;
      const std::string cell = table.cell(row, prefix + name);
      if (cell == "N/A") CHECK(run.prof.setup().platform == "7");
      if (cell != "N/A") CHECK(std::stod(cell) == Approx(value).epsilon(1e-6).margin(0.00051));
    }
  }
  return found;
}

std::string without(std::string name, const std::string& unit) {
  if (name.ends_with(unit)) name.resize(name.size() - unit.size());
  return name;
}

// The database has ns where op_summary has us.
double db_value(const std::string& name, double value) {
  return name.ends_with("(us)") ? value * 1000 : value;
}

}  // namespace

TEST_CASE("every metric set of a 910B has its values, rates in GB/s, and names without units") {
  const auto sets = common_sets(Family::other);
  const std::size_t number = GENERATE_COPY(range(std::size_t{0}, sets.size()));
  const MetricSet& set = sets[number];
  INFO(set.name);
  ProfCapture run(make_setup(Family::other, "5", set));
  run_tasks(run, set);
  const auto values = expected_values(set);
  CHECK(check_op_summary(run, values, "aic_", 0) + check_op_summary(run, values, "aiv_", 1) > 0);
  for (const std::string side : {"aic_", "aiv_"}) {
    INFO(side);
    const auto found = db_metrics(run, side == "aic_" ? "1" : "2");
    const std::string other = side == "aic_" ? "aiv_" : "aic_";
    std::map<std::string, double> expected = {{side + "total_time", kTotalUs * 1000},
                                              {side + "total_cycles", kCycles},
                                              {other + "total_time", 0},
                                              {other + "total_cycles", 0}};
    for (const auto& [name, value] : values) {
      const std::string shown = without(without(without(name, "(us)"), "(GB/s)"), "(KB)");
      expected[side + shown] = db_value(name, value);
      expected[other + shown] = 0;
    }
    CHECK(found.size() == expected.size());
    for (const auto& [name, value] : expected) {
      INFO(name);
      REQUIRE(found.contains(name));
      CHECK(found.at(name) == Approx(value).epsilon(1e-12));
    }
  }
}

TEST_CASE("the metric sets of a 310B have one group, rates by 1024^3, and KB in names") {
  const auto sets = common_sets(Family::ascend310b);
  const std::size_t number = GENERATE_COPY(range(std::size_t{0}, sets.size()));
  const MetricSet& set = sets[number];
  INFO(set.name);
  ProfCapture run(make_setup(Family::ascend310b, "7", set));
  run_tasks(run, set);
  const auto values = expected_values(set);
  CHECK(check_op_summary(run, values, "aic_", 0) == values.size());
  const CsvTable table = run.table("op_summary");
  const auto found = db_metrics(run, "1");
  std::map<std::string, double> expected = {{"total_time", kTotalUs * 1000},
                                            {"total_cycles", kCycles}};
  for (const auto& [name, value] : values) {
    if (table.cell(0, name) == "N/A") continue;  // never has a value
    const bool is_rate = name.ends_with("(GB/s)");
    expected[without(without(name, "(us)"), "(GB/s)")] =
        is_rate ? value * kGib : db_value(name, value);
  }
  CHECK(found.size() == expected.size());
  for (const auto& [name, value] : expected) {
    INFO(name);
    REQUIRE(found.contains(name));
    CHECK(found.at(name) == Approx(value).epsilon(1e-12));
  }
}

TEST_CASE("every metric set of the other chips has its values in op_summary") {
  const auto [family, platform] = GENERATE(table<Family, std::string>({{Family::ascend310, "0"},
                                                                       {Family::other, "1"},
                                                                       {Family::ascend310p, "4"},
                                                                       {Family::other, "8"},
                                                                       {Family::v6, "15"}}));
  for (const MetricSet& set : family == Family::v6 ? v6_sets() : common_sets(family)) {
    INFO(platform << " " << set.name);
    ProfCapture run(make_setup(family, platform, set));
    run_tasks(run, set);
    const double total_us = family == Family::v6 ? kSpanUs : kTotalUs;
    CHECK(check_op_summary(run, expected_values(set, total_us), "aic_", 0) > 0);
  }
}
