// The mark of device records. For the kinds that read stars_soc, ffts_profile, hwts and aicore.
// Source: cann_device.md 4, 5.1, 6.1, 7.1.
#pragma once

#include <cstdint>

namespace msprof::cann {

inline constexpr std::uint16_t kDeviceMagic = 0x6BD3;

// Where the mark is usual and not certain: other values stand there for nothing, but one with a
// single zero byte is what bytes of other fields look like.
inline bool may_be_magic(std::uint16_t value) {
  return value == 0 || ((value & 0xFF) != 0 && (value >> 8) != 0);
}

}  // namespace msprof::cann
