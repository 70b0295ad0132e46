// The text forms of DATA_PREPROCESS.DP and .AICPUMI, an entry at a time. For data_preprocess.
// Source: cann_device.md 8.3, 8.4.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace msprof::cann {

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

// "<key>:<node>, <key>:<queue size>, <key>:<start us>, <key>:<end us>", whatever the keys say.
std::optional<QueueEntry> parse_mind_spore(std::string_view text);

}  // namespace msprof::cann
