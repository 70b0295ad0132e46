#include "derive/pmu_metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <memory>

#include "base/number.hpp"
#include "base/vendor_real.hpp"
#include "store/trace_db_writer.hpp"
#include "support/temp_folder.hpp"

using namespace msprof;
using namespace msprof::test;

namespace {
using Events = std::vector<std::uint32_t>;
using Texts = std::vector<std::string>;

const Events kPipe = {0x8, 0xa, 0x9, 0xb, 0xc, 0xd, 0x54, 0x55};
const Events kPipeExct = {0x416, 0x417, 0x9, 0x302, 0xc, 0x303, 0x54, 0x55};

struct Cores {
  std::int64_t platform = 5;
  std::int64_t core_count = 24;
  std::int64_t vector_core_count = 48;
  std::string aic_metrics = "PipeUtilizationExct";
  std::string aiv_metrics = "PipeUtilization";
  Events aic_events = kPipeExct;
  Events aiv_events = kPipe;
  std::int64_t frequency_hz = 1'650'000'000;
  bool has_counters = true;
};

// The counters of one task, as in task_pmu.
struct Record {
  std::int64_t mhz = 1650;
  std::int64_t aic_cycles = 0;
  std::vector<std::int64_t> aic = {};
  std::int64_t aiv_cycles = 0;
  std::vector<std::int64_t> aiv = {};
  std::int64_t kind = 0;
};

constexpr std::size_t kAicAt = 1;
constexpr std::size_t kAivAt = 10;
constexpr std::size_t kKindAt = 19;

class Metrics {
 public:
  explicit Metrics(const Cores& cores) : store_(folder_ / "msprof.db") {
    add_device(0, cores);
    const auto column = [&](std::size_t at, const std::string& name) {
      store_.add(PmuColumnRow{static_cast<std::int64_t>(at), store_.name_id(name)});
    };
    column(0, "frequency_mhz");
    column(kAicAt, "aic_total_cycles");
    for (std::size_t i = 0; i < cores.aic_events.size(); ++i) {
      column(kAicAt + 1 + i, fmt::format("aic_{:#x}", cores.aic_events[i]));
    }
    column(kAivAt, "aiv_total_cycles");
    for (std::size_t i = 0; i < cores.aiv_events.size(); ++i) {
      column(kAivAt + 1 + i, fmt::format("aiv_{:#x}", cores.aiv_events[i]));
    }
    column(kKindAt, "core_kind");
    if (cores.has_counters) store_.add(TaskPmuRow{});
  }
  void add_device(std::int64_t id, const Cores& cores) {
    DeviceRow device;
    device.id = id;
    device.platform = cores.platform;
    device.core_count = cores.core_count;
    device.vector_core_count = cores.vector_core_count;
    device.frequency_hz = cores.frequency_hz;
    if (!cores.aic_metrics.empty()) device.core_metrics_name_id = store_.name_id(cores.aic_metrics);
    if (!cores.aiv_metrics.empty()) {
      device.vector_core_metrics_name_id = store_.name_id(cores.aiv_metrics);
    }
    store_.add(device);
  }

  PmuMetrics& metrics() {
    if (!metrics_) metrics_ = std::make_unique<PmuMetrics>(store_.readable());
    return *metrics_;
  }
  Texts names() {
    Texts names;
    for (const PmuColumn& column : metrics().columns()) names.push_back(column.name);
    return names;
  }
  std::vector<double> values(const Record& record, std::int64_t blocks, std::int64_t mix_blocks,
                             std::int64_t duration_ns, std::int64_t device = 0) {
    std::vector<std::int64_t> cells(kPmuColumns, 0);
    cells[0] = record.mhz;
    cells[kAicAt] = record.aic_cycles;
    std::copy(record.aic.begin(), record.aic.end(), cells.begin() + kAicAt + 1);
    cells[kAivAt] = record.aiv_cycles;
    std::copy(record.aiv.begin(), record.aiv.end(), cells.begin() + kAivAt + 1);
    cells[kKindAt] = record.kind;
    std::vector<double> values(metrics().columns().size());
    metrics().evaluate(device, {cells.data(), blocks, mix_blocks, duration_ns}, values);
    return values;
  }
  // Values as printed in op_summary.
  std::string cells(const Record& record, std::int64_t blocks, std::int64_t mix_blocks,
                    std::int64_t duration_ns) {
    const auto all = values(record, blocks, mix_blocks, duration_ns);
    std::string line;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i != 0) line += ',';
      const PmuUnit unit = metrics().columns()[i].unit;
      if (std::isnan(all[i])) {
        line += "N/A";
      } else if (unit == PmuUnit::cycles) {
        line += std::to_string(static_cast<std::int64_t>(all[i]));
      } else if (unit == PmuUnit::percent) {
        append_fixed3(line, all[i]);
      } else {
        append_sqlite_round3(line, all[i]);
      }
    }
    return line;
  }
  double value(const std::string& name, const Record& record, std::int64_t blocks = 24) {
    const auto all = values(record, blocks, 0, 1000);
    const auto columns = names();
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (columns[i] == name) return all[i];
    }
    FAIL("no column " << name);
    return 0;
  }

 private:
  TempFolder folder_;
  TraceDbWriter store_;
  std::unique_ptr<PmuMetrics> metrics_;
};

Cores one_sided(std::int64_t platform) {
  Cores cores;
  cores.platform = platform;
  cores.aic_metrics = cores.aiv_metrics = "PipeUtilization";
  cores.aic_events = cores.aiv_events = kPipe;
  cores.core_count = 8;
  cores.vector_core_count = 7;
  return cores;
}

Cores with_set(std::int64_t platform, const std::string& set, const Events& events) {
  Cores cores = one_sided(platform);
  cores.aic_metrics = cores.aiv_metrics = set;
  cores.aic_events = cores.aiv_events = events;
  return cores;
}

}  // namespace

TEST_CASE("the default sets of a 910B have the documented columns") {
  Metrics metrics({});
  CHECK(metrics.names() ==
        Texts{"aicore_time(us)",      "aic_total_cycles",     "aic_mac_time(us)",
              "aic_mac_ratio",        "aic_scalar_time(us)",  "aic_scalar_ratio",
              "aic_mte1_time(us)",    "aic_mte1_ratio",       "aic_mte2_time(us)",
              "aic_mte2_ratio",       "aic_fixpipe_time(us)", "aic_fixpipe_ratio",
              "aic_icache_miss_rate", "aiv_time(us)",         "aiv_total_cycles",
              "aiv_vec_time(us)",     "aiv_vec_ratio",        "aiv_scalar_time(us)",
              "aiv_scalar_ratio",     "aiv_mte2_time(us)",    "aiv_mte2_ratio",
              "aiv_mte3_time(us)",    "aiv_mte3_ratio",       "aiv_icache_miss_rate",
              "cube_utilization(%)"});
}

TEST_CASE("the tasks of a recorded 910B have the cells of its op_summary") {
  Metrics metrics({});
  const std::string idle_aic = "0.0,0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,";
  const std::string idle_aiv = "0.0,0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,";
  Record vector{
      1650, 0, {}, 3'986'136, {861035, 464519, 1286589, 1042391, 1988473, 1276841, 1280, 980}, 1};
  CHECK(metrics.cells(vector, 48, 0, 100'660) ==
        idle_aic + "50.33,3986136,10.872,0.216,16.245,0.323,25.107,0.499,16.122,0.32,0.766,0.000");
  Record cube{1650, 217'008, {82502, 29146, 67486, 77747, 104303, 9023, 2428, 2052}, 0, {}, 0};
  CHECK(metrics.cells(cube, 24, 0, 5'480) ==
        "5.48,217008,2.819,0.514,1.704,0.311,1.963,0.358,2.634,0.481,0.228,0.042,0.845," +
            idle_aiv + "100.000");
}

TEST_CASE("a MIX task has block_num for its own cores and mix_block_num for the others") {
  Metrics metrics({});
  Record mix_aic{1650,
                 6864,
                 {2362, 1655, 2813, 200, 3369, 362, 2262, 624},
                 1144,
                 {359, 404, 263, 212, 166, 379, 801, 694},
                 2};
  CHECK(metrics.cells(mix_aic, 2, 4, 2'080) ==
        "2.08,6864,1.217,0.585,0.852,0.41,0.061,0.029,1.021,0.491,0.11,0.053,0.276,"
        "0.173,1144,0.054,0.314,0.04,0.23,0.025,0.145,0.057,0.331,0.866,8.333");
  Record mix_aiv{1650,
                 1276,
                 {363, 409, 314, 253, 307, 124, 1146, 301},
                 7656,
                 {2219, 11, 3557, 2963, 480, 2865, 2886, 212},
                 3};
  CHECK(metrics.cells(mix_aiv, 2, 4, 2'320) ==
        "0.193,1276,0.117,0.605,0.048,0.246,0.038,0.198,0.047,0.241,0.019,0.097,0.263,"
        "2.32,7656,0.672,0.29,1.078,0.465,0.145,0.063,0.868,0.374,0.073,1.389");
}

TEST_CASE("times use the frequency of the task, utilization that of info.json") {
  Metrics metrics({});
  Record record{1650, 1'650'000, {825'000, 0, 0, 0, 0, 0, 0, 0}, 0, {}, 0};
  CHECK(metrics.value("aicore_time(us)", record) == 1'650'000 * 1e6 / 1650e6 / 24);
  const double utilization = metrics.value("cube_utilization(%)", record);
  record.mhz = 825;
  CHECK(metrics.value("aicore_time(us)", record) == 2 * (1'650'000 * 1e6 / 1650e6 / 24));
  CHECK(metrics.value("aic_mac_time(us)", record) ==
        metrics.value("aicore_time(us)", record) * 0.5);
  CHECK(metrics.value("cube_utilization(%)", record) == utilization);
  record.mhz = kNull;
  CHECK(metrics.value("aicore_time(us)", record) == 1'650'000 * 1e6 / 1650e6 / 24);
}

TEST_CASE("more blocks than cores run in rounds") {
  Metrics metrics({});
  const Record record{1000, 1000, {}, 0, {}, 0};
  CHECK(metrics.value("aicore_time(us)", record, 24) == 1000 * 1e6 / 1e9 / 24);
  CHECK(metrics.value("aicore_time(us)", record, 25) == 1000 * 1e6 / 1e9 / 25 * 2);
  CHECK(metrics.value("aicore_time(us)", record, 0) == 0);
}

TEST_CASE("a 310P and a 910A have one group of columns, with times from a total of two decimals") {
  Metrics metrics(one_sided(4));
  CHECK(metrics.names() == Texts{"aicore_time(us)", "total_cycles", "vec_time(us)", "vec_ratio",
                                 "mac_time(us)", "mac_ratio", "scalar_time(us)", "scalar_ratio",
                                 "mte1_time(us)", "mte1_ratio", "mte2_time(us)", "mte2_ratio",
                                 "mte3_time(us)", "mte3_ratio", "icache_miss_rate", "memory_bound",
                                 "cube_utilization(%)"});
  Record record{1650, 13'880, {1281, 3269, 65, 188, 3241, 4673, 1022, 7}, 0, {}, 0};
  CHECK(metrics.cells(record, 20, 0, 13'880) ==
        "1.26,13880,0.116,0.092,0.297,0.236,0.006,0.005,0.017,0.014,0.294,0.234,0.424,0.337,0.007,"
        "0.992,7.576");
  Metrics other(one_sided(1));
  CHECK(other.names() == metrics.names());
}

TEST_CASE("records of vector cores use the same group, with the number of vector cores") {
  Metrics metrics(one_sided(4));
  const Record record{1650, 0, {}, 13'880, {1281, 3269, 65, 188, 3241, 4673, 1022, 7}, 1};
  // 20 blocks on 7 cores take 3 rounds, as on 8 cores.
  CHECK(metrics.cells(record, 20, 0, 13'880).starts_with("1.26,13880,0.116,0.092,"));
  CHECK(metrics.cells(record, 8, 0, 13'880).starts_with("2.1,13880,"));
}

TEST_CASE("memory_bound is computed from the printed ratios") {
  Metrics metrics(one_sided(4));
  // Printed ratios: 0.337 / 0.008; the exact ratios would give 41.3.
  Record record{1650, 100'000, {816, 500, 0, 0, 33'700, 0, 0, 0}, 0, {}, 0};
  CHECK(metrics.value("memory_bound", record) == 42.125);
  record.aic = {0, 0, 0, 0, 33'700, 0, 0, 0};
  CHECK(metrics.value("memory_bound", record) == 0);
}

TEST_CASE("the sets of vector and cube cores omit columns that op_summary never has") {
  Cores cores;
  cores.aic_metrics = cores.aiv_metrics = "ArithmeticUtilization";
  cores.aic_events = cores.aiv_events = {0x49, 0x4a, 0x4b, 0x4c, 0x4d, 0x4e, 0x4f};
  Metrics arithmetic(cores);
  CHECK(arithmetic.names() == Texts{"aicore_time(us)", "aic_total_cycles", "aic_mac_fp16_ratio",
                                    "aic_mac_int8_ratio", "aic_cube_fops", "aiv_time(us)",
                                    "aiv_total_cycles", "aiv_vec_fp32_ratio", "aiv_vec_fp16_ratio",
                                    "aiv_vec_int32_ratio", "aiv_vec_misc_ratio",
                                    "aiv_vector_fops"});
  const Record record{1000, 1000, {1, 2, 3, 4, 5, 6, 7}, 1000, {1, 2, 3, 4, 5, 6, 7}, 2};
  CHECK(arithmetic.value("aic_cube_fops", record) == 8192 + 2 * 16384);
  CHECK(arithmetic.value("aiv_vec_fp16_ratio", record) == 4 / 1000.0 + 5 / 1000.0);
  CHECK(arithmetic.value("aiv_vector_fops", record) == 4 * 128 + 5 * 64 + 3 * 64 + 6 * 64 + 7 * 32);

  cores.aic_metrics = cores.aiv_metrics = "MemoryL0";
  cores.aic_events = cores.aiv_events = {0x1b, 0x1c, 0x21, 0x22, 0x27, 0x28, 0x29, 0x2a};
  CHECK(Metrics(cores).names() ==
        Texts{"aicore_time(us)", "aic_total_cycles", "aic_l0a_read_bw(GB/s)",
              "aic_l0a_write_bw(GB/s)", "aic_l0b_read_bw(GB/s)", "aic_l0b_write_bw(GB/s)",
              "aic_l0c_read_bw_cube(GB/s)", "aic_l0c_write_bw_cube(GB/s)", "aiv_time(us)",
              "aiv_total_cycles", "aiv_l0c_read_bw(GB/s)", "aiv_l0c_write_bw(GB/s)"});

  cores.aic_metrics = cores.aiv_metrics = "Memory";
  cores.aic_events = cores.aiv_events = {0x15, 0x16, 0x31, 0x32, 0xf, 0x10, 0x12, 0x13};
  CHECK(Metrics(cores).names() ==
        Texts{"aicore_time(us)", "aic_total_cycles", "aic_l1_read_bw(GB/s)",
              "aic_l1_write_bw(GB/s)", "aic_main_mem_read_bw(GB/s)", "aic_main_mem_write_bw(GB/s)",
              "aic_l2_read_bw(GB/s)", "aic_l2_write_bw(GB/s)", "aiv_time(us)", "aiv_total_cycles",
              "aiv_ub_read_bw(GB/s)", "aiv_ub_write_bw(GB/s)", "aiv_main_mem_read_bw(GB/s)",
              "aiv_main_mem_write_bw(GB/s)", "aiv_l2_read_bw(GB/s)", "aiv_l2_write_bw(GB/s)"});
}

TEST_CASE("bandwidths are bytes per cycle at the frequency of info.json") {
  Metrics metrics(with_set(1, "Memory", {0x15, 0x16, 0x31, 0x32, 0xf, 0x10, 0x12, 0x13}));
  Record record{825, 1'650'000, {1000, 0, 0, 1000, 0, 0, 1000, 0}, 0, {}, 0};
  // 1.65 million cycles at 1650 MHz are a millisecond.
  CHECK(metrics.value("ub_read_bw(GB/s)", record) ==
        Approx(1000.0 * 256 * 4 / 0.001 / 8589934592.0));
  CHECK(metrics.value("l1_write_bw(GB/s)", record) ==
        Approx(1000.0 * 128 * 8 / 0.001 / 8589934592.0));
  CHECK(metrics.value("main_mem_read_bw(GB/s)", record) ==
        Approx(1000.0 * 8 * 8 / 0.001 / 8589934592.0));
  record.aic_cycles = 0;
  CHECK(metrics.value("ub_read_bw(GB/s)", record) == 0);
}

TEST_CASE("memory accesses are in KB, cache events are counts") {
  Metrics access(
      with_set(1, "MemoryAccess", {0x32, 0x3d, 0x3e, 0x206, 0x20c, 0x50c, 0x50d, 0x50e}));
  const Record record{1650, 1000, {100, 8, 16, 40, 60, 24, 32, 48}, 0, {}, 0};
  CHECK(access.value("read_main_memory_datas(KB)", record) == 10);
  CHECK(access.value("write_main_memory_datas(KB)", record) == 3);
  CHECK(access.value("GM_to_L1_datas(KB)", record) == 15);
  CHECK(access.value("L0C_to_L1_datas(KB)", record) == 5);
  CHECK(access.value("L0C_to_GM_datas(KB)", record) == 2.5);
  CHECK(access.value("GM_to_UB_datas(KB)", record) == 2);
  CHECK(access.value("UB_to_GM_datas(KB)", record) == 1);
  Metrics cache(with_set(1, "L2Cache", {0x500, 0x502, 0x504, 0x506, 0x508, 0x50a}));
  CHECK(cache.value("r0_read_cache_hit", record) == 16);
}

TEST_CASE("chips 15 and 16 have separate sets, and none of the other chips' sets") {
  const auto names = [](int platform, std::string_view set) {
    Texts all;
    for (const PmuMetric& metric : pmu_set(set, platform)) all.push_back(metric.name);
    return all;
  };
  CHECK(names(15, "PipeUtilization") ==
        Texts{"vec_time(us)", "vec_ratio", "mac_time(us)", "mac_ratio", "scalar_time(us)",
              "scalar_ratio", "mte1_time(us)", "mte1_ratio", "mte2_time(us)", "mte2_ratio",
              "mte3_time(us)", "mte3_ratio", "fixpipe_time(us)", "fixpipe_ratio",
              "icache_miss_rate"});
  CHECK(names(16, "ArithmeticUtilization") == Texts{"mac_fp16_ratio", "mac_int8_ratio"});
  CHECK(names(15, "Memory") == Texts{"ub_read_bw(GB/s)", "ub_write_bw(GB/s)", "l1_read_bw(GB/s)",
                                     "l1_write_bw(GB/s)", "main_mem_read_bw(GB/s)",
                                     "main_mem_write_bw(GB/s)"});
  CHECK(names(17, "MemoryL0") ==
        Texts{"l0a_read_bw(GB/s)", "l0a_write_bw(GB/s)", "l0b_read_bw(GB/s)", "l0b_write_bw(GB/s)",
              "l0c_read_bw(GB/s)", "l0c_read_bw_cube(GB/s)", "l0c_write_bw_cube(GB/s)"});
  CHECK(names(18, "MemoryUB") == Texts{"ub_read_bw_mte(GB/s)", "ub_write_bw_mte(GB/s)",
                                       "ub_read_bw_vector(GB/s)", "ub_write_bw_vector(GB/s)",
                                       "ub_read_bw_scalar(GB/s)", "ub_write_bw_scalar(GB/s)",
                                       "fixp2ub_write_bw(GB/s)"});
  CHECK(names(15, "ResourceConflictRatio") == Texts{"vec_bank_cflt_ratio", "vec_resc_cflt_ratio"});
  CHECK(names(15, "L2Cache") == Texts{"read_local_l2_hit", "read_local_l2_miss",
                                      "read_local_l2_victim", "write_local_l2_hit",
                                      "write_local_l2_miss", "write_local_l2_victim"});
  for (const char* set : {"PipeUtilizationExct", "MemoryAccess", "PipeStallCycle"})
    CHECK(pmu_set(set, 15).empty());
  CHECK(pmu_set("Custom:0x501", 15).size() == 1);
  // The meaning of these chips' events is unknown.
  CHECK(pmu_set("PipeUtilization", 12).empty());
  CHECK(pmu_set("PipeUtilization", 21).empty());
}

TEST_CASE("rates and ratios of chips 15 and 16 are computed from their own events, per core type") {
  // 1.65 million cycles at 1650 MHz are a millisecond.
  const auto gib = [](double bits) { return Approx(bits / 0.001 / 8589934592.0); };
  Record record{1650,
                1'650'000,
                {1000, 2000, 3000, 4000, 5000, 6000, 7000},
                1'650'000,
                {1000, 2000, 3000, 4000, 5000, 6000, 7000},
                0};
  Metrics plain(with_set(15, "Memory", {0x56f, 0x571, 0x570, 0x707, 0x709, 0x400, 0x401}));
  CHECK(plain.value("aiv_ub_read_bw(GB/s)", record) == gib(3000.0 * 1024));
  CHECK(plain.value("aiv_ub_write_bw(GB/s)", record) == gib(3000.0 * 1024));
  CHECK(plain.value("aic_l1_read_bw(GB/s)", record) == gib(4000.0 * 4096));
  CHECK(plain.value("aic_l1_write_bw(GB/s)", record) == gib(5000.0 * 2048));
  CHECK(plain.value("aic_main_mem_write_bw(GB/s)", record) == gib(7000.0 * 64));
  // Vector writes count if they were recorded.
  Metrics vectors(with_set(15, "Memory", {0x56f, 0x571, 0x570, 0x572}));
  CHECK(vectors.value("aiv_ub_write_bw(GB/s)", record) == gib(7000.0 * 1024));
  Metrics l0(with_set(15, "MemoryL0", {0x304, 0x703, 0x306, 0x705, 0x712, 0x30a, 0x308}));
  CHECK(l0.value("aic_l0b_read_bw(GB/s)", record) == gib(3000.0 * 2048));
  CHECK(l0.value("aic_l0c_read_bw_cube(GB/s)", record) == gib(6000.0 * 2048));
  Metrics ub(with_set(15, "MemoryUB", {0x204, 0x206, 0x571, 0x572, 0x3, 0x5, 0x70c}));
  CHECK(ub.value("aiv_ub_write_bw_vector(GB/s)", record) == gib(4000.0 * 256));
  CHECK(ub.value("aic_fixp2ub_write_bw(GB/s)", record) == gib(7000.0 * 2048));
  Metrics conflicts(with_set(15, "ResourceConflictRatio", {0x540, 0x556, 0x528, 0x502}));
  CHECK(conflicts.value("aiv_vec_bank_cflt_ratio", record) == Approx(3000.0 / 1'650'000));
  CHECK(conflicts.value("aiv_vec_resc_cflt_ratio", record) == Approx(0.75));
  record.aiv[3] = 0;
  CHECK(conflicts.value("aiv_vec_resc_cflt_ratio", record) == 0);
}

TEST_CASE("a 310 has separate factors, and rates relative to the time of all rounds") {
  Cores cores = with_set(0, "ArithmeticUtilization", {0x49, 0x4a, 0x4b, 0x4c, 0x4d, 0x4e, 0x4f});
  const Record record{1650, 100'000, {12'345, 0, 1, 2, 3, 4, 5}, 0, {}, 0};
  CHECK(Metrics(cores).value("mac_fp16_ratio", record) == 0.12345);
  CHECK(Metrics(cores).value("vector_fops", record) == 32 + 256 + 192 + 256 + 160);
  // 24 blocks on 8 cores take 3 rounds, so the time for rates is 3/24 of the 1 ms of total cycles.
  Metrics ub(with_set(0, "MemoryUB", {0x43, 0x44, 0x37, 0x38, 0x3d, 0x3e}));
  const Record counts{1650, 1'650'000, {1000, 1000, 1000, 1000, 1000, 1000}, 0, {}, 0};
  const auto gib = [](double bits) { return Approx(bits / 0.000125 / 8589934592.0); };
  CHECK(ub.value("ub_read_bw_vector(GB/s)", counts) == gib(1000.0 * 4096));
  CHECK(ub.value("ub_write_bw_vector(GB/s)", counts) == gib(1000.0 * 2048));
  CHECK(ub.value("ub_read_bw_scalar(GB/s)", counts) == gib(1000.0 * 8192));
  CHECK(ub.value("ub_write_bw_mte(GB/s)", counts) == gib(1000.0 * 1024));
  CHECK(pmu_set("MemoryAccess", 0).empty());
}

TEST_CASE("idle cubes are not in use, except on chips with native metrics") {
  const Record vectors{1650, 13'880, {1281, 0, 65, 188, 3241, 4673, 1022, 7}, 0, {}, 0};
  CHECK(Metrics(one_sided(7)).value("cube_utilization(%)", vectors) == 0);
  Metrics later(with_set(15, "PipeUtilization", {0x501, 0x301, 0x1, 0x701, 0x202, 0x203, 0x714}));
  CHECK(later.value("cube_utilization(%)", vectors) > 0);
}

TEST_CASE("custom events are integer columns r<hex>") {
  CHECK(Metrics(with_set(1, "Custom:73,8", {0x49, 0x8})).names() ==
        Texts{"aicore_time(us)", "total_cycles", "r49", "r8"});
  Cores cores = with_set(1, "Custom:0x8,0x0C,zz,0x1ffffffff,", {0x8, 0xc});
  Metrics metrics(cores);
  CHECK(metrics.names() == Texts{"aicore_time(us)", "total_cycles", "r8", "rc"});
  CHECK(metrics.cells({1650, 0, {7, 9}, 0, {}, 0}, 1, 0, 1) == "0.0,0,7,9");
  cores.platform = 5;
  CHECK(Metrics(cores).names() == Texts{"aicore_time(us)", "aic_total_cycles", "aic_r8", "aic_rc",
                                        "aiv_time(us)", "aiv_total_cycles", "aiv_r8", "aiv_rc"});
}

TEST_CASE("a 310B has one group, and columns without values") {
  Metrics metrics(with_set(7, "PipeUtilization", kPipe));
  const Record record{1650, 1000, {100, 200, 300, 0, 400, 0, 2, 1}, 0, {}, 0};
  CHECK(std::isnan(metrics.value("vec_ratio", record)));
  CHECK(std::isnan(metrics.value("vec_time(us)", record)));
  CHECK(std::isnan(metrics.value("memory_bound", record)));
  CHECK(metrics.value("mac_ratio", record) == 0.2);
  CHECK(metrics.value("icache_miss_rate", record) == 0.5);
  Metrics execute(
      with_set(7, "PipelineExecuteUtilization", {0x12c, 0x49, 0x4a, 0x9, 0x302, 0xc, 0xd, 0x303}));
  CHECK(execute.names() == Texts{"aicore_time(us)", "total_cycles", "vec_exe_time(us)",
                                 "vec_exe_ratio", "mac_exe_time(us)", "mac_exe_ratio",
                                 "scalar_exe_time(us)", "scalar_exe_ratio", "mte1_exe_time(us)",
                                 "mte1_exe_ratio", "mte2_exe_time(us)", "mte2_exe_ratio",
                                 "mte3_exe_time(us)", "mte3_exe_ratio", "fixpipe_exe_time(us)",
                                 "fixpipe_exe_ratio", "memory_bound"});
  CHECK(execute.value("memory_bound", {1650, 1000, {100, 100, 100, 0, 0, 400, 0, 0}, 0, {}, 0}) ==
        2);
}

TEST_CASE("metrics whose events were not recorded have no columns") {
  Cores cores;
  cores.aic_events = {0x416, 0x9};
  cores.aiv_metrics = "";
  CHECK(Metrics(cores).names() ==
        Texts{"aicore_time(us)", "aic_total_cycles", "aic_scalar_time(us)", "aic_scalar_ratio"});
}

TEST_CASE("there are no columns without counters, without a set, without a device") {
  Cores cores;
  cores.has_counters = false;
  CHECK(Metrics(cores).names().empty());
  cores = {};
  cores.aic_metrics = cores.aiv_metrics = "";
  CHECK(Metrics(cores).names().empty());
  Metrics unknown({});
  const auto values = unknown.values({}, 1, 1, 1, 7);
  CHECK(std::all_of(values.begin(), values.end(), [](double v) { return std::isnan(v); }));
}

TEST_CASE("each device has its own number of cores") {
  Metrics metrics({});
  Cores other;
  other.core_count = 12;
  metrics.add_device(1, other);
  const Record record{1650, 1'650'000, {}, 0, {}, 0};
  const auto first = metrics.values(record, 24, 0, 1000, 0);
  const auto second = metrics.values(record, 24, 0, 1000, 1);
  CHECK(second[0] == 2 * first[0]);
}

TEST_CASE("a column evaluated alone has the same value as with all columns") {
  const Record record{
      1650, 4000, {900, 800, 700, 600, 500, 400, 300, 20}, 3000, {100, 200, 300, 400, 50, 60, 7, 8},
      0};
  for (const Cores& cores :
       {Cores{}, one_sided(3),
        with_set(1, "PipelineExecuteUtilization", {0x416, 0x417, 0x9, 0x302, 0xc})}) {
    Metrics metrics(cores);
    const auto all = metrics.values(record, 8, 4, 2000);
    REQUIRE(all.size() > 4);
    for (std::size_t one = 0; one < all.size(); ++one) {
      INFO(metrics.names()[one]);
      std::vector<bool> wanted(all.size(), false);
      wanted[one] = true;
      metrics.metrics().evaluate_only(wanted);
      const auto alone = metrics.values(record, 8, 4, 2000);
      CHECK((alone[one] == all[one] || (std::isnan(alone[one]) && std::isnan(all[one]))));
      // Besides the column, only its inputs are evaluated: at most three ratios.
      CHECK(std::count_if(alone.begin(), alone.end(), [](double v) { return !std::isnan(v); }) <=
            4);
    }
    metrics.metrics().evaluate_only(std::vector<bool>(all.size(), true));
    CHECK(metrics.cells(record, 8, 4, 2000).size() > 20);
  }
}

TEST_CASE("all counter values give numbers") {
  Metrics metrics({});
  for (const std::int64_t counter : {std::int64_t{-1}, std::int64_t{INT64_MAX}, kNull}) {
    Record record{counter,
                  counter,
                  std::vector<std::int64_t>(8, counter),
                  counter,
                  std::vector<std::int64_t>(8, counter),
                  0};
    for (const double value : metrics.values(record, 1, 1, 1)) CHECK(std::isfinite(value));
    for (const double value : metrics.values(record, -1, INT64_MAX, 0)) CHECK(std::isfinite(value));
  }
}
