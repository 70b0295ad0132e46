// The records of aicpu.data. For the aicpu kind. Source: cann_device.md 8.1.
#pragma once

#include <cstdint>

#include "import/cann/host/host_record.hpp"

namespace msprof::cann {

// In the type of the head, which is that of the host records.
enum class AicpuType : std::uint32_t { node = 0, data_queue = 1, model = 2, mind_spore = 3 };

struct __attribute__((packed)) AicpuNodeWire {  // 8.1.1
  HostHeader head;
  std::uint16_t stream;
  std::uint16_t task;
  std::uint32_t thread_index;
  std::uint64_t run_start_us;
  std::uint64_t start_ticks;
  std::uint64_t compute_start_us;
  std::uint64_t memcpy_start_us;
  std::uint64_t memcpy_end_us;
  std::uint64_t run_end;
  std::uint64_t end_ticks;
  std::uint32_t unused[2];
  std::uint64_t submit_ticks;
  std::uint64_t schedule_ticks;
  std::uint64_t before_run_ticks;
  std::uint64_t after_run_ticks;
  std::uint32_t kernel_type;
  std::uint32_t dispatch_us;
  std::uint32_t total_time;
  std::uint8_t reserved[116];
};
static_assert(sizeof(AicpuNodeWire) == 256);

struct __attribute__((packed)) AicpuQueueWire {  // 8.1.2
  HostHeader head;                               // time: microseconds
  char action[16];                               // NUL where it is shorter
  char source[64];
  std::uint64_t index;
  std::uint64_t size;
  std::uint8_t reserved[136];
};
static_assert(sizeof(AicpuQueueWire) == 256);

struct __attribute__((packed)) AicpuModelWire {  // 8.1.3
  HostHeader head;
  std::uint64_t index_id;
  std::uint32_t model_id;
  std::uint16_t tag;
  std::uint16_t unused;
  std::uint64_t event_id;
  std::uint8_t reserved[208];
};
static_assert(sizeof(AicpuModelWire) == 256);

struct __attribute__((packed)) AicpuMindSporeWire {  // 8.1.4
  HostHeader head;
  std::uint32_t node;
  std::uint32_t unused;
  std::uint64_t queue_size;
  std::uint64_t start_us;
  std::uint64_t end_us;
  std::uint8_t reserved[200];
};
static_assert(sizeof(AicpuMindSporeWire) == 256);

}  // namespace msprof::cann
