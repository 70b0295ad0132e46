// Records of a device's AI CPUs, in aicpu.data and in the text files DATA_PREPROCESS.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "session/clock_map.hpp"
#include "store/schema.hpp"

namespace msprof::cann {

// Times that an AI CPU recorded for one node. Source: cann_device.md 8.1.1, 8.2, 8.6.
struct AicpuNode {
  std::uint64_t start_ticks = 0;
  std::uint64_t end_ticks = 0;
  // Microseconds of a separate clock.
  std::uint64_t compute_start_us = 0;
  std::uint64_t memcpy_start_us = 0;
  std::uint64_t memcpy_end_us = 0;
  std::uint32_t dispatch_us = 0;
  std::uint64_t submit_ticks = 0;
  std::uint64_t after_run_ticks = 0;
};

// Returns why a node with these times is impossible; empty if it is possible.
std::string_view why_impossible(const AicpuNode& node, const std::optional<ClockMap>& clock);

// Converts a node to a row, without id, device, task and name. Times are empty without a clock.
AicpuNodeRow aicpu_row(const AicpuNode& node, const std::optional<ClockMap>& clock);

// An entry of the text files DATA_PREPROCESS.DP and .AICPUMI. Source: cann_device.md 8.3, 8.4.
struct QueueEntry {
  std::string_view source;
  std::string_view action;
  std::uint64_t start_us = 0;
  std::optional<std::uint64_t> end_us;
  std::optional<std::uint64_t> index;
  std::uint64_t size = 0;
};

// Parses "[<us>] Last queue dequeue, source:<name>, index:<n>, size:<n>"; nullopt for other text.
std::optional<QueueEntry> parse_dequeue(std::string_view text);

// Parses "<key>:<node>, <key>:<queue size>, <key>:<start us>, <key>:<end us>"; keys are ignored.
std::optional<QueueEntry> parse_mind_spore(std::string_view text);

}  // namespace msprof::cann
