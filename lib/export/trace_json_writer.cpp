#include "export/trace_json_writer.hpp"

#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>

#include "base/error.hpp"
#include "base/number.hpp"
#include "export/json_text.hpp"

namespace msprof {

namespace {

// As fast as gzip goes: events are so alike that more effort saves little (measured: level 6 takes
// twice the time for a sixth less).
constexpr int kLevel = 1;
constexpr int kGzipWindow = 15 + 16;  // the largest window, with a gzip header
constexpr int kMemoryLevel = 9;

class GzipSink : public TraceSink {
 public:
  GzipSink(AtomicFile& file, std::size_t buffer_bytes) : file_(file), buffer_bytes_(buffer_bytes) {
    if (deflateInit2(&stream_, kLevel, Z_DEFLATED, kGzipWindow, kMemoryLevel, Z_DEFAULT_STRATEGY) !=
        Z_OK) {
      throw Error(Exit::internal_error, "zlib cannot be initialized");
    }
  }
  ~GzipSink() override { deflateEnd(&stream_); }
  GzipSink(const GzipSink&) = delete;
  GzipSink& operator=(const GzipSink&) = delete;

  std::string& buffer() override { return text_; }
  void drain() override {
    if (text_.size() >= buffer_bytes_) compress(Z_NO_FLUSH);
  }
  void finish() override { compress(Z_FINISH); }
  std::uint64_t text_bytes() const override { return compressed_from_ + text_.size(); }

 private:
  void compress(int flush) {
    compressed_from_ += text_.size();
    std::string& out = file_.buffer();
    // zlib's interface takes input that it does not change as non-const.
    stream_.next_in = reinterpret_cast<Bytef*>(text_.data());
    stream_.avail_in = static_cast<uInt>(text_.size());
    do {
      const std::size_t before = out.size();
      out.resize(before + kChunk);
      stream_.next_out = reinterpret_cast<Bytef*>(out.data() + before);
      stream_.avail_out = static_cast<uInt>(kChunk);
      deflate(&stream_, flush);
      out.resize(before + kChunk - stream_.avail_out);
      file_.drain(buffer_bytes_);
    } while (stream_.avail_out == 0);
    text_.clear();
  }

  static constexpr std::size_t kChunk = 64 << 10;
  AtomicFile& file_;
  std::size_t buffer_bytes_;
  std::string text_;
  std::uint64_t compressed_from_ = 0;
  z_stream stream_{};
};

}  // namespace

std::unique_ptr<TraceSink> make_gzip_sink(AtomicFile& file, std::size_t buffer_bytes) {
  return std::make_unique<GzipSink>(file, buffer_bytes);
}

namespace {

void append_integer(std::string& out, std::int64_t value) {
  char digits[24];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
  out.append(digits, end);
}

// us with as few decimals as the value has, one at least: what a JSON writer makes of the double.
void append_short_us(std::string& out, std::int64_t ns) {
  append_us_from_ns(out, ns);
  for (int zeros = 0; zeros < 2 && out.back() == '0'; ++zeros) out.pop_back();
}

}  // namespace

TraceJsonWriter::TraceJsonWriter(TraceSink& sink)
    : TraceJsonWriter(std::vector<TraceSink*>{&sink}, {}) {}

TraceJsonWriter::TraceJsonWriter(const std::vector<TraceSink*>& sinks,
                                 std::vector<std::int64_t> cuts)
    : cuts_(std::move(cuts)) {
  for (TraceSink* sink : sinks) {
    sink->buffer() += '[';
    parts_.push_back({sink, false});
  }
  choose_part(INT64_MIN);
}

void TraceJsonWriter::choose_part(std::int64_t time_ns) {
  part_ = static_cast<std::size_t>(std::upper_bound(cuts_.begin(), cuts_.end(), time_ns) -
                                   cuts_.begin());
  part_begin_ns_ = part_ == 0 ? INT64_MIN : cuts_[part_ - 1];
  part_end_ns_ = part_ == cuts_.size() ? INT64_MAX : cuts_[part_];
  out_ = &parts_[part_].sink->buffer();
}

void TraceJsonWriter::begin_event(std::int64_t time_ns) {
  if (time_ns < part_begin_ns_ || time_ns >= part_end_ns_) choose_part(time_ns);
  event_time_ns_ = time_ns;
  event_at_ = out_->size();
  Part& part = parts_[part_];
  *out_ += part.has_event ? ",\n" : "\n";
  part.has_event = true;
  ++events_;
  first_argument_ = true;
}

void TraceJsonWriter::end_event() {
  if (meter_) meter_(event_time_ns_, out_->size() - event_at_);
  parts_[part_].sink->drain();
}

void TraceJsonWriter::metadata_event(std::string_view text) {
  for (Part& part : parts_) {
    std::string& out = part.sink->buffer();
    out += part.has_event ? ",\n" : "\n";
    out += text;
    part.has_event = true;
    part.sink->drain();
  }
}

void TraceJsonWriter::process_name(std::int64_t pid, std::string_view name) {
  std::string text = "{\"name\":\"process_name\",\"pid\":";
  append_integer(text, pid);
  text += ",\"tid\":0,\"args\":{\"name\":";
  append_json_string(text, name);
  metadata_event(text + "},\"ph\":\"M\"}");
}

void TraceJsonWriter::process_label(std::int64_t pid, std::string_view label) {
  std::string text = "{\"name\":\"process_labels\",\"pid\":";
  append_integer(text, pid);
  text += ",\"tid\":0,\"args\":{\"labels\":";
  append_json_string(text, label);
  metadata_event(text + "},\"ph\":\"M\"}");
}

void TraceJsonWriter::thread_name(std::int64_t pid, std::int64_t tid, std::string_view name) {
  std::string text = "{\"name\":\"thread_name\",\"pid\":";
  append_integer(text, pid);
  text += ",\"tid\":";
  append_integer(text, tid);
  text += ",\"args\":{\"name\":";
  append_json_string(text, name);
  metadata_event(text + "},\"ph\":\"M\"}");
}

namespace {

// A metadata event of CANN.
std::string cann_metadata(std::string_view kind, TraceLane lane, std::string_view argument,
                          std::string_view value) {
  std::string text = "{\"name\":\"";
  text += kind;
  text += "\",\"pid\":";
  append_integer(text, lane.pid);
  text += ",\"tid\":";
  append_integer(text, lane.tid);
  text += ",\"ph\":\"M\",\"args\":{\"";
  text += argument;
  text += "\":";
  text += value;
  return text + "}}";
}

}  // namespace

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
  append_integer(*out_, lane.pid);
  *out_ += ",\"tid\":";
  append_integer(*out_, lane.tid);
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

// Starts are written before the ends.
void TraceJsonWriter::count_arrow(char phase, JsonText category, JsonText id) {
  // Arrows from calls have the number of the call in the upper half of their id, and follow each
  // other; all others are few.
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
  append_us_from_ns(*out_, saturating_subtract(ns, origin_ns_));
  *out_ += '"';
}

bool TraceJsonWriter::begin_complete(JsonText name, std::int64_t pid, std::int64_t tid,
                                     std::int64_t start_ns, std::int64_t duration_ns) {
  if (!draws(duration_ns)) return false;
  ++slices_;
  begin_event(start_ns);
  event_head(name, {pid, tid});
  *out_ += ",\"ts\":";
  append_us_from_ns(*out_, start_ns);
  *out_ += ",\"dur\":";
  append_us_from_ns(*out_, duration_ns);
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
  append_short_us(*out_, duration_ns);
  *out_ += ",\"ph\":\"X\"";
  if (!category.text.empty()) {
    *out_ += ",\"cat\":";
    *out_ += category.text;
  }
  *out_ += ",\"args\":{";
  return true;
}

std::string TraceJsonWriter::slice_head(JsonText name, TraceLane lane) {
  std::string head = "{\"name\":";
  head += name.text;
  head += ",\"pid\":";
  append_integer(head, lane.pid);
  head += ",\"tid\":";
  append_integer(head, lane.tid);
  return head + ",\"ts\":\"";
}

bool TraceJsonWriter::begin_slice(std::string_view head, std::int64_t start_ns,
                                  std::int64_t duration_ns, std::string_view arguments) {
  if (!draws(duration_ns)) return false;
  ++slices_;
  begin_event(start_ns);
  *out_ += head;
  append_us_from_ns(*out_, saturating_subtract(start_ns, origin_ns_));
  *out_ += "\",\"dur\":";
  append_short_us(*out_, duration_ns);
  *out_ += ",\"ph\":\"X\",\"args\":{";
  *out_ += arguments;
  first_argument_ = arguments.empty();
  return true;
}

void TraceJsonWriter::end_slice() {
  *out_ += "}}";
  end_event();
}

void TraceJsonWriter::key(JsonText key) {
  if (!first_argument_) *out_ += ',';
  first_argument_ = false;
  *out_ += key.text;
  *out_ += ':';
}

void TraceJsonWriter::argument(JsonText name, JsonText value) {
  key(name);
  *out_ += value.text;
}

void TraceJsonWriter::argument(JsonText name, std::int64_t value) {
  key(name);
  append_integer(*out_, value);
}

void TraceJsonWriter::argument_text(JsonText name, std::string_view text) {
  key(name);
  append_json_string(*out_, text);
}

void TraceJsonWriter::argument_us(JsonText name, std::int64_t ns) {
  key(name);
  append_short_us(*out_, ns);
}

void TraceJsonWriter::argument_time(JsonText name, std::int64_t ns) {
  key(name);
  *out_ += '"';
  append_us_from_ns(*out_, saturating_subtract(ns, origin_ns_));
  *out_ += '"';
}

void TraceJsonWriter::argument_number(JsonText name, double value) {
  key(name);
  if (!std::isfinite(value)) {
    *out_ += "null";  // JSON has no other word for it
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
  if (!first_argument_) *out_ += ',';
  first_argument_ = false;
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
  for (Part& part : parts_) {
    part.sink->buffer() += part.has_event ? "\n]\n" : "]\n";
    part.sink->finish();
  }
}

}  // namespace msprof
