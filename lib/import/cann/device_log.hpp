// Decoded records of a device about its tasks, for all chips: starts, ends, and counters of the
// cores. Times are ticks of the device's counter.
#pragma once

#include <array>
#include <cstdint>

#include "store/cells.hpp"

namespace msprof {

// Position of a record: by ticks, then by number in reading order.
struct RecordOrder {
  std::uint64_t ticks = 0;
  std::uint64_t sequence = 0;

  bool operator<(const RecordOrder& other) const {
    return ticks != other.ticks ? ticks < other.ticks : sequence < other.sequence;
  }
};

// Cores used by a task; the values are those of column "core_kind" of task_pmu.
enum class CoreKind : std::uint8_t { aic = 0, aiv = 1, mix_aic = 2, mix_aiv = 3 };

// A start or end of a task, from any source.
struct DeviceLog {
  enum class What : std::uint8_t {
    task,
    fusion,  // part of a fused task on an engine (V6 chips)
    other,   // of a known function that is not read
    unknown
  };
  RecordOrder place;
  std::int64_t type_name_id = kNull;  // for example "AIV_SQE"; null if the number has no name, and
                                      // in the first pass
  std::uint32_t context = kInvalidId;
  std::uint32_t task_number = 0;
  std::uint16_t stream = 0;  // 0 if task ids are unique; then only the host knows the stream
  std::uint16_t thread = 0;  // of an FFTS+ sub task: distinguishes starts with equal times
  // Part of a fused task: low 5 bits: FusionPartRow::engine; higher bits: the mission.
  std::uint16_t engine = 0;
  std::uint16_t acc_id = 0;
  What what = What::task;
  std::uint8_t function = 0;  // stars_soc: StarsFunction or another of cann_device.md 5.1
  std::uint8_t counter = 0;   // rolling, 4 bit
  std::uint8_t type = 0;      // SQE type or sub task type
  bool is_sub_task = false;
  bool is_start = false;
  // Placeholder: used only if the host launched a task and nothing else records it.
  bool is_placeholder = false;
  // Chips whose counters have no times: this task takes the next counters of `core` (OrderedPmu).
  bool has_ordered_pmu = false;
  CoreKind core = CoreKind::aic;
};

// Counters per record: 8, on chips 15 and 16 all 10.
inline constexpr std::size_t kPmuSlots = 10;

struct CoreCounters {
  std::uint64_t total_cycles = 0;
  std::array<std::uint64_t, kPmuSlots> counters{};
  std::uint32_t block_num = 0;  // 310 only, from the record
  std::uint64_t ticks = 0;      // V6 chips: from the start to the end of the record; else 0
};

// The counters of a task, or of one of its blocks, that ended at a known time.
struct TaskCounters {
  enum class What : std::uint8_t {
    task,
    block,        // one block of a MIX task, on its secondary cores
    other_block,  // other blocks; the record of the task includes their counters
    other_core,   // MIX task of V6 chips, on cores other than its main cores; `kind` is the task's
    block_run,    // V6 chips: when one block of a task ran, without counters
    unknown
  };
  RecordOrder end;
  CoreCounters values;
  std::uint64_t start_ticks = 0;  // of a block_run, as are core_id and is_vector
  std::uint32_t context = kInvalidId;
  std::uint32_t task_number = 0;
  std::uint16_t stream = 0;
  What what = What::task;
  CoreKind kind = CoreKind::aic;
  std::uint8_t counter = 0;  // rolling, 4 bit
  std::uint8_t core_id = 0;
  bool is_vector = false;
  bool has_overflowed = false;
};

// Counters without times, returned per key in file order.
class OrderedPmu {
 public:
  virtual ~OrderedPmu() = default;
  // Gets the next counters of the task on that kind of core. Returns false if there are no more.
  virtual bool take(std::uint16_t stream, std::uint32_t task_number, CoreKind core,
                    CoreCounters& values) = 0;
};

// Waiting times of the tasks of a 310, from the states of its timeline (cann_device.md 3.8).
class TaskWaits {
 public:
  virtual ~TaskWaits() = default;
  struct Ticks {
    std::uint64_t waiting = 0;  // start of waiting; 0 if not recorded
    std::uint64_t pending = 0;  // start of pending; 0 if not recorded
  };
  virtual Ticks find(std::uint16_t stream, std::uint32_t task_number,
                     std::uint64_t start_ticks) const = 0;
};

}  // namespace msprof
