// PerfettoSink: a timeline as a trace of Perfetto (protobuf), streamed. For
// `export timeline --format perfetto`.
//
// Messages and numbers of fields: protos/perfetto/trace in Perfetto's documentation (TracePacket,
// TrackEvent, TrackDescriptor, InternedData, ClockSnapshot). A process of the JSON is a process, a
// thread a track of its name below it, a counter a track. Each track is a packet sequence with
// texts of its own and a clock of its own, whose times are differences to the packet before; what
// overlaps on one thread without being nested goes to a second track of the same name. Packets are
// kept in compressed_packets, which Perfetto inflates by itself.
#pragma once

#include <memory>

#include "base/atomic_file.hpp"
#include "export/trace_json_writer.hpp"

namespace msprof {

std::unique_ptr<TraceSink> make_perfetto_sink(AtomicFile& file);

}  // namespace msprof
