// Common tables of the store: every raw kind ends in them and every export reads them.
// Declared once, in rows/: a row is a struct of integers in the order of its columns; texts are ids
// into the table `name`. kNull is a cell without a value. Times are nanoseconds of the capture's
// clock; CANN times are wall-clock nanoseconds since 1970.
#pragma once

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

// Raised whenever a table changes, or what `meta` must say; a store of another version is imported
// again.
inline constexpr int kSchemaVersion = 13;
inline constexpr int kApplicationId = 0x4d535052;  // "MSPR" in the file header

// Every table of integers; a new one is a struct in rows/ and its name here.
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

// Tables of a store as SQL declares them: for making a store, for recognizing one as ours, and for
// the documentation of what can be asked.

struct StoreTable {
  std::string name;
  std::vector<std::string> columns;  // declarations: "id INTEGER PRIMARY KEY"
};

// The tables of integers first, in the order of BulkRows (schema.hpp), then those with texts.
const std::vector<StoreTable>& store_tables();

// The table of rows that are structs (rows/): columns without a type are INTEGER.
template <typename Row>
StoreTable table_of() {
  StoreTable table{Row::kTable, {}};
  for (const std::string_view column : Row::kColumns) {
    table.columns.emplace_back(column);
    if (column.find(' ') == std::string_view::npos) table.columns.back() += " INTEGER";
  }
  return table;
}
template <typename... Row>
std::vector<StoreTable> tables_of(std::tuple<Row...>*) {
  return {table_of<Row>()...};
}

// "CREATE TABLE name (…)", as the database keeps it.
std::string creation_of(const StoreTable& table);

// True if `db` holds `tables`, just as they are declared, and indexes, and nothing else. A file
// from elsewhere could have views in their place, which run what they like.
bool has_tables(const Database& db, const std::vector<StoreTable>& tables);
// The same for those of a store.
bool has_our_tables(const Database& db);

// Values of the table `meta`: facts of a store about its capture as a whole.
// For all readers of a store.

// Text of a key; empty if there is no such key.
std::string read_meta(const Database& db, std::string_view key);
// The value as a whole decimal number; empty where there is none.
std::optional<std::int64_t> read_meta_integer(const Database& db, std::string_view key);

}  // namespace msprof
