// Reads records of variable length, as written by chip 310 to ts_track.data and aicore.data: u8
// mode, u8 tag, u16 length in bytes including this head, then the contents. Source: cann_device.md
// 3.1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "import/raw_kind.hpp"

namespace msprof::cann {

struct TlvRecord {
  std::uint8_t tag = 0;
  std::span<const std::byte> bytes;  // including the head
  const RawFile* file = nullptr;     // file in which it starts
  std::uint64_t offset = 0;
};
using TlvVisit = std::function<void(const TlvRecord&)>;

// Calls `visit` for each record of consecutive slices; a record may continue in the next slice. If
// a length is impossible, reading resumes at the next position that looks like a known record, and
// the bytes in between are reported. Files are counted under `kind`, with the number of visited
// records. An unreadable file is reported.
void read_tlv_records(const ImportContext& context, std::string_view kind,
                      std::span<const RawFile* const> slices, const TlvVisit& visit);

}  // namespace msprof::cann
