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

// Enough room for a usual event, so that the buffer grows at most once per event.
constexpr std::size_t kEventRoom = 1024;

}  // namespace

TraceJsonWriter::TraceJsonWriter(TraceSink& sink)
    : TraceJsonWriter(std::vector<TraceSink*>{&sink}, {}) {}

TraceJsonWriter::TraceJsonWriter(const std::vector<TraceSink*>& sinks,
                                 std::vector<std::int64_t> cuts, std::size_t block_bytes)
    : cuts_(std::move(cuts)), block_bytes_(block_bytes) {
  for (TraceSink* sink : sinks) {
    parts_.push_back({sink, false, TextBlock(block_bytes + kEventRoom)});
    parts_.back().text += '[';
  }
  choose_part(INT64_MIN);
}

TraceJsonWriter::TraceJsonWriter(TraceSink& sink, Fragment)
    : block_bytes_(kBlockBytes), is_fragment_(true) {
  parts_.push_back({&sink, true, TextBlock(kBlockBytes + kEventRoom)});
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

void TraceJsonWriter::text(TraceText text) {
  if (text.is_plain() || is_plain_json(text.view())) {
    *out_ += '"';
    *out_ += text.view();
    *out_ += '"';
  } else {
    *out_ += json_string(text.view());
  }
}

void TraceJsonWriter::time(std::int64_t ns) {
  *out_ += '"';
  out_->append_us(saturating_subtract(ns, origin_ns()));
  *out_ += '"';
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
  *out_ += part.has_event ? ",\n{\"name\":" : "\n{\"name\":";
  part.has_event = true;
  is_first_argument_ = true;
  text(event.name);
  *out_ += lane_text(event.lane);
  event_end_ = "}}";
  switch (event.kind) {
    case TraceEvent::Kind::slice:
      if (event.is_svp) {
        *out_ += ",\"ts\":";
        out_->append_us(event.start_ns);
        *out_ += ",\"dur\":";
        out_->append_us(event.duration_ns);
        event_end_ = "},\"ph\":\"X\"}";
      } else {
        *out_ += ",\"ts\":";
        time(event.start_ns);
        *out_ += ",\"dur\":";
        out_->append_short_us(event.duration_ns);
        *out_ += ",\"ph\":\"X\"";
        if (!event.category.view().empty()) {
          *out_ += ",\"cat\":";
          text(event.category);
        }
      }
      break;
    case TraceEvent::Kind::arrow:
      if (parts_.size() > 1) count_arrow(event);
      *out_ += ",\"ph\":\"";
      *out_ += event.phase;
      *out_ += "\",\"cat\":";
      text(event.category);
      *out_ += ",\"id\":";
      if (event.arrow_text.view().empty()) {
        *out_ += '"';
        out_->append_integer(event.arrow);
        *out_ += '"';
      } else {
        text(event.arrow_text);
      }
      *out_ += ",\"ts\":";
      time(event.start_ns);
      if (event.has_arguments) break;
      event_end_ = event.phase == 's' ? "}" : ",\"bp\":\"e\"}";
      return;
    default:
      *out_ += ",\"ts\":";
      time(event.start_ns);
      *out_ += ",\"ph\":\"C\"";
  }
  *out_ += ",\"args\":{";
}

void TraceJsonWriter::end() {
  if (event_end_.empty()) return;
  *out_ += event_end_;
  if (meter_) meter_(event_time_ns_, out_->size() - event_at_);
  if (out_->size() >= block_bytes_) flush_chunk(parts_[part_]);
}

void TraceJsonWriter::key(TraceText key) {
  const bool is_first = std::exchange(is_first_argument_, false);
  if (key.is_plain()) {
    *out_ += is_first ? "\"" : ",\"";
    *out_ += key.view();
    *out_ += "\":";
    return;
  }
  if (!is_first) *out_ += ',';
  text(key);
  *out_ += ':';
}

void TraceJsonWriter::add(TraceText name, const TraceValue& value) {
  using Kind = TraceValue::Kind;
  key(name);
  switch (value.kind) {
    case Kind::integer:
      out_->append_integer(value.integer);
      break;
    case Kind::real: {
      if (!std::isfinite(value.real)) {
        *out_ += "null";  // JSON has no other value for it
        break;
      }
      char digits[32];
      const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value.real);
      const std::string_view shortest(digits, static_cast<std::size_t>(end - digits));
      *out_ += shortest;
      if (shortest.find_first_of(".e") == std::string_view::npos) *out_ += ".0";
      break;
    }
    case Kind::text:
      text(value.text);
      break;
    case Kind::decimal:
      *out_ += value.text.view();
      break;
    case Kind::duration:
      out_->append_short_us(value.integer);
      break;
    case Kind::time:
      time(value.integer);
  }
}

void TraceJsonWriter::arguments(const SharedArguments& shared) {
  if (shared.json().empty()) return;
  if (!std::exchange(is_first_argument_, false)) *out_ += ',';
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
