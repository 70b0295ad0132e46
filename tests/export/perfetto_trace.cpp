#include "export/perfetto_trace.hpp"

#include <zlib.h>

#include <algorithm>
#include <optional>

#include "perfetto.pb.h"

namespace msprof::test {

namespace {

using namespace perfetto_trace;

std::string inflated(const std::string& bytes) {
  std::string text;
  z_stream stream{};
  inflateInit(&stream);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  int result = Z_OK;
  while (result == Z_OK) {
    const std::size_t before = text.size();
    text.resize(before + 65536);
    stream.next_out = reinterpret_cast<Bytef*>(text.data() + before);
    stream.avail_out = 65536;
    result = inflate(&stream, Z_NO_FLUSH);
    text.resize(before + 65536 - stream.avail_out);
  }
  inflateEnd(&stream);
  return result == Z_STREAM_END ? text : "";
}

struct Sequence {
  bool is_begun = false;
  std::int64_t clock_ns = 0;
  std::uint32_t clock_id = 0;
  std::uint64_t track = 0;
  std::map<std::uint64_t, std::string> names, keys, texts;
};

// An event and its time, before the name of its track is known.
struct Event {
  std::int64_t time_ns = 0;
  std::uint64_t track = 0;
  TrackEvent event;
  std::string name;
  std::vector<std::string> arguments;
};

class Reader {
 public:
  PerfettoTrace read(const std::string& bytes) {
    Trace file;
    if (!file.ParseFromString(bytes)) return fault("the file is no Trace");
    for (const TracePacket& packet : file.packet()) {
      if (!packet.has_compressed_packets()) {
        take(packet);
        continue;
      }
      Trace block;
      if (!block.ParseFromString(inflated(packet.compressed_packets())))
        return fault("a block is no Trace");
      for (const TracePacket& inner : block.packet()) take(inner);
    }
    std::stable_sort(events_.begin(), events_.end(),
                     [](const Event& a, const Event& b) { return a.time_ns < b.time_ns; });
    for (const Event& event : events_) put(event);
    for (const auto& [track, open] : open_) {
      if (!open.empty()) fault("a slice has no end");
    }
    return std::move(trace_);
  }

 private:
  PerfettoTrace fault(const std::string& what) {
    trace_.faults.push_back(what);
    return trace_;
  }

  void take(const TracePacket& packet) {
    ++trace_.packets;
    if (packet.has_track_descriptor()) {
      const TrackDescriptor& track = packet.track_descriptor();
      tracks_[track.uuid()] = track;
      if (track.has_process()) {
        const ProcessDescriptor& process = track.process();
        trace_.processes[process.process_name()] = process.pid();
        for (const auto& label : process.process_labels())
          trace_.labels[process.process_name()].push_back(label);
      }
      return;
    }
    if (packet.trusted_packet_sequence_id() == 0) fault("a packet of no sequence");
    Sequence& sequence = sequences_[packet.trusted_packet_sequence_id()];
    if ((packet.sequence_flags() & 1) != 0) {
      sequence = Sequence{};
      sequence.is_begun = true;
    }
    if (packet.has_trace_packet_defaults()) {
      sequence.clock_id = packet.trace_packet_defaults().timestamp_clock_id();
      sequence.track = packet.trace_packet_defaults().track_event_defaults().track_uuid();
    }
    for (const auto& clock : packet.clock_snapshot().clocks()) {
      if (clock.is_incremental() && clock.clock_id() == sequence.clock_id)
        sequence.clock_ns = static_cast<std::int64_t>(clock.timestamp());
    }
    const InternedData& data = packet.interned_data();
    for (const auto& one : data.event_names()) sequence.names[one.iid()] = one.text();
    for (const auto& one : data.debug_annotation_names()) sequence.keys[one.iid()] = one.text();
    for (const auto& one : data.debug_annotation_string_values())
      sequence.texts[one.iid()] = one.text();
    if (packet.has_track_event()) take_event(packet, sequence);
  }

  void take_event(const TracePacket& packet, Sequence& sequence) {
    if (!sequence.is_begun || (packet.sequence_flags() & 2) == 0) fault("an event without state");
    Event event;
    event.event = packet.track_event();
    const auto clock =
        packet.has_timestamp_clock_id() ? packet.timestamp_clock_id() : sequence.clock_id;
    event.time_ns = static_cast<std::int64_t>(packet.timestamp());
    if (clock == sequence.clock_id) {
      sequence.clock_ns += event.time_ns;
      event.time_ns = sequence.clock_ns;
    } else if (clock != 6) {
      fault("an unknown clock");
    }
    event.track = event.event.has_track_uuid() ? event.event.track_uuid() : sequence.track;
    event.name = event.event.has_name() ? event.event.name()
                                        : find_text(sequence.names, event.event.name_iid());
    for (const DebugAnnotation& one : event.event.debug_annotations()) {
      const std::string key =
          one.has_name() ? one.name() : find_text(sequence.keys, one.name_iid());
      event.arguments.push_back(key + "=" + annotation_text(one, sequence));
    }
    events_.push_back(std::move(event));
  }

  std::string find_text(const std::map<std::uint64_t, std::string>& texts, std::uint64_t id) {
    if (id == 0) return "";
    const auto at = texts.find(id);
    if (at == texts.end()) fault("an unknown text");
    return at == texts.end() ? "" : at->second;
  }

  std::string annotation_text(const DebugAnnotation& one, const Sequence& sequence) {
    if (one.has_string_value()) return one.string_value();
    if (one.has_string_value_iid()) return find_text(sequence.texts, one.string_value_iid());
    if (one.has_int_value()) return std::to_string(one.int_value());
    if (one.has_double_value()) return std::to_string(one.double_value());
    if (one.has_bool_value()) return one.bool_value() ? "true" : "false";
    return one.legacy_json_value();
  }

  PerfettoSlice make_slice(const Event& event) {
    PerfettoSlice slice;
    slice.track = tracks_[event.track].name();
    slice.track_uuid = event.track;
    slice.process = find_process(event.track);
    slice.name = event.name;
    slice.begin_ns = event.time_ns;
    slice.arguments = event.arguments;
    slice.flows.assign(event.event.flow_ids_old().begin(), event.event.flow_ids_old().end());
    slice.last_flows.assign(event.event.terminating_flow_ids_old().begin(),
                            event.event.terminating_flow_ids_old().end());
    return slice;
  }

  std::string find_process(std::uint64_t track) {
    if (!tracks_.contains(track)) fault("a track that is not described");
    return tracks_[tracks_[track].parent_uuid()].process().process_name();
  }

  void put(const Event& event) {
    switch (event.event.type()) {
      case TrackEvent::TYPE_SLICE_BEGIN:
        open_[event.track].push_back(trace_.slices.size());
        trace_.slices.push_back(make_slice(event));
        break;
      case TrackEvent::TYPE_SLICE_END: {
        auto& open = open_[event.track];
        if (open.empty()) {
          fault("an end without a begin");
          break;
        }
        PerfettoSlice& slice = trace_.slices[open.back()];
        slice.length_ns = event.time_ns - slice.begin_ns;
        open.pop_back();
        break;
      }
      case TrackEvent::TYPE_INSTANT:
        trace_.marks.push_back(make_slice(event));
        break;
      case TrackEvent::TYPE_COUNTER:
        if (!tracks_[event.track].has_counter()) fault("a sample on no counter");
        trace_.samples.push_back({find_process(event.track), tracks_[event.track].name(),
                                  event.time_ns,
                                  event.event.has_double_counter_value()
                                      ? event.event.double_counter_value()
                                      : static_cast<double>(event.event.counter_value())});
        break;
      default:
        fault("an event of no kind");
    }
  }

  PerfettoTrace trace_;
  std::map<std::uint32_t, Sequence> sequences_;
  std::map<std::uint64_t, TrackDescriptor> tracks_;
  std::vector<Event> events_;
  std::map<std::uint64_t, std::vector<std::size_t>> open_;
};

}  // namespace

PerfettoTrace read_perfetto_trace(const std::string& bytes) {
  return Reader().read(bytes);
}

}  // namespace msprof::test
