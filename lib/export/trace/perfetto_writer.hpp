// PerfettoWriter: writes a timeline as a Perfetto trace (protobuf), for `export timeline --format
// perfetto`.
//
// Messages and field numbers: protos/perfetto/trace in Perfetto's documentation (TracePacket,
// TrackEvent, TrackDescriptor, InternedData, ClockSnapshot). A process of the JSON becomes a
// process, a thread a track below it, a counter a track. Each track is a packet sequence with its
// own interned texts and clock; timestamps are deltas to the previous packet. Slices of a thread
// that overlap without being nested go to a second track with the same name. Packets are stored in
// compressed_packets, which Perfetto inflates itself.
#pragma once

#include <memory>

#include "base/atomic_file.hpp"
#include "export/trace/trace_writer.hpp"

namespace msprof {

std::unique_ptr<TraceWriter> make_perfetto_writer(AtomicFile& file);

}  // namespace msprof
