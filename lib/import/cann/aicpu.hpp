// AicpuNode: the times that an AI CPU noted about one node it ran, and the row they become.
// For aicpu.data and DATA_PREPROCESS.AICPU. Source: cann_device.md 8.1.1, 8.2;
// cann_corrections.md B6.
#pragma once

#include <cstdint>
#include <optional>

#include "session/clock_map.hpp"
#include "store/schema.hpp"

namespace msprof::cann {

struct AicpuNode {
  std::uint64_t start_ticks = 0;
  std::uint64_t end_ticks = 0;
  // Microseconds of a clock of its own.
  std::uint64_t compute_start_us = 0;
  std::uint64_t memcpy_start_us = 0;
  std::uint64_t memcpy_end_us = 0;
  std::uint32_t dispatch_us = 0;
  std::uint64_t submit_ticks = 0;
  std::uint64_t after_run_ticks = 0;
};

// The row without id, device, task and name. Without a clock its times are empty.
AicpuNodeRow aicpu_row(const AicpuNode& node, const std::optional<ClockMap>& clock);

}  // namespace msprof::cann
