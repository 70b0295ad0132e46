#include "export/trace/trace_json_writer.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <utility>

#include "base/json_text.hpp"
#include "base/number.hpp"

namespace msprof {

namespace {

void append_integer(std::string& out, std::int64_t value) {
  char digits[24];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
  out.append(digits, end);
}

// Room beyond a block for a usual event, so that the buffer does not grow.
constexpr std::size_t kBlockRoom = 8 << 10;
// Room for the members of an event and for those of an argument, without their texts.
constexpr std::size_t kEventRoom = 512;
constexpr std::size_t kArgumentRoom = 64;

// Room for the JSON of a text without its quotes: \u0001 is the longest of a byte.
std::size_t json_room(TraceText text) {
  return text.is_plain() ? text.size() : 6 * text.size();
}

char* put_json(char* to, TraceText text) {
  if (!text.is_plain() && !is_plain_json(text.view()))
    return put_text(to, std::string_view(json_string(text.view())));
  *to++ = '"';
  to = put_text(to, text.view());
  *to++ = '"';
  return to;
}

char* put_real(char* to, double value) {
  if (!std::isfinite(value)) return put_text(to, "null");  // JSON has no other value for it
  char* end = std::to_chars(to, to + kArgumentRoom / 2, value).ptr;
  const std::string_view shortest(to, static_cast<std::size_t>(end - to));
  return shortest.find_first_of(".e") == std::string_view::npos ? put_text(end, ".0") : end;
}

}  // namespace

TraceJsonWriter::TraceJsonWriter(TraceSink& sink)
    : TraceJsonWriter(std::vector<TraceSink*>{&sink}, {}) {}

TraceJsonWriter::TraceJsonWriter(const std::vector<TraceSink*>& sinks,
                                 std::vector<std::int64_t> cuts, std::size_t block_bytes)
    : cuts_(std::move(cuts)), block_bytes_(block_bytes) {
  for (TraceSink* sink : sinks) {
    parts_.push_back({sink, false, TextBlock(block_bytes + kBlockRoom)});
    parts_.back().text += "[";
  }
  choose_part(INT64_MIN);
}

TraceJsonWriter::TraceJsonWriter(TraceSink& sink, Fragment)
    : block_bytes_(kBlockBytes), is_fragment_(true) {
  parts_.push_back({&sink, true, TextBlock(kBlockBytes + kBlockRoom)});
  choose_part(INT64_MIN);
}

void TraceJsonWriter::choose_part(std::int64_t time_ns) {
  part_ = static_cast<std::size_t>(std::upper_bound(cuts_.begin(), cuts_.end(), time_ns) -
                                   cuts_.begin());
  part_begin_ns_ = part_ == 0 ? INT64_MIN : cuts_[part_ - 1];
  part_end_ns_ = part_ == cuts_.size() ? INT64_MAX : cuts_[part_];
  out_ = &parts_[part_].text;
}

void TraceJsonWriter::flush_chunk(SinkState& part) {
  part.sink->write(part.text.view());
  part.text.clear();
}

// Returns ,"pid":1,"tid":2
const std::string& TraceJsonWriter::lane_text(TraceLane lane) {
  const auto pid = static_cast<std::uint64_t>(lane.pid);
  LaneText& known = lane_texts_[(pid * 31 + static_cast<std::uint64_t>(lane.tid)) % kLaneTexts];
  if (known.text.empty() || known.lane != lane) {
    known.lane = lane;
    known.text = ",\"pid\":";
    if (lane.layer >= 0) {
      known.text += '"';
      append_integer(known.text, lane.layer);
      known.text += '_';
    }
    append_integer(known.text, lane.pid);
    if (lane.layer >= 0) known.text += '"';
    known.text += ",\"tid\":";
    append_integer(known.text, lane.tid);
  }
  return known.text;
}

// Every part has the metadata.
void TraceJsonWriter::write_metadata(const TraceEvent& event) {
  using Kind = TraceEvent::Kind;
  const auto [name, argument] = [&]() -> std::pair<std::string_view, std::string_view> {
    switch (event.kind) {
      case Kind::process_name:
        return {"process_name", "name"};
      case Kind::process_label:
        return {"process_labels", "labels"};
      case Kind::process_sort_index:
        return {"process_sort_index", "sort_index"};
      case Kind::thread_name:
        return {"thread_name", "name"};
      default:
        return {"thread_sort_index", "sort_index"};
    }
  }();
  std::string json = "{\"name\":\"";
  json += name;
  json += '"';
  json += lane_text(event.lane);
  if (!event.is_svp) json += ",\"ph\":\"M\"";
  json += ",\"args\":{\"";
  json += argument;
  json += "\":";
  if (argument == "sort_index") {
    append_integer(json, event.sort_index);
  } else {
    append_json_string(json, event.name.view());
  }
  json += event.is_svp ? "},\"ph\":\"M\"}" : "}}";
  for (SinkState& part : parts_) {
    part.text += part.has_event ? ",\n" : "\n";
    part.text += json;
    part.has_event = true;
    if (part.text.size() >= block_bytes_) flush_chunk(part);
  }
}

// Relies on the start of an arrow being written before its ends.
void TraceJsonWriter::count_arrow(const TraceEvent& arrow) {
  // Arrows from calls have the number of the call in the upper 32 bits of their id, and these
  // numbers are dense. There are few other arrows.
  const bool is_call = arrow.arrow_text.view().empty() && (arrow.arrow & 0xffffffff) == 0;
  std::uint64_t key = arrow.arrow >> 32;
  if (!is_call) {
    const std::hash<std::string_view> hash;
    const std::uint64_t id =
        arrow.arrow_text.view().empty() ? arrow.arrow : hash(arrow.arrow_text.view());
    key = (hash(arrow.category.view()) * 31 + id) | std::uint64_t{1} << 63;
  }
  auto& block = arrow_starts_[is_call ? key / kArrowBlock : key];
  if (block.empty()) block.resize(is_call ? kArrowBlock : 1);
  std::uint16_t& start = block[is_call ? key % kArrowBlock : 0];
  if (arrow.phase == 's') {
    start = static_cast<std::uint16_t>(part_ + 1);
  } else if (start != 0) {
    ++arrows_;
    if (start != part_ + 1) ++cut_arrows_;
  }
}

char* TraceJsonWriter::put_time(char* to, std::int64_t ns) const {
  *to++ = '"';
  to = put_us_from_ns(to, saturating_subtract(ns, origin_ns_));
  *to++ = '"';
  return to;
}

void TraceJsonWriter::begin(const TraceEvent& event) {
  if (event.is_metadata()) {
    event_end_ = {};
    return write_metadata(event);
  }
  if (event.start_ns < part_begin_ns_ || event.start_ns >= part_end_ns_)
    choose_part(event.start_ns);
  event_time_ns_ = event.start_ns;
  event_at_ = out_->size();
  SinkState& part = parts_[part_];
  char* at = out_->room(kEventRoom + json_room(event.name) + json_room(event.category) +
                        json_room(event.arrow_text));
  if (std::exchange(part.has_event, true)) *at++ = ',';
  at = put_text(at, "\n{\"name\":");
  at = put_json(at, event.name);
  at = put_text(at, std::string_view(lane_text(event.lane)));
  event_end_ = "}}";
  bool has_arguments = true;
  switch (event.kind) {
    case TraceEvent::Kind::slice:
      at = put_text(at, ",\"ts\":");
      if (event.is_svp) {
        at = put_text(put_us_from_ns(at, event.start_ns), ",\"dur\":");
        at = put_us_from_ns(at, event.duration_ns);
        event_end_ = "},\"ph\":\"X\"}";
        break;
      }
      at = put_text(put_time(at, event.start_ns), ",\"dur\":");
      at = put_text(put_short_us(at, event.duration_ns), ",\"ph\":\"X\"");
      if (!event.category.empty()) at = put_json(put_text(at, ",\"cat\":"), event.category);
      break;
    case TraceEvent::Kind::arrow:
      if (parts_.size() > 1) count_arrow(event);
      at = put_text(at, ",\"ph\":\"");
      *at++ = event.phase;
      at = put_json(put_text(at, "\",\"cat\":"), event.category);
      at = put_text(at, ",\"id\":");
      if (event.arrow_text.empty()) {
        *at++ = '"';
        at = put_integer(at, event.arrow);
        *at++ = '"';
      } else {
        at = put_json(at, event.arrow_text);
      }
      at = put_time(put_text(at, ",\"ts\":"), event.start_ns);
      has_arguments = event.has_arguments;
      if (!has_arguments) event_end_ = "}";
      if (!has_arguments && event.phase != 's') event_end_ = ",\"bp\":\"e\"}";
      break;
    default:
      at = put_text(put_time(put_text(at, ",\"ts\":"), event.start_ns), ",\"ph\":\"C\"");
  }
  if (has_arguments) at = put_text(at, ",\"args\":{");
  out_->set_end(at);
  is_first_argument_ = true;
}

void TraceJsonWriter::end() {
  if (event_end_.empty()) return;
  *out_ += event_end_;
  if (meter_) meter_(event_time_ns_, out_->size() - event_at_);
  if (out_->size() >= block_bytes_) flush_chunk(parts_[part_]);
}

char* TraceJsonWriter::put_value(char* to, const TraceValue& value) const {
  using Kind = TraceValue::Kind;
  switch (value.kind) {
    case Kind::integer:
      return put_integer(to, value.integer);
    case Kind::real:
      return put_real(to, value.real);
    case Kind::text:
      return put_json(to, value.text);
    case Kind::decimal:
      return put_text(to, value.text.view());
    case Kind::duration:
      return put_short_us(to, value.integer);
    default:
      return put_time(to, value.integer);
  }
}

void TraceJsonWriter::add(std::span<const TraceArgument> arguments) {
  std::size_t bytes = 0;
  for (const TraceArgument& one : arguments)
    bytes += kArgumentRoom + json_room(one.key) + json_room(one.value.text);
  char* at = out_->room(bytes);
  for (const TraceArgument& one : arguments) {
    if (!std::exchange(is_first_argument_, false)) *at++ = ',';
    at = put_json(at, one.key);
    *at++ = ':';
    at = put_value(at, one.value);
  }
  out_->set_end(at);
}

void TraceJsonWriter::arguments(const SharedArguments& shared) {
  if (shared.json().empty()) return;
  if (!std::exchange(is_first_argument_, false)) *out_ += ",";
  *out_ += shared.json();
}

void TraceJsonWriter::finish() {
  for (SinkState& part : parts_) {
    if (!is_fragment_) part.text += part.has_event ? "\n]\n" : "]\n";
    flush_chunk(part);
    part.sink->finish();
  }
}

}  // namespace msprof
