// Records of the AI CPUs of a device, in aicpu.data and in the texts of DATA_PREPROCESS.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "session/clock_map.hpp"
#include "store/schema.hpp"

namespace msprof::cann {

// Times that an AI CPU recorded about one node it ran, and the row they become.
// Source: cann_device.md 8.1.1, 8.2, 8.6.
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

// Why there can be no such node; empty where there can.
std::string_view why_impossible(const AicpuNode& node, const std::optional<ClockMap>& clock);

// The row without id, device, task and name. Without a clock its times are empty.
AicpuNodeRow aicpu_row(const AicpuNode& node, const std::optional<ClockMap>& clock);

// The text forms of DATA_PREPROCESS.DP and .AICPUMI, an entry at a time. For data_preprocess.
// Source: cann_device.md 8.3, 8.4.
struct QueueEntry {
  std::string_view source;
  std::string_view action;
  std::uint64_t start_us = 0;
  std::optional<std::uint64_t> end_us;
  std::optional<std::uint64_t> index;
  std::uint64_t size = 0;
};

// "[<us>] Last queue dequeue, source:<name>, index:<n>, size:<n>"; empty for anything else.
std::optional<QueueEntry> parse_dequeue(std::string_view text);

// "<key>:<node>, <key>:<queue size>, <key>:<start us>, <key>:<end us>", regardless of the keys.
std::optional<QueueEntry> parse_mind_spore(std::string_view text);

}  // namespace msprof::cann
