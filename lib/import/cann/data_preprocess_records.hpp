// The records of the DATA_PREPROCESS files. For the data_preprocess kind.
// Source: cann_device.md 8.2, 8.3, 8.5.
#pragma once

#include <cstdint>

namespace msprof::cann {

inline constexpr std::uint16_t kOldAicpuTag = 60;
inline constexpr std::uint16_t kModelWithQueueTag = 61;
inline constexpr std::uint16_t kDataQueueTag = 100;

struct __attribute__((packed)) OldAicpuWire {  // 8.2
  std::uint16_t magic;
  std::uint16_t tag;
  std::uint16_t stream;
  std::uint16_t task;
  std::uint64_t run_start_us;
  std::uint64_t start_ticks;
  std::uint64_t compute_start_us;
  std::uint64_t memcpy_start_us;
  std::uint64_t memcpy_end_us;
  std::uint64_t run_end;
  std::uint64_t end_ticks;
  std::uint32_t thread_id;
  std::uint32_t device_id;
  std::uint64_t submit_ticks;
  std::uint64_t schedule_ticks;
  std::uint64_t before_run_ticks;
  std::uint64_t after_run_ticks;
  std::uint32_t kernel_type;
  std::uint32_t dispatch_us;
  std::uint32_t total_time_us;
  std::uint8_t unused[12];
};
static_assert(sizeof(OldAicpuWire) == 128);

struct __attribute__((packed)) DataQueueWire {  // 8.3
  std::uint16_t magic;
  std::uint16_t tag;
  std::uint32_t reserved;
  std::uint64_t time_us;
  char action[16];  // NUL where it is shorter
  char source[64];
  std::uint64_t index;
  std::uint64_t size;
  std::uint8_t unused[16];
};
static_assert(sizeof(DataQueueWire) == 128);

struct __attribute__((packed)) ModelWithQueueWire {  // 8.5
  std::uint16_t magic;
  std::uint16_t tag;
  std::uint32_t reserved;
  std::uint64_t ticks;
  std::uint64_t index_id;
  std::uint32_t model_id;
  std::uint16_t step_tag;
  std::uint16_t unused;
  std::uint64_t event_id;
  std::uint8_t rest[24];
};
static_assert(sizeof(ModelWithQueueWire) == 64);

}  // namespace msprof::cann
