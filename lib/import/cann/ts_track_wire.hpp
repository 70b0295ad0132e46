// The records of ts_track.data as they are in the file. For the ts_track kind.
// Source: cann_device.md 3.
#pragma once

#include <cstdint>

namespace msprof::cann {

inline constexpr std::size_t kTsRecordBytes = 40;

enum class TsTag : std::uint8_t {
  time_line = 3,  // chip 310 alone
  step_trace = 10,
  memcpy = 11,
  task_type = 12,
  flip_old = 13,
  flip = 14,
  block_num = 15
};

struct __attribute__((packed)) TsHeadWire {
  std::uint8_t mode;
  std::uint8_t tag;
  std::uint16_t bytes;  // of the record, on chip 310
  std::uint32_t reserved;
  std::uint64_t ticks;
};
static_assert(sizeof(TsHeadWire) == 16);

struct __attribute__((packed)) StepTraceWire {  // 3.2
  TsHeadWire head;
  std::uint64_t index_id;
  std::uint64_t model_id;
  std::uint16_t stream;
  std::uint16_t task;
  std::uint16_t tag;
  std::uint16_t reserved;
};
static_assert(sizeof(StepTraceWire) == kTsRecordBytes);

struct __attribute__((packed)) StepTraceV6Wire {  // 3.2, chips 15 and 16
  TsHeadWire head;
  std::uint64_t index_id;
  std::uint64_t model_id;
  std::uint16_t tag;
  std::uint16_t stream;
  std::uint32_t task;
};
static_assert(sizeof(StepTraceV6Wire) == kTsRecordBytes);

struct __attribute__((packed)) TaskTypeWire {  // 3.4
  TsHeadWire head;
  std::uint16_t stream;
  std::uint16_t task;
  std::uint16_t type;
  std::uint8_t state;
  std::uint8_t reserved[17];
};
static_assert(sizeof(TaskTypeWire) == kTsRecordBytes);

struct __attribute__((packed)) FlipWire {  // 3.5
  TsHeadWire head;
  std::uint16_t stream;
  std::uint16_t number;
  std::uint16_t reserved;
  std::uint16_t task;
  std::uint8_t unused[16];
};
static_assert(sizeof(FlipWire) == kTsRecordBytes);

struct __attribute__((packed)) BlockNumWire {  // 3.6
  TsHeadWire head;
  std::uint16_t stream;
  std::uint16_t task;
  std::uint16_t blocks;
  std::uint16_t mix_ratio;
  std::uint8_t unused[16];
};
static_assert(sizeof(BlockNumWire) == kTsRecordBytes);

struct __attribute__((packed)) TimeLineWire {  // 3.7
  std::uint8_t mode;
  std::uint8_t tag;
  std::uint16_t bytes;
  std::uint32_t reserved;
  std::uint16_t type;
  std::uint16_t state;
  std::uint16_t stream;
  std::uint16_t task;
  std::uint64_t ticks;
  std::uint32_t thread;
  std::uint32_t device;
};
static_assert(sizeof(TimeLineWire) == 32);

}  // namespace msprof::cann
