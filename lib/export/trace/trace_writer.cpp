#include "export/trace/trace_writer.hpp"

#include "base/json_text.hpp"
#include "base/number.hpp"

namespace msprof {

std::int64_t TraceEvent::end_ns() const {
  return saturating_add(start_ns, duration_ns);
}

void SharedArguments::add(TraceText key, std::int64_t value) {
  start_json(key) += std::to_string(value);
  arguments_.push_back({key, {.integer = value}, {}});
}

void SharedArguments::add(TraceText key, std::string_view text) {
  append_json_string(start_json(key), text);
  arguments_.push_back({key, {.kind = TraceValue::Kind::text, .integer = 0}, std::string(text)});
}

std::string& SharedArguments::start_json(TraceText key) {
  if (!json_.empty()) json_ += ',';
  append_json_string(json_, key.view());
  return json_ += ':';
}

void TraceWriter::metadata(TraceEvent::Kind kind, bool is_svp, TraceLane lane, TraceText text,
                           std::int64_t sort_index) {
  begin({.kind = kind, .is_svp = is_svp, .name = text, .lane = lane, .sort_index = sort_index});
  end();
}

void TraceWriter::process_name(TraceLane lane, TraceText name) {
  metadata(TraceEvent::Kind::process_name, true, lane, name);
}

void TraceWriter::process_label(TraceLane lane, TraceText label) {
  metadata(TraceEvent::Kind::process_label, true, lane, label);
}

void TraceWriter::thread_name(TraceLane lane, TraceText name) {
  metadata(TraceEvent::Kind::thread_name, true, lane, name);
}

void TraceWriter::process(std::int64_t pid, TraceText name, TraceText label,
                          std::int64_t sort_index) {
  metadata(TraceEvent::Kind::process_name, false, {pid}, name);
  metadata(TraceEvent::Kind::process_label, false, {pid}, label);
  process_sort_index({pid}, sort_index);
}

void TraceWriter::process_sort_index(TraceLane lane, std::int64_t sort_index) {
  metadata(TraceEvent::Kind::process_sort_index, false, lane, {}, sort_index);
}

void TraceWriter::thread(TraceLane lane, TraceText name, std::int64_t sort_index) {
  metadata(TraceEvent::Kind::thread_name, false, lane, name);
  metadata(TraceEvent::Kind::thread_sort_index, false, lane, {}, sort_index);
}

bool TraceWriter::begin_slice(const TraceEvent& slice) {
  if (!draws(slice.duration_ns)) return false;
  ++events_;
  ++slices_;
  begin(slice);
  return true;
}

bool TraceWriter::begin_slice(TraceText name, TraceLane lane, std::int64_t start_ns,
                              std::int64_t duration_ns, TraceText category) {
  return begin_slice({.name = name,
                      .category = category,
                      .lane = lane,
                      .start_ns = start_ns,
                      .duration_ns = duration_ns});
}

bool TraceWriter::begin_svp_slice(TraceText name, TraceLane lane, std::int64_t start_ns,
                                  std::int64_t duration_ns) {
  return begin_slice({.is_svp = true,
                      .name = name,
                      .lane = lane,
                      .start_ns = start_ns,
                      .duration_ns = duration_ns});
}

void TraceWriter::begin_counter(TraceText name, TraceLane lane, std::int64_t time_ns) {
  ++events_;
  begin({.kind = TraceEvent::Kind::counter, .name = name, .lane = lane, .start_ns = time_ns});
}

void TraceWriter::counter(TraceText name, TraceLane lane, std::int64_t time_ns, TraceText key,
                          std::int64_t value) {
  begin_counter(name, lane, time_ns);
  argument(key, value);
  end();
}

void TraceWriter::begin_arrow(char phase, const TraceArrow& arrow, TraceLane lane,
                              std::int64_t time_ns, bool has_arguments) {
  ++events_;
  begin({.kind = TraceEvent::Kind::arrow,
         .has_arguments = has_arguments,
         .phase = phase,
         .name = arrow.name,
         .category = arrow.category,
         .lane = lane,
         .start_ns = time_ns,
         .arrow = arrow.number,
         .arrow_text = arrow.text});
}

void TraceWriter::arrow(char phase, const TraceArrow& arrow, TraceLane lane, std::int64_t time_ns) {
  begin_arrow(phase, arrow, lane, time_ns, false);
  end();
}

void TraceWriter::begin_arrow(char phase, const TraceArrow& arrow, TraceLane lane,
                              std::int64_t time_ns) {
  begin_arrow(phase, arrow, lane, time_ns, true);
}

void TraceWriter::argument_us(TraceText key, std::int64_t ns) {
  add_one({key, TraceValue{.kind = TraceValue::Kind::duration, .integer = ns}});
}

void TraceWriter::argument_time(TraceText key, std::int64_t ns) {
  add_one({key, TraceValue{.kind = TraceValue::Kind::time, .integer = ns}});
}

void TraceWriter::argument_number(TraceText key, double value) {
  add_one({key, TraceValue{.kind = TraceValue::Kind::real, .real = value}});
}

void TraceWriter::argument_digits(TraceText key, std::string_view digits) {
  add_one({key, TraceValue{.kind = TraceValue::Kind::decimal, .integer = 0, .text = digits}});
}

void TraceWriter::arguments(const SharedArguments& shared) {
  shared.for_each([this](const TraceArgument& argument) { add_one(argument); });
}

}  // namespace msprof
