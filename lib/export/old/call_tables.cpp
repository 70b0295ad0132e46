// Tables of CANN 5 about calls: ge_op_execute, ai_stack_time. Times use the host's monotonic clock.
// Source: cann5_classic.md 10.
#include <algorithm>
#include <map>

#include "export/old/tables.hpp"

namespace msprof {

namespace {

class OldGeOpExecute : public cann::CannTable {
 public:
  OldGeOpExecute()
      : CannTable(
            {.name = "ge_op_execute",
             .title = "Launches of operators",
             .help = "phases of each launch of an operator whose shape is computed on the host",
             .exists = cann::exists_call<call_level::kNode>()},
            {"Thread ID", "OP Type", "Event Type", "Start Time", "Duration(us)"}) {}

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    cann::Texts texts(db);
    const old::OldTimes times(db);
    old::for_each_call(db, old::Age::cann5, output_file.scope, call_level::kNode,
                       [&](const ApiCallRow& call, std::int64_t duration_ns) {
                         out.number_or_missing(given(call.thread_id));
                         cann::text_or_missing(out, texts, given(call.item_name_id));
                         cann::text_or_missing(out, texts, given(call.name_id));
                         out.number(cann::trimmed3(times.host_ns(call.start_ns), 1000));
                         out.number(cann::trimmed3(duration_ns, 1000));
                         out.end_row();
                       });
  }
};

// An execution of a model from the application's call to the tasks. The k-th call, the k-th times
// of the graph engine and the tasks of the k-th iteration belong together.
class OldAiStackTime : public cann::CannTable {
 public:
  OldAiStackTime()
      : CannTable(
            {.name = "ai_stack_time",
             .title = "Time of the layers",
             .help = "time of each model execution in the call, the graph engine and the tasks",
             .exists = "SELECT 1 FROM api_call WHERE level IS NOT NULL UNION ALL"
                       " SELECT 1 FROM task WHERE device_type_name_id IS NOT NULL"},
            {"Infer ID", "Module", "API", "Start Time", "Duration(ns)"}) {}

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    const ExportScope& scope = output_file.scope;
    cann::Texts texts(db);
    const old::OldTimes times(db);
    const old::OldIterations iterations(db);
    std::map<std::int64_t, std::vector<Row>> rows;  // by infer id
    add_calls(db, texts, times, rows);
    add_model_times(db, texts, times, rows);
    add_tasks(db, scope, times, iterations, rows);
    for (const auto& [infer, of_infer] : rows) {
      if (!scope.takes_iteration_number(infer)) continue;
      for (const Row& row : of_infer) {
        out.number(infer);
        out.text(row.module);
        row.api.empty() ? out.missing() : out.text(row.api);
        out.number(row.start);
        out.number(row.duration);
        out.end_row();
      }
    }
  }

 private:
  struct Row {
    std::string_view module;
    std::string api;
    std::string start;
    std::string duration;
  };
  using Rows = std::map<std::int64_t, std::vector<Row>>;

  void add_calls(const Database& db, cann::Texts& texts, const old::OldTimes& times,
                 Rows& rows) const {
    for (const std::string_view wanted : {"aclmdlExecute", "aclopExecute"}) {
      std::int64_t infer = 0;
      old::for_each_call(db, old::Age::cann5, {}, call_level::kAcl,
                         [&](const ApiCallRow& call, std::int64_t duration_ns) {
                           const auto name = given(call.name_id);
                           if (!name || texts(*name) != wanted) return;
                           rows[++infer].push_back({"ACL", std::string(wanted),
                                                    std::to_string(times.host_ns(call.start_ns)),
                                                    std::to_string(duration_ns)});
                         });
      if (infer > 0) return;
    }
  }

  void add_model_times(const Database& db, cann::Texts& texts, const old::OldTimes& times,
                       Rows& rows) const {
    std::map<std::string, std::int64_t> counts;
    old::CallDetails details(db);
    old::for_each_call(
        db, old::Age::cann5, {}, call_level::kModel,
        [&](const ApiCallRow& call, std::int64_t duration_ns) {
          if (!details.find(call.id) || details.request() == kNull) return;
          const auto name = given(call.name_id);
          const std::string text = name ? texts(*name) : "N/A";
          rows[++counts[text]].push_back({"GE", text, std::to_string(times.host_ns(call.start_ns)),
                                          std::to_string(duration_ns)});
        });
  }

  // Adds one row per iteration, from its first start to the end of the task that starts last.
  static void add_tasks(const Database& db, const ExportScope& scope, const old::OldTimes& times,
                        const old::OldIterations& iterations, Rows& rows) {
    struct Span {
      old::Exact start, end;
      std::int64_t last_start_ns = INT64_MIN;
    };
    std::map<std::int64_t, Span> spans;
    cann::TaskCursor tasks(db, scope,
                           {&TaskRow::device_id, &TaskRow::op_id, &TaskRow::device_type_name_id},
                           {}, cann::TaskWindow::any);
    while (tasks.next()) {
      if (tasks->op_id == kNull) continue;
      const auto* iteration = iterations.find(tasks->device_id, tasks.end_ns());
      if (iteration == nullptr) continue;
      const old::Exact start = times.device_ns(tasks->device_id, tasks->start_ns);
      const old::Exact length = times.span_ns(tasks->device_id, tasks->duration_ns);
      const auto [at, is_new] = spans.try_emplace(iteration->number);
      Span& span = at->second;
      if (is_new) span.start = start;
      if (tasks->start_ns < span.last_start_ns) continue;
      span.last_start_ns = tasks->start_ns;
      span.end = {start.numerator + length.numerator, start.denominator};
    }
    for (const auto& [infer, span] : spans) {
      const old::Exact length = {span.end.numerator - span.start.numerator, span.end.denominator};
      rows[infer].push_back({"Task Scheduler", "", span.start.digits(3), length.digits(3)});
    }
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_old_ge_op_execute() {
  return std::make_unique<OldGeOpExecute>();
}
std::unique_ptr<SummaryTable> make_old_ai_stack_time() {
  return std::make_unique<OldAiStackTime>();
}

}  // namespace msprof
