// Records with a length of their own, as chip 310 writes them to ts_track.data and aicore.data: u8
// mode, u8 tag, u16 bytes with this head, and the rest. For the kinds of these files.
// Source: cann_device.md 3.1.
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
  std::span<const std::byte> bytes;  // the header too
  const RawFile* file = nullptr;     // where it begins
  std::uint64_t offset = 0;
};
using TlvVisit = std::function<void(const TlvRecord&)>;

// Shows the records of a row of slices, in which a record may go on in the next, to `visit`. Where
// the length is impossible, reading goes on at the next position that looks like a known record;
// what lies between is reported. Files are counted under `kind`, with the records that were shown.
// A file that cannot be read is reported.
void read_tlv_records(const ImportContext& context, std::string_view kind,
                      std::span<const RawFile* const> slices, const TlvVisit& visit);

}  // namespace msprof::cann
