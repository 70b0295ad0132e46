#include "export/trace/trace_json_writer.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>

#include "base/error.hpp"
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

void TraceJsonWriter::begin_event(std::int64_t time_ns) {
  if (time_ns < part_begin_ns_ || time_ns >= part_end_ns_) choose_part(time_ns);
  event_time_ns_ = time_ns;
  event_at_ = out_->size();
  SinkState& part = parts_[part_];
  *out_ += part.has_event ? ",\n" : "\n";
  part.has_event = true;
  ++events_;
  is_first_argument_ = true;
}

void TraceJsonWriter::end_event() {
  if (meter_) meter_(event_time_ns_, out_->size() - event_at_);
  if (out_->size() >= block_bytes_) flush_chunk(parts_[part_]);
}

void TraceJsonWriter::metadata_event(std::string_view text) {
  for (SinkState& part : parts_) {
    part.text += part.has_event ? ",\n" : "\n";
    part.text += text;
    part.has_event = true;
    if (part.text.size() >= block_bytes_) flush_chunk(part);
  }
}

void TraceJsonWriter::append_process(std::string& out, std::int64_t pid) const {
  if (process_prefix_.empty()) return append_integer(out, pid);
  out += '"';
  out += process_prefix_;
  out += '_';
  append_integer(out, pid);
  out += '"';
}

void TraceJsonWriter::process_name(std::int64_t pid, std::string_view name) {
  std::string text = "{\"name\":\"process_name\",\"pid\":";
  append_process(text, pid);
  text += ",\"tid\":0,\"args\":{\"name\":";
  append_json_string(text, name);
  metadata_event(text + "},\"ph\":\"M\"}");
}

void TraceJsonWriter::process_label(std::int64_t pid, std::string_view label) {
  std::string text = "{\"name\":\"process_labels\",\"pid\":";
  append_process(text, pid);
  text += ",\"tid\":0,\"args\":{\"labels\":";
  append_json_string(text, label);
  metadata_event(text + "},\"ph\":\"M\"}");
}

void TraceJsonWriter::thread_name(std::int64_t pid, std::int64_t tid, std::string_view name) {
  std::string text = "{\"name\":\"thread_name\",\"pid\":";
  append_process(text, pid);
  text += ",\"tid\":";
  append_integer(text, tid);
  text += ",\"args\":{\"name\":";
  append_json_string(text, name);
  metadata_event(text + "},\"ph\":\"M\"}");
}

// Returns a metadata event in CANN's form.
std::string TraceJsonWriter::cann_metadata(std::string_view kind, TraceLane lane,
                                           std::string_view argument,
                                           std::string_view value) const {
  std::string text = "{\"name\":\"";
  text += kind;
  text += "\",\"pid\":";
  append_process(text, lane.pid);
  text += ",\"tid\":";
  append_integer(text, lane.tid);
  text += ",\"ph\":\"M\",\"args\":{\"";
  text += argument;
  text += "\":";
  text += value;
  return text + "}}";
}

void TraceJsonWriter::process_sort_index(std::int64_t pid, std::int64_t sort_index) {
  metadata_event(
      cann_metadata("process_sort_index", {pid, 0}, "sort_index", std::to_string(sort_index)));
}

void TraceJsonWriter::process(std::int64_t pid, std::string_view name, std::string_view label,
                              std::int64_t sort_index) {
  const TraceLane lane{pid, 0};
  metadata_event(cann_metadata("process_name", lane, "name", json_string(name)));
  metadata_event(cann_metadata("process_labels", lane, "labels", json_string(label)));
  metadata_event(
      cann_metadata("process_sort_index", lane, "sort_index", std::to_string(sort_index)));
}

void TraceJsonWriter::thread(TraceLane lane, std::string_view name, std::int64_t sort_index) {
  metadata_event(cann_metadata("thread_name", lane, "name", json_string(name)));
  metadata_event(
      cann_metadata("thread_sort_index", lane, "sort_index", std::to_string(sort_index)));
}

void TraceJsonWriter::event_head(JsonText name, TraceLane lane) {
  *out_ += "{\"name\":";
  *out_ += name.text;
  *out_ += ",\"pid\":";
  if (process_prefix_.empty()) {
    out_->append_integer(lane.pid);
  } else {
    std::string process;
    append_process(process, lane.pid);
    *out_ += process;
  }
  *out_ += ",\"tid\":";
  out_->append_integer(lane.tid);
}

void TraceJsonWriter::flow_head(char phase, JsonText name, TraceLane lane, JsonText category,
                                JsonText id, std::int64_t time_ns) {
  begin_event(time_ns);
  if (parts_.size() > 1) count_arrow(phase, category, id);
  event_head(name, lane);
  *out_ += ",\"ph\":\"";
  *out_ += phase;
  *out_ += "\",\"cat\":";
  *out_ += category.text;
  *out_ += ",\"id\":";
  *out_ += id.text;
  time_text(time_ns);
}

// Relies on the start of an arrow being written before its ends.
void TraceJsonWriter::count_arrow(char phase, JsonText category, JsonText id) {
  // Arrows from calls have the number of the call in the upper 32 bits of their id, and these
  // numbers are dense. There are few other arrows.
  std::uint64_t number = 0;
  const char* const end = id.text.data() + id.text.size();
  const auto digits = std::from_chars(id.text.data() + 1, end, number);
  const bool is_call = digits.ptr == end - 1 && (number & 0xffffffff) == 0;
  std::uint64_t key = number >> 32;
  if (!is_call) {
    const std::hash<std::string_view> hash;
    key = (hash(category.text) * 31 + hash(id.text)) | std::uint64_t{1} << 63;
  }
  auto& block = arrow_starts_[is_call ? key / kArrowBlock : key];
  if (block.empty()) block.resize(is_call ? kArrowBlock : 1);
  std::uint16_t& start = block[is_call ? key % kArrowBlock : 0];
  if (phase == 's') {
    start = static_cast<std::uint16_t>(part_ + 1);
  } else if (start != 0) {
    ++arrows_;
    if (start != part_ + 1) ++cut_arrows_;
  }
}

void TraceJsonWriter::time_text(std::int64_t ns) {
  *out_ += ",\"ts\":\"";
  out_->append_us(saturating_subtract(ns, origin_ns_));
  *out_ += '"';
}

bool TraceJsonWriter::begin_complete(JsonText name, std::int64_t pid, std::int64_t tid,
                                     std::int64_t start_ns, std::int64_t duration_ns) {
  if (!draws(duration_ns)) return false;
  ++slices_;
  begin_event(start_ns);
  event_head(name, {pid, tid});
  *out_ += ",\"ts\":";
  out_->append_us(start_ns);
  *out_ += ",\"dur\":";
  out_->append_us(duration_ns);
  *out_ += ",\"args\":{";
  return true;
}

void TraceJsonWriter::end_complete() {
  *out_ += "},\"ph\":\"X\"}";
  end_event();
}

bool TraceJsonWriter::begin_slice(JsonText name, TraceLane where, std::int64_t start_ns,
                                  std::int64_t duration_ns, JsonText category) {
  if (!draws(duration_ns)) return false;
  ++slices_;
  begin_event(start_ns);
  event_head(name, where);
  time_text(start_ns);
  *out_ += ",\"dur\":";
  out_->append_short_us(duration_ns);
  *out_ += ",\"ph\":\"X\"";
  if (!category.text.empty()) {
    *out_ += ",\"cat\":";
    *out_ += category.text;
  }
  *out_ += ",\"args\":{";
  return true;
}

std::string TraceJsonWriter::lane_text(TraceLane lane) {
  std::string text = ",\"pid\":";
  append_integer(text, lane.pid);
  text += ",\"tid\":";
  append_integer(text, lane.tid);
  return text + ",\"ts\":\"";
}

bool TraceJsonWriter::begin_slice(JsonText name, std::string_view lane, std::int64_t start_ns,
                                  std::int64_t duration_ns, std::string_view arguments) {
  if (!draws(duration_ns)) return false;
  ++slices_;
  begin_event(start_ns);
  *out_ += "{\"name\":";
  *out_ += name.text;
  *out_ += lane;
  out_->append_us(saturating_subtract(start_ns, origin_ns_));
  *out_ += "\",\"dur\":";
  out_->append_short_us(duration_ns);
  *out_ += ",\"ph\":\"X\",\"args\":{";
  *out_ += arguments;
  is_first_argument_ = arguments.empty();
  return true;
}

void TraceJsonWriter::end_slice() {
  *out_ += "}}";
  end_event();
}

void TraceJsonWriter::key(JsonText key) {
  if (!is_first_argument_) *out_ += ',';
  is_first_argument_ = false;
  *out_ += key.text;
  *out_ += ':';
}

void TraceJsonWriter::argument(JsonText name, JsonText value) {
  key(name);
  *out_ += value.text;
}

void TraceJsonWriter::argument(JsonText name, std::int64_t value) {
  key(name);
  out_->append_integer(value);
}

void TraceJsonWriter::argument_text(JsonText name, std::string_view text) {
  key(name);
  *out_ += json_string(text);
}

void TraceJsonWriter::argument_us(JsonText name, std::int64_t ns) {
  key(name);
  out_->append_short_us(ns);
}

void TraceJsonWriter::argument_time(JsonText name, std::int64_t ns) {
  key(name);
  *out_ += '"';
  out_->append_us(saturating_subtract(ns, origin_ns_));
  *out_ += '"';
}

void TraceJsonWriter::argument_number(JsonText name, double value) {
  key(name);
  if (!std::isfinite(value)) {
    *out_ += "null";  // JSON has no other value for it
    return;
  }
  char digits[32];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
  const std::string_view text(digits, static_cast<std::size_t>(end - digits));
  *out_ += text;
  if (text.find_first_of(".e") == std::string_view::npos) *out_ += ".0";
}

void TraceJsonWriter::argument_digits(JsonText name, std::string_view digits) {
  key(name);
  *out_ += digits;
}

void TraceJsonWriter::arguments(std::string_view text) {
  if (!is_first_argument_) *out_ += ',';
  is_first_argument_ = false;
  *out_ += text;
}

void TraceJsonWriter::begin_counter(JsonText name, TraceLane where, std::int64_t time_ns) {
  begin_event(time_ns);
  event_head(name, where);
  time_text(time_ns);
  *out_ += ",\"ph\":\"C\",\"args\":{";
}

void TraceJsonWriter::counter(JsonText name, TraceLane where, std::int64_t time_ns, JsonText of,
                              std::int64_t value) {
  begin_counter(name, where, time_ns);
  argument(of, value);
  end_slice();
}

void TraceJsonWriter::flow(char phase, JsonText name, TraceLane where, JsonText category,
                           JsonText id, std::int64_t time_ns) {
  flow_head(phase, name, where, category, id, time_ns);
  *out_ += phase == 's' ? "}" : ",\"bp\":\"e\"}";
  end_event();
}

void TraceJsonWriter::begin_flow(char phase, JsonText name, TraceLane where, JsonText category,
                                 JsonText id, std::int64_t time_ns) {
  flow_head(phase, name, where, category, id, time_ns);
  *out_ += ",\"args\":{";
}

void TraceJsonWriter::finish() {
  for (SinkState& part : parts_) {
    if (!is_fragment_) part.text += part.has_event ? "\n]\n" : "]\n";
    flush_chunk(part);
    part.sink->finish();
  }
}

}  // namespace msprof
