// The common tables of the store: what every raw kind ends in and every export reads.
// Declared once, in rows/: a row is a struct of integers in the order of its columns; texts are ids
// into the table `name`. kNull is a cell without a value. Times are nanoseconds of the capture's
// clock; CANN times are wall-clock nanoseconds since 1970.
#pragma once

#include <tuple>

#include "store/rows/capture_rows.hpp"
#include "store/rows/comm_rows.hpp"
#include "store/rows/host_rows.hpp"
#include "store/rows/task_rows.hpp"

namespace msprof {

// Raised whenever a table changes; a store of another version is imported again.
inline constexpr int kSchemaVersion = 4;

// Every table of integers; a new one is a struct in rows/ and its name here.
using BulkRows = std::tuple<DeviceRow, ModelRow, StepRow, StepTimeRow, OpRow, TaskRow, TaskRunRow,
                            TaskPmuRow, PmuColumnRow, ApiCallRow, MemcpyTaskRow, AicpuNodeRow,
                            L2CacheRow, UserRangeRow, DeviceMarkRow, MemoryEventRow, MemoryBlockRow,
                            FusionOpRow, DataQueueRow, CommCallRow, CommTaskRow, CommOpRow,
                            CommOpTaskRow, CommSpanRow, KfcStreamRow, StepMarkRow, IterationRow,
                            IterationPartRow, TrackRow, CounterRow, OverlapRow, LogicStreamRow>;

}  // namespace msprof
