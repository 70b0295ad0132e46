// AicpuNames: which operator an AI CPU node belongs to: that of the task within which it ended.
// Source: cann_device.md 21.
#pragma once

#include <cstdint>
#include <vector>

#include "store/rows/task_rows.hpp"

namespace msprof {

class AicpuNames {
 public:
  // The nodes of one device; their op_name_id is filled in place.
  explicit AicpuNames(std::vector<AicpuNodeRow>& nodes);

  // An AI CPU operator ran as this task.
  void task(std::uint16_t stream, std::uint16_t task_number, std::int64_t start_ns,
            std::int64_t end_ns, std::int64_t op_name_id);

 private:
  std::vector<AicpuNodeRow>& nodes_;
  std::vector<std::uint32_t> order_;  // by stream, task number, end
};

}  // namespace msprof
