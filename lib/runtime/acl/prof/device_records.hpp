// Device records of one task, in the format of each chip family. For the recorder. Source:
// cann_device.md 3 to 8.
#pragma once

#include <cstdint>

#include "runtime/acl/prof/counters.hpp"
#include "runtime/acl/prof/recorder.hpp"
#include "wire/cann/aicpu_wire.hpp"
#include "wire/cann/device_wire.hpp"
#include "wire/cann/ts_track_wire.hpp"

namespace msprof::acl {

// Values of OpInfo::task_type.
inline constexpr std::uint32_t kAiCoreTask = 0, kAiCpuTask = 1, kVectorCoreTask = 2;

// A task as described in records. Times are ticks, which are nanoseconds.
struct DeviceTask {
  std::uint16_t stream = 0;
  std::uint16_t task = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// Chips with STARS records; the others have hwts records.
constexpr bool has_stars(int chip) {
  return chip == 5;
}

// The hardware's type number of a task.
unsigned sqe_type(int chip, TaskKind kind, std::uint32_t op_task_type);

cann::StarsLogWire stars_log(const DeviceTask& task, unsigned sqe, bool is_end);
cann::HwtsWire hwts_log(const DeviceTask& task, unsigned sqe, bool is_end);
cann::FftsWire stars_counters(const DeviceTask& task, bool is_vector_core,
                              const CounterValues& values);
cann::AicoreWire hwts_counters(const DeviceTask& task, const CounterValues& values);
cann::AicpuNodeWire aicpu_record(const DeviceTask& task, std::uint32_t thread);
cann::OldAicpuWire old_aicpu_record(const DeviceTask& task, std::uint32_t thread,
                                    std::uint16_t device);
cann::L2CacheWire l2_cache_record(const DeviceTask& task, unsigned sqe,
                                  const CounterValues& values);
cann::StepTraceWire step_record(std::uint16_t stream, std::uint16_t task, std::uint64_t index,
                                std::uint64_t model, std::uint16_t tag, std::uint64_t at);
cann::FlipWire flip_record(std::uint16_t stream, std::uint16_t number, std::uint64_t at);

}  // namespace msprof::acl
