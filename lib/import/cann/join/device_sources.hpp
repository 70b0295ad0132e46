// StateTasks: tasks as the task scheduler saw them (ts_track.data): the tasks of chip 310, the AI
// CPU tasks of 910A, and on 310P those that no other record shows.
// For join_devices(). Source: cann_device.md 3.4, 3.8, cann_corrections.md A5.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "import/cann/device_streams.hpp"
#include "import/cann/join/device_types.hpp"

namespace msprof::cann {

class StateTasks {
 public:
  StateTasks(std::span<const TaskState> states, const Chip& chip);

  // A record of the hardware shows this task at that moment.
  void seen(std::uint16_t stream, std::uint16_t task_number, std::uint64_t ticks);
  // Starts and ends, by ticks, of the tasks that were not seen.
  std::vector<DeviceLog> logs(DeviceTypes& types) const;

  bool empty() const { return tasks_.empty(); }
  // Ends without a beginning and the other way round.
  std::uint64_t incomplete() const { return incomplete_; }

 private:
  struct Task {
    std::uint16_t stream = 0;
    std::uint16_t task_number = 0;
    std::uint16_t type = 0;
    bool is_seen = false;
    std::uint64_t start = 0;
    std::uint64_t end = 0;
  };
  void pair(std::vector<TaskState> states, std::uint16_t begin, std::uint16_t end);

  bool are_stand_ins_ = false;
  bool is_mini_ = false;
  std::vector<Task> tasks_;  // by stream, task number, start
  std::uint64_t incomplete_ = 0;
};

}  // namespace msprof::cann
