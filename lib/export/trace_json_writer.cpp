#include "export/trace_json_writer.hpp"

#include <charconv>

#include "base/number.hpp"
#include "export/json_text.hpp"

namespace msprof {

TraceJsonWriter::TraceJsonWriter(AtomicFile& file) : file_(file), out_(file.buffer()) {
  out_ += '[';
}

void TraceJsonWriter::append(std::int64_t value) {
  char digits[24];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
  out_.append(digits, end);
}

void TraceJsonWriter::begin_event() {
  out_ += events_++ == 0 ? "\n" : ",\n";
}

void TraceJsonWriter::metadata(std::string_view kind, std::int64_t pid, std::int64_t tid,
                               std::string_view name) {
  begin_event();
  out_ += "{\"name\":\"";
  out_ += kind;
  out_ += "\",\"pid\":";
  append(pid);
  out_ += ",\"tid\":";
  append(tid);
  out_ += ",\"args\":{\"name\":";
  append_json_string(out_, name);
  out_ += "},\"ph\":\"M\"}";
}

void TraceJsonWriter::process_name(std::int64_t pid, std::string_view name) {
  metadata("process_name", pid, 0, name);
}

void TraceJsonWriter::thread_name(std::int64_t pid, std::int64_t tid, std::string_view name) {
  metadata("thread_name", pid, tid, name);
}

void TraceJsonWriter::begin_complete(JsonText name, std::int64_t pid, std::int64_t tid,
                                     std::int64_t start_ns, std::int64_t duration_ns) {
  begin_event();
  out_ += "{\"name\":";
  out_ += name.text;
  out_ += ",\"pid\":";
  append(pid);
  out_ += ",\"tid\":";
  append(tid);
  out_ += ",\"ts\":";
  append_us_from_ns(out_, start_ns);
  out_ += ",\"dur\":";
  append_us_from_ns(out_, duration_ns);
  out_ += ",\"args\":{";
  first_argument_ = true;
}

void TraceJsonWriter::key(JsonText key) {
  if (!first_argument_) out_ += ',';
  first_argument_ = false;
  out_ += key.text;
  out_ += ':';
}

void TraceJsonWriter::argument(JsonText name, JsonText value) {
  key(name);
  out_ += value.text;
}

void TraceJsonWriter::argument(JsonText name, std::int64_t value) {
  key(name);
  append(value);
}

void TraceJsonWriter::end_complete() {
  out_ += "},\"ph\":\"X\"}";
  file_.drain();
}

void TraceJsonWriter::finish() {
  out_ += events_ == 0 ? "]\n" : "\n]\n";
}

}  // namespace msprof
