// A hand-filled CANN store, and one of its timeline layers as events. For the tests of the layers.
#pragma once

#include <nlohmann/json.hpp>

#include "export/products.hpp"
#include "export/trace/trace_json_writer.hpp"
#include "support/cann_store.hpp"

namespace msprof::test {

using nlohmann::json;

inline constexpr std::int64_t kNode = 10000;
inline constexpr std::int64_t kAcl = 20000;

// Keeps the text of a timeline.
class TextSink : public TraceSink {
 public:
  void write(std::string_view text) override { text_ += text; }
  void finish() override {}
  const std::string& text() const { return text_; }
  std::uint64_t text_bytes() const override { return text_.size(); }

 private:
  std::string text_;
};

inline json events(CannStore& store, const std::unique_ptr<TimelineLayer>& layer,
                   const OutputFile& output_file = {}) {
  if (!store.is_filled()) store.add_marks();
  TextSink sink;
  TraceJsonWriter writer(sink);
  writer.set_min_duration(output_file.scope.min_duration_ns);
  layer->write(store.db().database(), output_file, writer);
  writer.finish();
  return json::parse(sink.text());
}

inline json select_events(const json& all, std::string_view phase) {
  json some = json::array();
  for (const json& event : all) {
    if (event["ph"] == phase) some.push_back(event);
  }
  return some;
}

inline std::vector<std::string> names(const json& all, std::string_view phase) {
  std::vector<std::string> some;
  for (const json& event : select_events(all, phase)) some.push_back(event["name"]);
  return some;
}

// "thread_name" of a thread; empty if it has none.
inline std::string thread_name(const json& all, std::int64_t tid) {
  for (const json& event : all) {
    if (event["name"] == "thread_name" && event["tid"] == tid) return event["args"]["name"];
  }
  return "";
}

inline void add_call(CannStore& store, std::int64_t id, const char* name, std::int64_t level,
                     std::int64_t start_ns, std::int64_t duration_ns, const char* item = nullptr) {
  ApiCallRow call;
  call.id = id;
  call.thread_id = 7;
  call.type_name_id = store.name("ACL_RTS");
  call.name_id = store.name(name);
  call.start_ns = start_ns;
  call.end_ns = start_ns + duration_ns;
  call.level = level;
  if (item != nullptr) call.item_name_id = store.name(item);
  store.add(call);
}

inline TaskRow task(CannStore& store, std::int64_t id, const char* host_type, std::int64_t start_ns,
                    std::int64_t duration_ns) {
  TaskRow row;
  row.id = id;
  row.device_id = 0;
  row.stream_id = 60;
  row.task_number = id;
  row.batch = 0;
  row.start_ns = start_ns;
  row.duration_ns = duration_ns;
  row.host_type_name_id = store.name(host_type);
  row.device_type_name_id = store.name("SDMA_SQE");
  return row;
}

inline void add_run(CannStore& store, std::int64_t last_task, std::int64_t device = 0,
                    std::int64_t first_task = 1) {
  TaskRunRow run;
  run.id = device + 1;
  run.device_id = device;
  run.first_task_id = first_task;
  run.last_task_id = last_task;
  store.add(run);
}

inline void add_op(CannStore& store, std::int64_t id, const char* name, const char* unit) {
  OpRow op;
  op.id = id;
  op.name_id = store.name(name);
  op.unit_name_id = store.name(unit);
  store.add(op);
}

}  // namespace msprof::test
