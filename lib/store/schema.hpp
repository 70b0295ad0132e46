// Common tables of the store: every raw kind is converted to them and every export reads them.
// Declared only in rows/: a row is a struct of integers in column order; texts are ids into the
// table `name`. kNull is a missing value. Times are nanoseconds of the capture's clock; CANN times
// are wall-clock nanoseconds since 1970.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "store/database.hpp"
#include "store/rows/capture_rows.hpp"
#include "store/rows/comm_rows.hpp"
#include "store/rows/counter_rows.hpp"
#include "store/rows/engine_rows.hpp"
#include "store/rows/host_rows.hpp"
#include "store/rows/mark_rows.hpp"
#include "store/rows/old_rows.hpp"
#include "store/rows/runtime_rows.hpp"
#include "store/rows/task_rows.hpp"
#include "store/rows/time_rows.hpp"

namespace msprof {

// Increased whenever a table, or the required content of `meta`, changes; stores of other versions
// are imported again.
inline constexpr int kSchemaVersion = 13;
inline constexpr int kApplicationId = 0x4d535052;  // "MSPR" in ASCII, stored in the file header

// All integer tables; to add one, define a struct in rows/ and list it here.
using BulkRows =
    std::tuple<DeviceRow, ModelRow, StepRow, StepTimeRow, OpRow, TaskRow, TaskRunRow, TaskPmuRow,
               PmuColumnRow, TaskWaitRow, TaskBlocksRow, OpTimeRow, LayerTimeRow, ExecutionTimeRow,
               TaskRunTimeRow, ApiCallRow, CallDetailRow, MemcpyTaskRow, AicpuNodeRow,
               AicpuThreadRow, OpTaskRow, TaskLaunchRow, L2CacheRow, UserRangeRow, DeviceMarkRow,
               MemoryEventRow, RuntimeMemoryRow, RuntimeBlockRow, RuntimeCopyRow, MemoryBlockRow,
               FusionOpRow, DataQueueRow, CommCallRow, CommTaskRow, CommOpRow, CommOpTaskRow,
               CommSpanRow, KfcStreamRow, StepMarkRow, IterationRow, IterationPartRow, TrackRow,
               CounterRow, OverlapRow, LogicStreamRow, TimeBlockRow, TaskMarkRow, CallMarkRow,
               ExecutionCallRow, CommOpMarkRow, CommGroupRow, FusionPartRow, CcuSpanRow, CcuRankRow,
               CcuChannelRow, DpuTaskRow, BiuSpanRow, PageFaultRow, StreamQueueRow>;

// SQL declarations of a store's tables, used to create a store, to recognize an msprof store, and
// to document the tables.

struct StoreTable {
  std::string name;
  std::vector<std::string> columns;  // declarations: "id INTEGER PRIMARY KEY"
};

// Integer tables first, in the order of BulkRows, then tables with texts.
const std::vector<StoreTable>& store_tables();

// Returns the table for a row struct (rows/): columns without a type are INTEGER.
template <typename Row>
StoreTable make_table() {
  StoreTable table{Row::kTable, {}};
  for (const std::string_view column : Row::kColumns) {
    table.columns.emplace_back(column);
    if (column.find(' ') == std::string_view::npos) table.columns.back() += " INTEGER";
  }
  return table;
}
template <typename... Row>
std::vector<StoreTable> make_tables(std::tuple<Row...>*) {
  return {make_table<Row>()...};
}

// Returns "CREATE TABLE name (…)", as stored in the database.
std::string create_statement(const StoreTable& table);

// The indexes of a store, without which readers of many steps would take quadratic time.
struct StoreIndex {
  const char* name;
  const char* on;  // "table(column)"
};
inline constexpr StoreIndex kTaskRunOfStep = {"task_run_of_step", "task_run(step_id)"};
inline constexpr StoreIndex kLayerTimeOfStep = {"layer_time_of_step", "layer_time(step_id)"};
inline constexpr std::array kStoreIndexes = {kTaskRunOfStep, kLayerTimeOfStep};

// Returns "CREATE INDEX name ON table(column)", as stored in the database.
std::string create_statement(const StoreIndex& index);

// Returns true if `db` holds exactly `tables`, as declared, and otherwise only indexes. An
// untrusted file could have views of the same names, which can run arbitrary SQL.
bool has_tables(const Database& db, const std::vector<StoreTable>& tables);
// Same, for the tables of a store; it must also have all of its indexes.
bool has_our_tables(const Database& db);

// Values of the table `meta`: facts about the capture as a whole. For all readers of a store.

// Returns the text of a key; empty if the key is missing.
std::string read_meta(const Database& db, std::string_view key);
// Returns the value as a decimal integer; empty if it is missing or not a number.
std::optional<std::int64_t> read_meta_integer(const Database& db, std::string_view key);

}  // namespace msprof
