#include "import/cann/join/host_sources.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "import/cann/cann_import.hpp"

namespace msprof::cann {

namespace {

std::uint32_t key_of(std::uint16_t device, std::uint16_t stream) {
  return std::uint32_t{device} << 16 | stream;
}

}  // namespace

void CallSource::open(const ImportContext& context) {
  stream_.open(context, [&](const StreamRecord& record) {
    std::uint64_t end = 0;
    std::memcpy(&end, record.bytes.data() + offsetof(ApiEventWire, end), sizeof(end));
    if (end == kIsEvent) pair(context, record);
  });
  if (!open_events_.empty()) {
    context.report.add(FindingId::half_call, "api_event", "", "event without its counterpart", "",
                       static_cast<std::int64_t>(open_events_.size()));
  }
  open_events_.clear();
  std::stable_sort(paired_.begin(), paired_.end(), [](const Call& a, const Call& b) {
    return a.wire.head.time < b.wire.head.time;
  });
  has_recorded_ = find_recorded(context);
  next(context);
}

// The first event of a key opens a call, the second ends it, in reading order.
void CallSource::pair(const ImportContext& context, const StreamRecord& record) {
  const auto wire = decode<ApiEventWire>(record.bytes);
  const EventKey key{std::uint16_t{wire.head.level}, std::uint32_t{wire.head.type},
                     std::uint32_t{wire.head.thread}, std::uint32_t{wire.head.data_len},
                     std::uint64_t{wire.item}};
  const auto [opened, is_new] = open_events_.try_emplace(key, record.time);
  if (is_new) return;
  ApiEventWire call = wire;
  call.head.time = opened->second;
  call.end = record.time;
  open_events_.erase(opened);
  const auto why = why_impossible(call);
  if (why.empty()) {
    paired_.push_back({call, record.sequence, record.is_unaging});
  } else {
    stream_.skip(context, record, why);
  }
}

std::string_view CallSource::why_impossible(const ApiEventWire& call) const {
  const std::uint64_t begin = call.head.time;
  if (begin == 0) return "begin is 0";
  if (call.end < begin) return "end before begin";
  // If the begin is as late, it is the clock that is wrong.
  if (call.end > latest_end_ && begin <= latest_end_) return "end long after the collection";
  return {};
}

bool CallSource::find_recorded(const ImportContext& context) {
  for (; const StreamRecord* record = stream_.peek(); stream_.next()) {
    const auto wire = decode<ApiEventWire>(record->bytes);
    if (wire.end == kIsEvent) continue;
    const auto why = why_impossible(wire);
    if (why.empty()) {
      recorded_ = {wire, record->sequence, record->is_unaging};
      stream_.next();
      return true;
    }
    stream_.skip(context, *record, why);
  }
  return false;
}

void CallSource::next(const ImportContext& context) {
  moment_.clear();
  const bool has_paired = next_paired_ < paired_.size();
  if (!has_paired && !has_recorded_) return;
  const auto begin_of = [](const Call& call) -> std::uint64_t { return call.wire.head.time; };
  std::uint64_t time = has_recorded_ ? begin_of(recorded_) : UINT64_MAX;
  if (has_paired) time = std::min(time, begin_of(paired_[next_paired_]));
  while (has_recorded_ && begin_of(recorded_) == time) {
    moment_.push_back(recorded_);
    has_recorded_ = find_recorded(context);
  }
  while (next_paired_ < paired_.size() && begin_of(paired_[next_paired_]) == time)
    moment_.push_back(paired_[next_paired_++]);
  if (moment_.size() > 1) {
    std::sort(moment_.begin(), moment_.end(), [](const Call& a, const Call& b) {
      if (a.wire.head.level != b.wire.head.level) return a.wire.head.level > b.wire.head.level;
      return a.sequence < b.sequence;
    });
  }
}

void CapturedStreams::read(const ImportContext& context, RecordStream& stream) {
  stream.open(context);
  std::set<std::tuple<std::uint16_t, std::uint16_t, std::uint16_t, std::uint16_t, std::uint16_t,
                      std::uint64_t>>
      seen;
  // The spans of a model that are still open.
  std::map<std::pair<std::uint16_t, std::uint16_t>,
           std::vector<std::pair<std::uint32_t, std::size_t>>>
      open;
  for (; const StreamRecord* record = stream.peek(); stream.next()) {
    const auto wire = decode<CaptureStreamInfoWire>(record->bytes);
    // Copied: fields of a packed record have no alignment that a reference may rely on.
    const std::uint16_t device = wire.device;
    const std::uint16_t model = wire.model;
    const std::uint16_t model_stream = wire.model_stream;
    const std::uint16_t status = wire.status;
    const std::uint16_t original_stream = wire.original_stream;
    if (!seen.emplace(device, model, original_stream, model_stream, status, record->time).second)
      continue;
    auto& of_model = open[{device, model}];
    if (status == 0) {
      const std::uint32_t key = key_of(device, model_stream);
      auto& spans = spans_[key];
      of_model.emplace_back(key, spans.size());
      spans.push_back({record->time, UINT64_MAX, model});
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
