#include "import/cann/join/captured_streams.hpp"

#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "import/cann/slice_kind.hpp"

namespace msprof::cann {

namespace {

std::uint32_t key_of(std::uint16_t device, std::uint16_t stream) {
  return std::uint32_t{device} << 16 | stream;
}

}  // namespace

void CapturedStreams::read(const ImportContext& context, RecordStream& stream) {
  stream.open(context);
  std::set<std::tuple<std::uint16_t, std::uint16_t, std::uint16_t, std::uint16_t, std::uint16_t,
                      std::uint64_t>>
      seen;
  // The spans of a model that are still open.
  std::map<std::pair<std::uint16_t, std::uint16_t>,
           std::vector<std::pair<std::uint32_t, std::size_t>>>
      open;
  for (; const StreamRecord* record = stream.front(); stream.pop()) {
    const auto wire = decode<CaptureStreamInfoWire>(record->bytes);
    if (!seen.emplace(wire.device, wire.model, wire.original_stream, wire.model_stream, wire.status,
                      record->time)
             .second) {
      continue;
    }
    auto& of_model = open[{wire.device, wire.model}];
    if (wire.status == 0) {
      const std::uint32_t key = key_of(wire.device, wire.model_stream);
      auto& spans = spans_[key];
      of_model.emplace_back(key, spans.size());
      spans.push_back({record->time, UINT64_MAX, wire.model});
    } else {
      for (const auto& [key, place] : of_model) spans_[key][place].end = record->time;
      of_model.clear();
    }
  }
}

std::int64_t CapturedStreams::model_of(const HostTrack& track) const {
  if (spans_.empty()) return kNull;
  const auto found = spans_.find(key_of(track.device, track.stream));
  if (found == spans_.end() || track.batch >= found->second.size()) return kNull;
  const Span& span = found->second[track.batch];
  const bool is_within = span.begin <= track.time && track.time <= span.end;
  return is_within ? std::int64_t{span.model} : kNull;
}

}  // namespace msprof::cann
