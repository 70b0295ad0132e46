// What ts_track.data tells about tasks, once decoded; small beside the tasks themselves.
// For the device association. Source: cann_device.md 3.
#pragma once

#include <cstdint>
#include <vector>

namespace msprof::cann {

// The task ids of a stream began again (tag 14).
struct StreamFlip {
  std::uint64_t ticks = 0;
  std::uint16_t stream = 0;
  std::uint16_t flip_number = 0;  // 65535: the stream was destroyed
  std::uint16_t task_number = 0;
};

// Blocks of a task known at launch only (tag 15).
struct TaskBlocks {
  std::uint64_t ticks = 0;
  std::uint16_t stream = 0;  // raw; the STARS rule (cann_device.md 5.2) is the reader's
  std::uint16_t task_number = 0;
  std::uint16_t block_num = 0;
  std::uint16_t mix_ratio = 0;
};

// A state of a task as the task scheduler saw it (tag 12; chip 310: tag 3).
struct TaskState {
  std::uint64_t ticks = 0;
  std::uint16_t stream = 0;
  std::uint16_t task_number = 0;
  std::uint16_t task_type = 0;
  std::uint16_t state =
      0;  // tag 12: 0 received, 1 start, 2 end; tag 3: 1 waiting, 2 running, 3 complete, 4 pending
};

struct TsTrackRecords {
  std::vector<StreamFlip> flips;
  std::vector<TaskBlocks> blocks;
  std::vector<TaskState> states;
};

}  // namespace msprof::cann
