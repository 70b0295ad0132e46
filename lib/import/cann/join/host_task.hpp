// HostTask: what the host knows about one task it launched: the operator, the call, the model.
// Made by the host association, met again when the device's records are read.
#pragma once

#include <cstdint>

#include "store/bulk_insert.hpp"

namespace msprof {

// No context: a task that is not a sub task of an FFTS+ graph.
inline constexpr std::uint32_t kNoContext = 0xFFFFFFFF;

struct HostTask {
  // The key: which task on which device.
  std::uint16_t device = 0;
  std::uint16_t stream = 0;
  std::uint16_t task_number = 0;
  std::uint16_t batch = 0;  // which turn of the 16-bit task ids; 0 where chips have none
  std::uint32_t context = kNoContext;
  std::uint32_t copy_direction = 65535;  // of MEMCPY_ASYNC, see MemcpyTaskRow
  std::uint64_t launch_count = 0;        // host counter of the task_track record
  std::int64_t type_name_id = kNull;     // "KERNEL_AIVEC", "MEMCPY_ASYNC"
  std::int64_t kernel_name_id = kNull;
  std::int64_t op_id = kNull;  // OpRow; null: no operator
  std::int64_t api_id = kNull;
  std::int64_t model_number = kNull;
  std::int64_t comm_call_id = kNull;  // CommCallRow of a communication task
  std::int64_t copy_bytes = kNull;    // null: not a copy
};

}  // namespace msprof
