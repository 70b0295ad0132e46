// Decoded records of a device about its tasks: starts and ends, counters of the
// cores. Of every chip; for the device association. Ticks are of the device's counter.
#pragma once

#include <array>
#include <cstdint>

#include "import/cann/join/host_tasks.hpp"
#include "import/cann/join/task_matching.hpp"

namespace msprof {

// Cores that a task used; the numbers are those of the column "core_kind" of task_pmu.
enum class CoreKind : std::uint8_t { aic = 0, aiv = 1, mix_aic = 2, mix_aiv = 3 };

struct DeviceLog {
  RecordOrder place;
  std::int64_t type_name_id = kNull;  // "AIV_SQE"; null: a number without a name
  std::uint32_t context = kNone32;
  std::uint32_t task_number = 0;
  std::uint16_t stream = 0;  // 0 where task ids are unique: only the host knows it
  std::uint16_t thread = 0;  // of an FFTS+ sub task: distinguishes starts of one moment
  bool is_start = false;
  // A task that counts only where the host launched one and no other record shows it.
  bool is_stand_in = false;
  // Chips without times in their counters: the core whose counters belong to it, in order.
  bool has_ordered_pmu = false;
  CoreKind core = CoreKind::aic;
};

// Counters of a record: 8, on chips 15 and 16 all of them.
inline constexpr std::size_t kPmuSlots = 10;

struct CoreCounters {
  std::uint64_t total_cycles = 0;
  std::array<std::uint64_t, kPmuSlots> counters{};
  std::uint32_t block_num = 0;  // 310: as the record says it
  std::uint64_t ticks = 0;      // V6 chips: from the start to the end of the record; else 0
};

// The counters of the task as a whole (context PMU, aicore records).
struct TaskCounters {
  RecordOrder end;
  CoreCounters values;
  std::uint32_t context = kNone32;
  std::uint32_t task_number = 0;
  std::uint16_t stream = 0;
  CoreKind kind = CoreKind::aic;
};

// The counters of one block of a MIX task on its secondary cores.
struct BlockCounters : TaskCounters {};

// The counters of a MIX task of V6 chips on the cores that are not its main ones. `kind` is that of
// the task.
struct OtherCoreCounters : TaskCounters {
  explicit OtherCoreCounters(const TaskCounters& counters) : TaskCounters(counters) {}
};

// One block of a task of V6 chips: where it ran, from `start_ticks` to `end`.
struct BlockRun {
  RecordOrder end;
  std::uint64_t start_ticks = 0;
  std::uint32_t task_number = 0;
  std::uint8_t core_id = 0;
  bool is_vector = false;
};

// Counters that carry no time: given out in the order of the file, a key at a time.
class OrderedPmu {
 public:
  virtual ~OrderedPmu() = default;
  // The next counters of that task on that kind of core; false: none.
  virtual bool take(std::uint16_t stream, std::uint32_t task_number, CoreKind core,
                    CoreCounters& values) = 0;
};

// How long the tasks of a 310 waited, from the states of its time line (cann_device.md 3.8).
class TaskWaits {
 public:
  virtual ~TaskWaits() = default;
  struct Ticks {
    std::uint64_t waiting = 0;  // from when it waited; 0: not seen
    std::uint64_t pending = 0;  // from when it was pending; 0: not seen
  };
  virtual Ticks of(std::uint16_t stream, std::uint32_t task_number,
                   std::uint64_t start_ticks) const = 0;
};

}  // namespace msprof
