// Device marks: the device's side of the application's own marks and ranges, paired. For ts_track.
// Source: cann_host.md 2.2.
#pragma once

#include <cstdint>
#include <vector>

namespace msprof::cann {

// A record of the step trace with one of these tags.
struct DeviceMark {
  std::uint64_t mark_id = 0;
  std::uint64_t ticks = 0;
  std::uint64_t model = 0;
  std::uint16_t stream = 0;
  std::uint32_t task = 0;
  std::uint16_t tag = 0;
};
inline constexpr std::uint16_t kMarkTag = 11;
inline constexpr std::uint16_t kRangeTag = 12;

struct DeviceMarkPair {
  DeviceMark first;
  std::uint64_t end_ticks = 0;
};

struct DeviceMarkPairs {
  std::vector<DeviceMarkPair> pairs;  // by (mark, start)
  std::int64_t unpaired = 0;          // edges of ranges without the other one
};

// `tags_tell`: from CANN 9.1 on the tag says whether it is a mark or an edge of a range; before,
// two records of one mark are a range.
DeviceMarkPairs pair_device_marks(std::vector<DeviceMark> marks, bool tags_tell);

}  // namespace msprof::cann
