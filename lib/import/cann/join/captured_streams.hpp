// CapturedStreams: which model's graph a stream replays at a moment (capture_stream_info).
// For the host join. Source: cann_host.md 1.8, 1.10.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "import/cann/join/host_records.hpp"
#include "import/cann/record_stream.hpp"

namespace msprof::cann {

class CapturedStreams {
 public:
  // Reads all records: they are few.
  void read(const ImportContext& context, RecordStream& stream);
  // kNull: none.
  std::int64_t model_of(const HostTrack& track) const;

 private:
  struct Span {
    std::uint64_t begin = 0;
    std::uint64_t end = UINT64_MAX;
    std::uint16_t model = 0;
  };
  // By device and stream; a place in the list is a turn of the stream's task ids.
  std::unordered_map<std::uint32_t, std::vector<Span>> spans_;
};

}  // namespace msprof::cann
