// PerfettoFile: writes a timeline as a Perfetto trace (protobuf), for `export timeline --format
// perfetto`.
//
// Messages and field numbers: protos/perfetto/trace in Perfetto's documentation (TracePacket,
// TrackEvent, TrackDescriptor, InternedData, ClockSnapshot). A process of the JSON becomes a
// process, a thread a track below it, a counter a track. Slices of a thread that overlap without
// being nested go to a second track with the same name. Packets are stored in compressed_packets,
// which Perfetto inflates itself.
//
// Each chunk of the timeline has a packet sequence for each of its tracks. The sequences of the
// next chunk have the same numbers, and start by clearing their state.
#pragma once

#include <cstddef>
#include <memory>

#include "base/atomic_file.hpp"
#include "export/ordered_chunks.hpp"
#include "export/trace/trace_writer.hpp"

namespace msprof {

class PerfettoFile {
 public:
  virtual ~PerfettoFile() = default;
  // Returns the writer of one of `chunks`, for its thread. Its finish() outputs the packets in
  // turn.
  virtual std::unique_ptr<TraceWriter> make_writer(OrderedChunks& chunks, std::size_t chunk) = 0;
  // Call when the writers of all chunks are finished.
  virtual void finish() = 0;
};

std::unique_ptr<PerfettoFile> make_perfetto_file(AtomicFile& file);

}  // namespace msprof
