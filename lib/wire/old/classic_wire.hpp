// Binary records found only in captures of 2019 to 2021. Source: cann5_classic.md 5.4, 5.6.
#pragma once

#include <cstdint>

namespace msprof::old {

// training_trace: a step mark. It has no magic number.
struct __attribute__((packed)) TrainingTraceWire {
  std::uint64_t tag;
  std::uint16_t task;
  std::uint16_t stream;
  std::uint64_t ticks;
};
static_assert(sizeof(TrainingTraceWire) == 20);

// runtime.host.runtime: a task launch.
struct __attribute__((packed)) RuntimeLaunchWire {
  std::uint8_t mode;
  std::uint8_t type;
  std::uint16_t bytes;  // size of the record
  std::uint32_t reserved;
  std::uint64_t time_ns;
  std::uint16_t event;
  std::uint16_t task_type;
  std::uint16_t stream;
  std::uint16_t task;
  std::uint32_t thread;
  std::uint32_t device;
  char kernel[63];
  std::uint8_t flags;  // bit 0: persistent
};
static_assert(sizeof(RuntimeLaunchWire) == 96);

}  // namespace msprof::old
