// Records of ts_track.data, and the tags of its step marks. Source: cann_device.md 3. Numbers in
// parentheses are its sections.
#pragma once

#include <cstddef>
#include <cstdint>

namespace msprof::cann {

// ts_track.data of all chips except 310 (3): step marks, wraparounds of task ids and others,
// distinguished by tag.
inline constexpr std::size_t kTsRecordBytes = 40;
enum class TsTag : std::uint8_t {
  time_line = 3,  // chip 310 only
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
  std::uint16_t bytes;  // size of the record on chip 310
  std::uint32_t reserved;
  std::uint64_t ticks;
};
static_assert(sizeof(TsHeadWire) == 16);

// Tags of StepTraceWire (3.2): progress of a model or an iteration, and stamps of the application.
namespace step_tag {
inline constexpr std::uint16_t kModelStart = 0;
inline constexpr std::uint16_t kModelEnd = 1;
inline constexpr std::uint16_t kForward = 2;
inline constexpr std::uint16_t kBackward = 3;
inline constexpr std::uint16_t kIterationEnd = 4;
inline constexpr std::uint16_t kMark = 11;
inline constexpr std::uint16_t kRangeEdge = 12;
// From this tag on, starts are even and ends are odd.
inline constexpr std::uint16_t kFirstReduce = 10'000;
inline constexpr std::uint16_t kFirstGetNext = 20'000;
inline constexpr std::uint16_t kStepStart = 60'000;  // set by the framework
inline constexpr std::uint16_t kStepEnd = 60'001;

constexpr bool is_stamp(std::uint16_t tag) {
  return tag == kMark || tag == kRangeEdge;
}
}  // namespace step_tag

struct __attribute__((packed)) StepTraceWire {  // section 3.2
  TsHeadWire head;
  std::uint64_t index_id;
  std::uint64_t model_id;
  std::uint16_t stream;
  std::uint16_t task;
  std::uint16_t tag;
  std::uint16_t reserved;
};
static_assert(sizeof(StepTraceWire) == kTsRecordBytes);

struct __attribute__((packed)) FlipWire {  // section 3.5
  TsHeadWire head;
  std::uint16_t stream;
  std::uint16_t number;
  std::uint16_t reserved;
  std::uint16_t task;
  std::uint8_t unused[16];
};
static_assert(sizeof(FlipWire) == kTsRecordBytes);

}  // namespace msprof::cann
