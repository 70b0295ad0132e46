// The wire layout of task_track: tasks as they are launched. For the host join.
// Source: cann_host.md 1.8.
#pragma once

#include "import/cann/host/host_record.hpp"

namespace msprof::cann {

// Of a kernel; valid when data_len says so.
struct __attribute__((packed)) KernelLaunchWire {
  std::uint16_t block_num;
  std::uint16_t args_bytes;
  std::uint8_t ratio_and_mode;  // bits 0-2: mix ratio
  std::uint8_t reserved[11];
};
static_assert(sizeof(KernelLaunchWire) == 16);

struct __attribute__((packed)) SimtLaunchWire {
  std::uint16_t grid_dim[3];
  std::uint16_t block_dim[3];
  std::uint16_t args_bytes;
  std::uint8_t mode;
  std::uint8_t reserved;
};
static_assert(sizeof(SimtLaunchWire) == 16);

struct __attribute__((packed)) TaskTrackWire {
  HostHeader head;
  std::uint16_t device;  // high 4 bits: 0 NPU, 1 DPU
  std::uint16_t stream;
  std::uint16_t task_number;
  std::uint16_t batch;  // of a flip: its number
  std::uint64_t type;
  std::uint64_t kernel_name;  // hash; 0: none
  std::uint8_t launch[16];    // KernelLaunchWire or SimtLaunchWire
};
static_assert(sizeof(TaskTrackWire) == 64);

inline constexpr std::uint32_t kLaunchDataLen = 40;
inline constexpr std::uint64_t kFlipType = 98;        // the task ids of a stream begin again
inline constexpr std::uint64_t kMaintenanceType = 6;  // no task of the application
inline constexpr std::uint16_t kStreamDestroyed = 65535;

inline constexpr RecordFormat kTaskTrackFormat = host_format<TaskTrackWire>("task_track");

}  // namespace msprof::cann
