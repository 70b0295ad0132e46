// Rows about counters of tasks. Part of store/schema.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "store/cells.hpp"

namespace msprof {

// The counters of a task in one wide row; `pmu_column` names the columns.
inline constexpr std::size_t kPmuColumns = 26;
struct TaskPmuRow {
  std::int64_t task_id = 0;
  std::int64_t c[kPmuColumns] = {kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull,
                                 kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull,
                                 kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull};

  static constexpr const char* kTable = "task_pmu";
  static constexpr std::array kColumns = {"task_id INTEGER PRIMARY KEY",
                                          "c0",
                                          "c1",
                                          "c2",
                                          "c3",
                                          "c4",
                                          "c5",
                                          "c6",
                                          "c7",
                                          "c8",
                                          "c9",
                                          "c10",
                                          "c11",
                                          "c12",
                                          "c13",
                                          "c14",
                                          "c15",
                                          "c16",
                                          "c17",
                                          "c18",
                                          "c19",
                                          "c20",
                                          "c21",
                                          "c22",
                                          "c23",
                                          "c24",
                                          "c25"};
};

// Names of the columns of task_pmu. svp: "total_cycles", "ddr_read_bytes", … CANN: "frequency_mhz"
// of the cores at the end of the task, "aic_total_cycles", "aic_0x416" (event of
// ai_core_profiling_events), "aiv_total_cycles", "aiv_0x8" (event of aiv_profiling_events). Cores
// that did not run have 0, not null. 310: "block_num", from the record. V6 chips: "aic_time_ns" and
// "aiv_time_ns", the run time of the cores of that type.
struct PmuColumnRow {
  std::int64_t column_number = 0;
  std::int64_t counter_name_id = kNull;

  static constexpr const char* kTable = "pmu_column";
  static constexpr std::array kColumns = {"column_number INTEGER PRIMARY KEY", "counter_name_id"};
};

// L2 cache events of a task; meta "l2_cache.events.<device>" lists the events of the columns.
struct L2CacheRow {
  std::int64_t id = 0;
  std::int64_t device_id = kNull;
  std::int64_t stream_id = kNull;
  std::int64_t task_number = kNull;
  std::int64_t task_type = kNull;
  std::int64_t e[8] = {kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull};

  static constexpr const char* kTable = "l2_cache";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY",
                                          "device_id",
                                          "stream_id",
                                          "task_number",
                                          "task_type",
                                          "e0",
                                          "e1",
                                          "e2",
                                          "e3",
                                          "e4",
                                          "e5",
                                          "e6",
                                          "e7"};
};

}  // namespace msprof
