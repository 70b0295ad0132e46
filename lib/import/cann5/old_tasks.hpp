// Runs of tasks on a device of an old capture: starts and ends put together, counters given to
// them, and their rows. For the associations of CANN 5 and of classic captures.
// Source: cann5_classic.md 5.1, 5.2, 9.
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
#include "import/cann5/old_ops.hpp"
#include "session/clock_map.hpp"
#include "store/trace_db_writer.hpp"

namespace msprof::cann5 {

// An execution of a task. Null times: not seen.
struct Run {
  static constexpr std::uint32_t kNoCounters = UINT32_MAX;
  std::uint64_t start_ticks = 0;
  std::uint64_t end_ticks = 0;
  std::uint32_t stream = 0;
  std::uint16_t task = 0;
  std::uint16_t type = 0;           // of a 310: as its scheduler numbers them
  std::uint64_t waiting_ticks = 0;  // 0: not seen
  std::uint64_t pending_ticks = 0;
  std::uint32_t counters = kNoCounters;  // place among the records of counters
  bool is_vector = false;                // of the log of the vector cores
};

// A start and the next end of its stream and task, in the order of the file. Of two starts the
// later counts; an end without a start is dropped.
class RunPairing {
 public:
  void start(std::uint32_t stream, std::uint16_t task, std::uint64_t ticks, std::uint16_t type = 0);
  void end(std::uint32_t stream, std::uint16_t task, std::uint64_t ticks);
  // A moment before the start, of a 310.
  void waiting(std::uint32_t stream, std::uint16_t task, std::uint64_t ticks);
  void pending(std::uint32_t stream, std::uint16_t task, std::uint64_t ticks);

  // After the last record: those that have an end, in the order of the ends.
  std::deque<Run> take();
  std::uint64_t repeated_starts() const { return repeated_starts_; }
  std::uint64_t ends_without_start() const { return ends_without_start_; }
  std::uint64_t starts_without_end() const { return starts_without_end_; }

 private:
  struct Open {
    Run run;
    bool has_start = false;
  };
  static std::uint64_t key_of(std::uint32_t stream, std::uint16_t task) {
    return std::uint64_t{stream} << 16 | task;
  }
  Open& open_of(std::uint32_t stream, std::uint16_t task);

  std::unordered_map<std::uint64_t, Open> open_;
  std::deque<Run> runs_;
  std::uint64_t repeated_starts_ = 0;
  std::uint64_t ends_without_start_ = 0;
  std::uint64_t starts_without_end_ = 0;
};

// The counters of many tasks. Nearly all fit in 32 bits, and there are as many as tasks.
class CounterTable {
 public:
  void add(const CoreCounters& counters);
  std::uint32_t size() const { return static_cast<std::uint32_t>(small_.size()); }
  CoreCounters at(std::uint32_t place) const;

 private:
  static constexpr std::size_t kSlots = 8;                   // of the chips of that time
  std::deque<std::array<std::uint32_t, kSlots + 2>> small_;  // cycles, blocks, counters
  std::unordered_map<std::uint32_t, CoreCounters> large_;    // those that do not fit
};

// What the log of the tasks had, for the report.
struct LogCounts {
  std::uint64_t records = 0;
  std::uint64_t others = 0;  // neither start nor end
  std::uint64_t lost = 0;    // by the counter of 4 bits: at least so many
  std::uint64_t repeated_starts = 0;
  std::uint64_t ends_without_start = 0;
  std::uint64_t starts_without_end = 0;
};

// The runs of a device, those of its vector cores behind the others: by the logs of a 910, by the
// states of a 310. Each has its counters: the k-th record of a stream and task is of its k-th run,
// from the last where the head of the file is lost. What was left out is in the report.
struct DeviceRuns {
  std::deque<Run> runs;
  CounterTable counters;
  LogCounts counts;
};
DeviceRuns read_runs(const ImportContext& context, cann::CannImport& import, const CannPart& part);

// A run with all that its row says. The rows of a device are written in the order of the starts.
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
  std::uint32_t counters = Run::kNoCounters;
  OpKind kind = OpKind::ai_core;
  bool is_vector = false;  // its counters are those of a vector core
};

// A run by the clock of its device, with the kind that the log says.
OldTask task_of(const Run& run, const CannPart& part, TraceDbWriter& store, bool is_310);

struct TaskRows {
  TraceDbWriter& store;
  std::int64_t next_task_id = 1;
  std::int64_t next_run_id = 1;

  // In the order of their starts; `counters` are what Run::counters means.
  void write(std::int64_t device, std::vector<OldTask>& tasks, const CounterTable& counters,
             std::int64_t frequency_mhz, bool has_blocks);
};

}  // namespace msprof::cann5
