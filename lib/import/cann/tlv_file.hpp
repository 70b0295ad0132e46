// for_each_tlv: records that say their own length, as chip 310 writes them (ts_track.data,
// aicore.data): u8 mode, u8 tag, u16 bytes, and the rest. Source: cann_device.md 3.1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "import/raw_kind.hpp"

namespace msprof::cann {

struct TlvRecord {
  std::uint8_t tag = 0;
  std::span<const std::byte> bytes;  // the header too
  const RawFile* file = nullptr;     // where it begins
  std::uint64_t offset = 0;
};

// The slices in order are one row of bytes. Where the length is impossible, reading goes on at the
// next place that looks like a known record; what lies between is counted. Files are counted, with
// the records that `visit` saw.
void for_each_tlv(const ImportContext& context, std::string_view kind,
                  std::span<const RawFile* const> slices,
                  const std::function<void(const TlvRecord&)>& visit);

}  // namespace msprof::cann
