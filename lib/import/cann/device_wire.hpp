// Stream and task ids as the hardware of STARS chips writes them, and what the runtime calls them.
// For the kinds that read stars_soc, ffts_profile, aicpu and ts_track. Source: cann_device.md 5.2.
#pragma once

#include <cstdint>

namespace msprof::cann {

struct StarsIds {
  std::uint16_t stream = 0;
  std::uint16_t task_number = 0;
};

inline constexpr std::uint16_t kMostStreams = 2048;

// `sqe_type` is the number of cann_device.md 4.1: 1 for AI CPU tasks, 0 for PMU records.
// `expanded`: the capture has more streams than 2048 (expand_stream_spec).
inline StarsIds stars_ids(std::uint16_t stream, std::uint16_t task, unsigned sqe_type,
                          bool expanded) {
  const auto of = [](unsigned s, unsigned t) {
    return StarsIds{static_cast<std::uint16_t>(s), static_cast<std::uint16_t>(t)};
  };
  const unsigned s = stream;
  const unsigned t = task;
  if (expanded) {
    constexpr unsigned kPlaceHolder = 3;
    constexpr unsigned kEventRecord = 4;
    const bool plain = sqe_type == kPlaceHolder || sqe_type == kEventRecord;
    if (!plain && (s & 0x8000) != 0) return of(t & 0x7FFF, (t & 0x8000) | (s & 0x7FFF));
    return of(s & 0x7FFF, t);
  }
  if ((s & 0x1000) != 0) return of(s % kMostStreams, (t & 0x1FFF) | (s & 0xE000));
  if ((s & 0x2000) != 0) return of((t & 0x0FFF) % kMostStreams, (s & 0x0FFF) | (t & 0xF000));
  return of(s % kMostStreams, t);
}

}  // namespace msprof::cann
