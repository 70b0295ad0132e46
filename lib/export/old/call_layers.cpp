// Host timelines for captures of CANN 5 and older: acl, ge, ge_op_execute, runtime_api, msprof_tx,
// thread_group, ai_stack_time. Source: cann5_classic.md 10.
#include <fmt/format.h>

#include <map>

#include "base/number.hpp"
#include "export/old/trace.hpp"

namespace msprof {

namespace {

using old::OldLayer;
using old::OldProcess;

// Reads the calls that a file shows, by start.
cann::CallCursor read_calls(const Database& db, const ExportScope& scope) {
  return {db,
          scope,
          {&ApiCallRow::id, &ApiCallRow::process_id, &ApiCallRow::type_name_id,
           &ApiCallRow::item_name_id, &ApiCallRow::level},
          {},
          cann::CallWindow::any()};
}

void argument_id(TraceWriter& out, TraceText key, std::int64_t id) {
  if (id != kNull) out.argument(key, id);
}

// Draws the calls of a level in one process; `write_arguments` is called for each drawn call.
template <typename Write>
void draw_level(const Database& db, const OutputFile& file, TraceWriter& out, std::int64_t level,
                std::int64_t layer, std::string_view name, Write&& write_arguments) {
  cann::Texts texts(db);
  OldProcess process(out, file, layer, old::host_process(db), name);
  auto calls = read_calls(db, file.scope);
  while (calls.next()) {
    if (calls->level != level || !out.draws(calls.duration_ns())) continue;
    const TraceLane lane = process.thread(calls->thread_id);
    if (!out.begin_slice(old::find_text(texts, given(calls->name_id)), lane, calls->start_ns,
                         calls.duration_ns()))
      continue;
    write_arguments(*calls, texts);
    out.end_event();
  }
}

void draw_acl(const Database& db, const OutputFile& file, TraceWriter& out) {
  const auto write = [&](const ApiCallRow& call, cann::Texts& texts) {
    if (const auto mode = given(call.type_name_id))
      out.argument("Mode", old::find_text(texts, *mode));
    argument_id(out, "Process Id", call.process_id);
    argument_id(out, "Thread Id", call.thread_id);
  };
  draw_level(db, file, out, call_level::kAcl, 2, "AscendCL", write);
}

template <typename Take>
void for_each_phase(const Database& db, const ExportScope& scope, Take&& take) {
  old::CallDetails details(db);
  auto calls = read_calls(db, scope);
  while (calls.next()) {
    if (calls->level != call_level::kModel || !details.find(calls->id)) continue;
    if (details.request() != kNull) take(*calls, calls.duration_ns());
  }
}

class ModelNumbers {
 public:
  explicit ModelNumbers(const Database& db) {
    Statement read = db.prepare(
        "SELECT name_id, model_id FROM model WHERE name_id IS NOT NULL AND model_id IS NOT NULL"
        " ORDER BY id");
    while (read.step()) numbers_.try_emplace(read.integer(0), read.integer(1));
  }
  std::int64_t find(std::int64_t name_id) const {
    const auto found = numbers_.find(name_id);
    return found == numbers_.end() ? kNull : found->second;
  }

 private:
  std::map<std::int64_t, std::int64_t> numbers_;
};

void draw_ge(const Database& db, const OutputFile& file, TraceWriter& out) {
  cann::Texts texts(db);
  const ModelNumbers models(db);
  OldProcess process(out, file, 4, old::host_process(db), "GE");
  for_each_phase(db, file.scope, [&](const ApiCallRow& call, std::int64_t duration_ns) {
    if (!out.draws(duration_ns)) return;
    const TraceLane lane = process.thread(call.thread_id);
    if (!out.begin_slice(old::find_text(texts, given(call.name_id)), lane, call.start_ns,
                         duration_ns))
      return;
    out.argument("Model Name", old::find_text(texts, given(call.item_name_id)));
    argument_id(out, "Model Id", models.find(call.item_name_id));
    out.end_event();
  });
}

void draw_ge_ops(const Database& db, const OutputFile& file, TraceWriter& out) {
  draw_level(db, file, out, call_level::kNode, 5, "GeOPExecute", [](const auto&, auto&) {});
}

void draw_runtime(const Database& db, const OutputFile& file, TraceWriter& out) {
  old::CallDetails details(db);
  const auto write = [&](const ApiCallRow& call, cann::Texts&) {
    argument_id(out, "Thread Id", call.thread_id);
    // Calls that copy no data have no size.
    if (!details.find(call.id) || details.size_bytes() == kNull || details.size_bytes() == 0)
      return;
    out.argument("data size", fmt::format("{} byte", details.size_bytes()));
    out.argument("memcpy direction",
                 cann::find_text(cann::copy_directions(), details.direction(), "other"));
  };
  draw_level(db, file, out, call_level::kRuntime, 6, "Runtime", write);
}

void draw_user_ranges(const Database& db, const OutputFile& file, TraceWriter& out) {
  cann::Texts texts(db);
  OldProcess process(out, file, 0, old::host_process(db), "MsprofTx");
  Statement read = db.prepare(
      "SELECT thread_id, message_name_id, start_ns, end_ns, category, payload_type, payload_value,"
      " message_type, event_type FROM user_range WHERE start_ns IS NOT NULL ORDER BY id");
  while (read.step()) {
    const std::int64_t start_ns = read.integer(2);
    const std::int64_t end_ns = read.maybe_integer(3).value_or(start_ns);
    const std::int64_t duration_ns = saturating_subtract(end_ns, start_ns);
    if (!file.scope.takes_host(start_ns, end_ns) || !out.draws(duration_ns)) continue;
    const TraceLane lane = process.thread(read.integer(0));
    const auto name = read.maybe_integer(1);
    if (!out.begin_slice(old::find_text(texts, name), lane, start_ns, duration_ns)) continue;
    out.argument("Category", std::to_string(read.integer(4)));
    argument_id(out, "Payload_type", read.maybe_integer(5).value_or(kNull));
    argument_id(out, "Payload_value", read.maybe_integer(6).value_or(kNull));
    argument_id(out, "Message_type", read.maybe_integer(7).value_or(kNull));
    out.argument("event_type", cann::event_type_text(read.maybe_integer(8).value_or(kNull)));
    out.end_event();
  }
}

// Draws all calls of a thread on one track, whatever their level.
void draw_thread_group(const Database& db, const OutputFile& file, TraceWriter& out) {
  cann::Texts texts(db);
  const ModelNumbers models(db);
  old::CallDetails details(db);
  OldProcess process(out, file, 0, old::host_process(db), "");
  auto calls = read_calls(db, file.scope);
  while (calls.next()) {
    const std::int64_t level = calls->level;
    const bool is_phase =
        level == call_level::kModel && details.find(calls->id) && details.request() != kNull;
    std::string name;
    if (level == call_level::kAcl) name = "ACL@";
    if (is_phase) name = "GE@";
    if (level == call_level::kNode)
      name = fmt::format("GE_OP_EXECUTE@{}_", texts(calls->item_name_id));
    if (level == call_level::kRuntime) name = "Runtime@";
    if (name.empty() || !out.draws(calls.duration_ns())) continue;
    name = name + texts(calls->name_id);
    const TraceLane lane = process.thread(calls->thread_id);
    if (!out.begin_slice(name, lane, calls->start_ns, calls.duration_ns())) continue;
    if (level == call_level::kAcl) out.argument("Mode", texts(calls->type_name_id));
    if (is_phase) {
      out.argument("Model Name", texts(calls->item_name_id));
      argument_id(out, "Model ID", models.find(calls->item_name_id));
    }
    out.end_event();
  }
}

// ai_stack_time: draws for each iteration the k-th call, the k-th phases of the graph engine, and
// its tasks.
class AiStack {
 public:
  AiStack(const Database& db, const OutputFile& file, TraceWriter& out)
      : db_(db),
        scope_(file.scope),
        whole_(file.scope.without_iteration()),
        out_(out),
        times_(db),
        texts_(db),
        process_(out, file, 0, old::host_process(db), old::kAiStackProcess) {}

  void write() {
    write_calls();
    write_phases();
    write_tasks();
  }

 private:
  bool takes(std::int64_t iteration) const { return scope_.takes_iteration_number(iteration); }

  void write_calls() {
    for (const std::string_view wanted : {"aclmdlExecute", "aclopExecute"}) {
      const std::int64_t id = cann::find_name_id(db_, wanted);
      std::int64_t iteration = 0;
      auto calls = read_calls(db_, whole_);
      while (calls.next()) {
        if (calls->level != call_level::kAcl || calls->name_id != id || !takes(++iteration))
          continue;
        const std::int64_t start_ns = times_.host_ns(calls->start_ns);
        write_slice(old::AiStackThread::acl, std::string(old::find_text(texts_, id).view()),
                    iteration, calls->start_ns, calls.duration_ns(), std::to_string(start_ns),
                    std::to_string(saturating_add(start_ns, calls.duration_ns())),
                    std::to_string(calls.duration_ns()));
      }
      if (iteration > 0) return;
    }
  }

  void write_phases() {
    std::map<std::int64_t, std::int64_t> counts;
    for_each_phase(db_, whole_, [&](const ApiCallRow& call, std::int64_t duration_ns) {
      const std::int64_t iteration = ++counts[call.name_id];
      if (!takes(iteration)) return;
      const std::int64_t start_ns = times_.host_ns(call.start_ns);
      write_slice(
          old::AiStackThread::ge, std::string(old::find_text(texts_, given(call.name_id)).view()),
          iteration, call.start_ns, duration_ns, std::to_string(start_ns),
          std::to_string(saturating_add(start_ns, duration_ns)), std::to_string(duration_ns));
    });
  }

  void write_tasks() {
    const old::OldIterations iterations(db_);
    cann::TaskCursor tasks(db_, scope_,
                           {&TaskRow::device_id, &TaskRow::stream_id, &TaskRow::kernel_name_id,
                            &TaskRow::device_type_name_id},
                           {}, cann::TaskWindow::any);
    const old::SchedulerTasks scheduler(db_);
    while (tasks.next()) {
      const auto* iteration = iterations.find(tasks->device_id, tasks.end_ns());
      if (iteration == nullptr || tasks->kernel_name_id == kNull || !scheduler.has(*tasks) ||
          scheduler.is_copy(*tasks))
        continue;
      const old::Exact start = times_.device_ns(tasks->device_id, tasks->start_ns);
      const old::Exact length = times_.span_ns(tasks->device_id, tasks->duration_ns);
      const old::Exact end = {start.numerator + length.numerator, start.denominator};
      write_slice(old::AiStackThread::tasks,
                  std::string(old::find_text(texts_, tasks->kernel_name_id).view()),
                  iteration->number, tasks->start_ns, tasks->duration_ns, start.digits(3),
                  end.digits(3), length.digits(3));
    }
  }

  void write_slice(old::AiStackThread thread, const std::string& name, std::int64_t iteration,
                   std::int64_t start_ns, std::int64_t duration_ns, const std::string& start,
                   const std::string& end, const std::string& duration) {
    if (!out_.draws(duration_ns)) return;
    const TraceLane lane =
        process_.thread(static_cast<std::int64_t>(thread), old::ai_stack_thread_name(thread));
    if (!out_.begin_slice(name, lane, start_ns, duration_ns)) return;
    out_.argument("Iter ID", iteration);
    out_.argument_digits("Start Time", start);
    out_.argument_digits("End Time", end);
    out_.argument_digits("Duration Time(ns)", duration);
    if (thread == old::AiStackThread::tasks) out_.argument("Total Time(ms)", "");
    out_.end_event();
  }

  const Database& db_;
  const ExportScope& scope_;
  ExportScope whole_;
  TraceWriter& out_;
  old::OldTimes times_;
  cann::Texts texts_;
  OldProcess process_;
};

void draw_ai_stack(const Database& db, const OutputFile& file, TraceWriter& out) {
  AiStack(db, file, out).write();
}

constexpr std::string_view kAnyCall = "SELECT 1 FROM api_call WHERE level IS NOT NULL";

}  // namespace

std::unique_ptr<TimelineLayer> make_old_acl_calls() {
  return old::make_layer(cann::exists_call<call_level::kAcl>(), draw_acl);
}
std::unique_ptr<TimelineLayer> make_old_ge_calls() {
  return old::make_layer("SELECT 1 FROM call_detail WHERE request IS NOT NULL", draw_ge);
}
std::unique_ptr<TimelineLayer> make_old_ge_op_calls() {
  return old::make_layer(cann::exists_call<call_level::kNode>(), draw_ge_ops);
}
std::unique_ptr<TimelineLayer> make_old_runtime_calls() {
  return old::make_layer(cann::exists_call<call_level::kRuntime>(), draw_runtime);
}
std::unique_ptr<TimelineLayer> make_old_user_ranges() {
  return old::make_layer("SELECT 1 FROM user_range", draw_user_ranges);
}
std::unique_ptr<TimelineLayer> make_old_thread_group() {
  return old::make_layer(kAnyCall, draw_thread_group);
}
std::unique_ptr<TimelineLayer> make_old_ai_stack() {
  return old::make_layer(
      "SELECT 1 FROM api_call WHERE level IS NOT NULL UNION ALL"
      " SELECT 1 FROM task WHERE device_type_name_id IS NOT NULL",
      draw_ai_stack);
}

}  // namespace msprof
