// Records of the AI CPUs about their nodes, from a device's files: aicpu.data, and the older
// DATA_PREPROCESS.AICPU. Source: cann_device.md 8.1.1, 8.2.
#pragma once

#include <cstdint>

#include "wire/cann/host_wire.hpp"

namespace msprof::cann {

// Record of aicpu.data. It has the head of host records, whose level and type identify a node.
struct __attribute__((packed)) AicpuNodeWire {
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

inline constexpr std::uint16_t kAicpuLevel = 6000;
inline constexpr std::uint32_t kAicpuNodeType = 0;

// Record of DATA_PREPROCESS.AICPU.
struct __attribute__((packed)) OldAicpuWire {
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

inline constexpr std::uint16_t kOldAicpuTag = 60;

}  // namespace msprof::cann
