// DeviceTasks: converts the records of one device, in order of time, to rows of `task` with
// operators and counters. Keeps open tasks in memory and writes ended tasks in order of start.
// Sources: cann_device.md 5.3, 5.4, 6.5, 14.1 to 14.5.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "import/cann/device_log.hpp"
#include "import/cann/join/device_counts.hpp"
#include "import/cann/join/host_tasks.hpp"
#include "import/cann/join/task_matching.hpp"
#include "session/clock_map.hpp"
#include "store/rows/counter_rows.hpp"
#include "store/rows/task_rows.hpp"
#include "store/trace_db_writer.hpp"

namespace msprof {

// Sets the operator of each AI CPU node to that of the task during which the node ended. Source:
// cann_device.md 21.
class AicpuNames {
 public:
  // `nodes` are those of one device; their op_name_id is set in place.
  explicit AicpuNames(std::vector<AicpuNodeRow>& nodes);

  // Sorts again. Call after the nodes' streams have been set.
  void sort();
  // Reports that an AI CPU operator ran as this task.
  void task(std::uint32_t stream, std::uint32_t task_number, std::int64_t start_ns,
            std::int64_t end_ns, std::int64_t op_name_id);

 private:
  std::vector<AicpuNodeRow>& nodes_;
  std::vector<std::uint32_t> order_;  // sorted by stream, task number, end
};

// V6 chips: when the blocks of a task ran on one kind of core (cann_new_kinds.md 4.1).
struct BlockSpread {
  std::int64_t count = 0;
  std::uint8_t first_core = 0;  // core of the block that started first; the lowest if several did
  std::uint8_t last_core = 0;   // core of the block that started last; the highest if several did
  std::uint64_t first_start = 0;
  std::uint64_t first_end = 0;
  std::uint64_t last_start = 0;
  std::uint64_t last_end = 0;
  std::uint64_t earliest_end = 0;
  std::uint64_t latest_end = 0;
  std::uint64_t busy = 0;  // sum of durations

  void add(const TaskCounters& run);
};

// The counters of a task that is not written yet: those of the task and, for MIX tasks, the sum of
// its blocks on the other cores. Source: cann_device.md 6.1, 6.2, 6.5, 25.2.
struct TaskCounterState {
  CoreCounters main;
  CoreCounters blocks;
  std::int64_t frequency_mhz = 0;
  std::int64_t blocks_left = 0;  // number of blocks still to be added
  BlockSpread runs[2];           // cube cores, vector cores
  CoreKind kind = CoreKind::aic;
  CoreKind block_kind = CoreKind::aic;
  bool has_main = false;
  bool has_blocks = false;
};

class TaskCountersPool {
 public:
  static constexpr std::uint32_t kNoCounters = UINT32_MAX;

  std::uint32_t take();
  void release(std::uint32_t number) { free_.push_back(number); }
  TaskCounterState& operator[](std::uint32_t number) { return states_[number]; }
  const TaskCounterState& operator[](std::uint32_t number) const { return states_[number]; }

 private:
  std::vector<TaskCounterState> states_;
  std::vector<std::uint32_t> free_;
};

// Columns of task_pmu, as indexes into TaskPmuRow::c.
struct PmuCells {
  static constexpr std::size_t kSlots = 8;  // counters of one kind of core in adjacent columns
  static constexpr std::size_t kFrequency = 0;
  static constexpr std::size_t kAicCycles = 1;
  static constexpr std::size_t kAicSlots = 2;
  static constexpr std::size_t kAivCycles = kAicSlots + kSlots;
  static constexpr std::size_t kAivSlots = kAivCycles + 1;
  static constexpr std::size_t kCoreKind = kAivSlots + kSlots;
  // Chips 15 and 16: the ninth and tenth counter.
  static constexpr std::size_t kAicMore = kCoreKind + 1;
  static constexpr std::size_t kAivMore = kAicMore + kPmuSlots - kSlots;
  // V6 chips: running time of the cores of one kind.
  static constexpr std::size_t kAicTime = kAivMore + kPmuSlots - kSlots;
  static constexpr std::size_t kAivTime = kAicTime + 1;
  // Chip 310.
  static constexpr std::size_t kBlockNum = kAicMore;

  // Returns the column of a counter of cube or vector cores.
  static constexpr std::size_t slot(bool is_vector, std::size_t number) {
    if (number < kSlots) return (is_vector ? kAivSlots : kAicSlots) + number;
    return (is_vector ? kAivMore : kAicMore) + number - kSlots;
  }
};
static_assert(PmuCells::slot(true, kPmuSlots - 1) + 1 == PmuCells::kAicTime);
static_assert(PmuCells::kAivTime + 1 == kPmuColumns);

struct DeviceSettings {
  std::uint16_t device = 0;
  const ClockMap* clock = nullptr;
  bool has_batches = true;  // false: task ids do not wrap around
  // Task ids have 32 bits. Records have no stream; it is taken from the host's task.
  bool has_unique_ids = false;
  std::size_t pmu_slots = PmuCells::kSlots;
  std::int64_t frequency_mhz = 0;
  // Changes of the frequency, sorted by ticks; may be null.
  const std::vector<std::pair<std::uint64_t, std::uint32_t>>* frequencies = nullptr;
  OpTable* ops = nullptr;             // may be null
  AicpuNames* aicpu_names = nullptr;  // may be null
  OrderedPmu* ordered_pmu = nullptr;  // may be null
  const TaskWaits* waits = nullptr;   // may be null
};

// Numbers of tasks and of problems, for the report.
struct DeviceTaskCounts {
  std::uint64_t tasks = 0;
  std::uint64_t unknown_types = 0;
  std::uint64_t starts_without_end = 0;
  std::uint64_t ends_without_start = 0;
  std::uint64_t repeated_starts = 0;
  std::uint64_t counters_without_task = 0;
  std::uint64_t blocks_without_task = 0;
  std::uint64_t tasks_of_several_hosts = 0;  // operator unknown
  std::uint64_t hosts_without_task = 0;
};

class DeviceTasks {
 public:
  // Task rows are numbered from `first_id`.
  DeviceTasks(const DeviceSettings& settings, TraceDbWriter& store, HostTaskStore& hosts,
              std::int64_t first_id);

  // Returns the stream of a task with a unique id, as known from the host.
  std::uint32_t find_stream(std::uint32_t task_number) { return hosts_.find_stream(task_number); }

  // Sets the results of the first pass. Call before the first push().
  void begin(DeviceCounts counts);
  // Add records in order of ticks; at equal ticks, logs before counters. A log must be of a task.
  void push(const DeviceLog& log);
  void push(const TaskCounters& counters);
  DeviceTaskCounts finish();

  // Returns the id for the next task.
  std::int64_t next_id() const { return next_id_; }

 private:
  using Slot = TaskPairing::Slot;
  enum class State : std::uint8_t { open, done, dropped };
  struct Task {
    std::int64_t id = 0;
    RecordOrder start;
    std::uint64_t end_ticks = 0;
    std::int64_t type_name_id = kNull;
    HostTask host;
    std::uint32_t context = kInvalidId;
    std::uint32_t counters = TaskCountersPool::kNoCounters;
    std::uint32_t shared = FlatTable::kNotFound;
    std::uint32_t task_number = 0;
    std::uint32_t stream = 0;
    std::uint16_t batch = 0;
    std::uint16_t thread = 0;
    State state = State::open;
    bool has_host = false;
    bool is_late = false;  // later tasks have already been written
    bool is_placeholder = false;
    bool has_ordered_pmu = false;
    CoreKind core = CoreKind::aic;
  };

  void flush_starts();
  void flush();
  void advance_to(std::uint64_t ticks);
  bool is_repeated(std::uint64_t key, const Task& starting) const;
  void start(const Task& starting);
  void end(const DeviceLog& log);
  bool join(Task& task);
  void set_host(Task& task, const HostTask& host);
  void drop(Slot slot);
  void retire(Slot slot);
  void drain();
  void resolve_shared(bool all);
  void write(const Task& task);
  void write_counters(const Task& task);
  void write_blocks(const Task& task, const TaskCounterState& state);
  void write_waits(const Task& task, const TaskRow& row);
  // Returns the stream as in the task's records, which have 16 bits for it.
  std::uint16_t key_stream(const Task& task) const {
    return settings_.has_unique_ids ? std::uint16_t{0} : static_cast<std::uint16_t>(task.stream);
  }
  void drop_marks_of_host(SharedKey& shared);
  Slot open_task(const TaskCounters& counters, std::uint16_t batch) const;
  void add_block(const Task& task, TaskCounterState& state, const TaskCounters& counters);
  TaskCounterState& find_or_add_counters(Task& task);
  std::int64_t frequency_at(std::uint64_t ticks) const;

  DeviceSettings settings_;
  TraceDbWriter& store_;
  HostJoin hosts_;
  HostTaskStore& host_store_;
  DeviceCounts known_{false};
  TaskPairing pairing_;
  std::vector<Task> tasks_;  // indexed by slot
  TaskCountersPool counters_;
  std::deque<Slot> order_;  // tasks not yet written, by start
  std::uint64_t ticks_ = 0;
  std::vector<Task> starting_;  // starts at the current time; without slots
  std::vector<DeviceLog> ending_;
  std::int64_t next_id_ = 0;
  std::int64_t aicpu_kernel_name_id_ = kNull;
  std::int64_t aicpu_unit_name_id_ = kNull;
  DeviceTaskCounts counts_;
};

}  // namespace msprof
