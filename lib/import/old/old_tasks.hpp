// Runs of tasks on a device of an old capture: pairs starts with ends, assigns counters, and writes
// rows. Used by the joins of CANN 5 and of classic captures. Source: cann5_classic.md 5.1, 5.2, 9.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "import/cann/cann_import.hpp"
#include "import/old/old_ops.hpp"
#include "session/clock_map.hpp"
#include "store/trace_db_writer.hpp"

namespace msprof::old {

// An execution of a task. Null times: not recorded.
struct OldTaskRun {
  static constexpr std::uint32_t kNoCounters = UINT32_MAX;
  std::uint64_t start_ticks = 0;
  std::uint64_t end_ticks = 0;
  std::uint32_t stream = 0;
  std::uint16_t task = 0;
  std::uint16_t type = 0;           // 310 only: type number of its scheduler
  std::uint64_t waiting_ticks = 0;  // 0: not recorded
  std::uint64_t pending_ticks = 0;
  std::uint32_t counters = kNoCounters;  // index of its counter record
  bool is_vector = false;                // from the log of the vector cores
};

// Pairs a start with the next end of its stream and task, in file order. If two
// starts follow each other, the later one is used; an end without a start is dropped.
class RunPairing {
 public:
  void start(std::uint32_t stream, std::uint16_t task, std::uint64_t ticks, std::uint16_t type = 0);
  void end(std::uint32_t stream, std::uint16_t task, std::uint64_t ticks);
  // Times before the start (310 only).
  void waiting(std::uint32_t stream, std::uint16_t task, std::uint64_t ticks);
  void pending(std::uint32_t stream, std::uint16_t task, std::uint64_t ticks);

  // Returns the runs that have an end, in order of end. Call after the last record.
  std::deque<OldTaskRun> take();
  std::uint64_t repeated_starts() const { return repeated_starts_; }
  std::uint64_t ends_without_start() const { return ends_without_start_; }
  std::uint64_t starts_without_end() const { return starts_without_end_; }

 private:
  struct Open {
    OldTaskRun run;
    bool has_start = false;
  };
  static std::uint64_t make_key(std::uint32_t stream, std::uint16_t task) {
    return std::uint64_t{stream} << 16 | task;
  }
  Open& find_or_add_open(std::uint32_t stream, std::uint16_t task);

  std::unordered_map<std::uint64_t, Open> open_;
  std::deque<OldTaskRun> runs_;
  std::uint64_t repeated_starts_ = 0;
  std::uint64_t ends_without_start_ = 0;
  std::uint64_t starts_without_end_ = 0;
};

// The counters of many tasks. Stored compactly, because there are as many as tasks and nearly all
// fit 32 bits.
class CounterTable {
 public:
  void add(const CoreCounters& counters);
  std::uint32_t size() const { return static_cast<std::uint32_t>(small_.size()); }
  CoreCounters at(std::uint32_t place) const;

 private:
  static constexpr std::size_t kSlots = 8;                   // counters per record on old chips
  std::deque<std::array<std::uint32_t, kSlots + 2>> small_;  // cycles, blocks, counters
  std::unordered_map<std::uint32_t, CoreCounters> large_;    // records that do not fit
};

// Contents of the task logs, for the report.
struct LogCounts {
  std::uint64_t records = 0;
  std::uint64_t others = 0;  // neither start nor end
  std::uint64_t lost = 0;    // minimum, from the 4-bit counter
  std::uint64_t repeated_starts = 0;
  std::uint64_t ends_without_start = 0;
  std::uint64_t starts_without_end = 0;
};

// The runs of a device, vector core runs last. Reads logs on a 910, states on a 310. The k-th
// counter record of a stream and task belongs to its k-th run; if the start of the file was
// deleted, both are counted from the end. Problems are reported as findings.
struct DeviceRuns {
  std::deque<OldTaskRun> runs;
  CounterTable counters;
  LogCounts counts;
};
DeviceRuns read_runs(const ImportContext& context, cann::CannImport& import, const CannPart& part);

// A run with the contents of its row. The rows of a device are written in order of start.
struct OldTask {
  std::int64_t start_ns = kNull;
  std::int64_t end_ns = kNull;
  std::int64_t duration_ns = kNull;
  std::int64_t op_id = kNull;
  std::int64_t kernel_name_id = kNull;
  std::int64_t host_type_name_id = kNull;
  std::int64_t device_type_name_id = kNull;
  std::int64_t model_number = kNull;
  std::int64_t batch = 0;
  std::int64_t waiting_ns = kNull;
  std::int64_t pending_ns = kNull;
  std::int64_t comm_call_id = kNull;
  std::uint32_t stream = 0;
  std::uint32_t task = 0;
  std::uint32_t counters = OldTaskRun::kNoCounters;
  OpKind kind = OpKind::ai_core;
  bool is_vector = false;  // its counters are from a vector core
};

// Converts a run with the clock of its device; the kind is taken from the log.
OldTask make_task(const OldTaskRun& run, const CannPart& part, TraceDbWriter& store, bool is_310);

struct TaskRows {
  TraceDbWriter& store;
  std::int64_t next_task_id = 1;
  std::int64_t next_run_id = 1;

  // Writes rows in order of start. OldTaskRun::counters refers to `counters`.
  void write(std::int64_t device, std::vector<OldTask>& tasks, const CounterTable& counters,
             std::int64_t frequency_mhz, bool has_blocks);
};

}  // namespace msprof::old
