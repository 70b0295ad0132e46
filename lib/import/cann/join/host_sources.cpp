#include "import/cann/join/host_sources.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "import/cann/cann_import.hpp"

namespace msprof::cann {

namespace {

std::uint64_t make_key(std::uint16_t device, std::uint32_t stream) {
  return std::uint64_t{device} << 32 | stream;
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

// The first event of a key starts a call, the second ends it, in reading order.
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
  if (begin == 0) return "start is 0";
  if (call.end < begin) return "end before start";
  // If the start is too late as well, the clock is wrong, not the call.
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
  const auto begin_time = [](const Call& call) -> std::uint64_t { return call.wire.head.time; };
  std::uint64_t time = has_recorded_ ? begin_time(recorded_) : UINT64_MAX;
  if (has_paired) time = std::min(time, begin_time(paired_[next_paired_]));
  while (has_recorded_ && begin_time(recorded_) == time) {
    moment_.push_back(recorded_);
    has_recorded_ = find_recorded(context);
  }
  while (next_paired_ < paired_.size() && begin_time(paired_[next_paired_]) == time)
    moment_.push_back(paired_[next_paired_++]);
  if (moment_.size() > 1) {
    std::sort(moment_.begin(), moment_.end(), [](const Call& a, const Call& b) {
      if (a.wire.head.level != b.wire.head.level) return a.wire.head.level > b.wire.head.level;
      return a.sequence < b.sequence;
    });
  }
}

template <typename Wire>
std::size_t CapturedStreams::read_records(const ImportContext& context, RecordStream& stream) {
  stream.open(context);
  std::set<
      std::tuple<std::uint16_t, std::uint32_t, std::uint32_t, std::uint32_t, bool, std::uint64_t>>
      seen;
  // The spans of each model that are still open.
  std::map<std::pair<std::uint16_t, std::uint32_t>,
           std::vector<std::pair<std::uint64_t, std::size_t>>>
      open;
  std::size_t count = 0;
  for (; const StreamRecord* record = stream.peek(); stream.next()) {
    const auto wire = decode<Wire>(record->bytes);
    ++count;
    // Copied: references to fields of a packed struct may be misaligned.
    const Record found{record->time,      wire.device,          wire.status != 0,
                       wire.model_stream, wire.original_stream, wire.model};
    if (!seen.emplace(found.device, found.model, found.original_stream, found.model_stream,
                      found.is_end, found.time)
             .second)
      continue;
    auto& of_model = open[{found.device, found.model}];
    if (!found.is_end) {
      const std::uint64_t key = make_key(found.device, found.model_stream);
      auto& spans = spans_[key];
      of_model.emplace_back(key, spans.size());
      spans.push_back({found.time, UINT64_MAX, found.model});
    } else {
      for (const auto& [key, place] : of_model) spans_[key][place].end = found.time;
      of_model.clear();
    }
  }
  return count;
}

void CapturedStreams::read(const ImportContext& context, RecordStream& stream, RecordStream& wide) {
  is_wide_ = read_records<CaptureStreamInfoV2Wire>(context, wide) > 0;
  if (is_wide_) {
    stream.open(context);
  } else {
    read_records<CaptureStreamInfoWire>(context, stream);
  }
}

bool CapturedStreams::has(std::uint16_t device, std::uint32_t stream) const {
  return spans_.contains(make_key(device, stream));
}

// A stream is captured again only after its graph was destroyed, so at most one span contains a
// given time.
std::int64_t CapturedStreams::find_model(const HostTrack& track) const {
  if (spans_.empty()) return kNull;
  const auto found = spans_.find(make_key(track.device, track.stream));
  if (found == spans_.end()) return kNull;
  const auto& spans = found->second;
  const auto span = std::find_if(spans.rbegin(), spans.rend(), [&](const Span& candidate) {
    return candidate.begin <= track.time && track.time <= candidate.end;
  });
  return span == spans.rend() ? kNull : std::int64_t{span->model};
}

void WideStreams::read(const ImportContext& context, RecordStream& stream) {
  stream.open(context, [this](const StreamRecord& record) {
    const auto wire = decode<TaskTrackV2Wire>(record.bytes);
    records_.push_back({record.time, wire.head.thread, wire.type, wire.kernel_name, wire.stream,
                        wire.task, wire.device});
  });
  std::stable_sort(records_.begin(), records_.end(), [](const Record& a, const Record& b) {
    return std::tie(a.time, a.thread) < std::tie(b.time, b.thread);
  });
}

std::uint32_t WideStreams::find_stream(const TaskTrackWire& track) const {
  const std::uint64_t time = track.head.time;
  const std::uint32_t thread = track.head.thread;
  const auto first = std::lower_bound(records_.begin(), records_.end(), std::tie(time, thread),
                                      [](const Record& record, const auto& key) {
                                        return std::tie(record.time, record.thread) < key;
                                      });
  constexpr std::uint32_t kLow = 0xFFFF;
  for (auto at = first; at != records_.end() && at->time == time && at->thread == thread; ++at) {
    if (at->device == track.device && at->type == track.type &&
        at->kernel_name == track.kernel_name && (at->stream & kLow) == track.stream &&
        (at->task & kLow) == track.task_number)
      return at->stream;
  }
  return track.stream;
}

}  // namespace msprof::cann
