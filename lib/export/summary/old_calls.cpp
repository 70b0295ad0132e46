// Tables of CANN 5 about calls: acl, acl_statistic, runtime_api, ge_op_execute, ai_stack_time.
// Times are of the host's monotonic clock. Source: cann5_classic.md 10.
#include <algorithm>
#include <map>
#include <tuple>

#include "export/products.hpp"
#include "export/summary/old_tables.hpp"

namespace msprof {

namespace {

// us of whole ns.
std::string us_of(int128 ns) {
  return old::digits_of({ns, 1000}, 3);
}

// The calls of a level with the columns that all tables need, whatever the scope says: these
// tables are of the whole capture.
template <typename Take>
void for_each_call(const Database& db, std::int64_t level, Take&& take) {
  RowCursor<ApiCallRow> calls(
      db, {&ApiCallRow::id, &ApiCallRow::process_id, &ApiCallRow::thread_id, &ApiCallRow::level,
           &ApiCallRow::type_name_id, &ApiCallRow::name_id, &ApiCallRow::item_name_id,
           &ApiCallRow::start_ns, &ApiCallRow::end_ns});
  while (calls.next()) {
    if (calls->level == level) take(*calls, saturating_subtract(calls->end_ns, calls->start_ns));
  }
}

class OldAcl : public cann::Table {
 public:
  OldAcl()
      : Table({.name = "acl",
               .title = "Calls of AscendCL",
               .help = "every call of AscendCL",
               .exists = cann::exists_call<call_level::kAcl>(),
               .cann5_place = 12,
               .is_cann5_only = true,
               .is_old = true,
               .is_cann5_whole = true},
              {"Name", "Type", "Start Time", "Duration(us)", "Process ID", "Thread ID"}) {}

  void write(const Database& db, const OutputFile&, RowSink& out) const override {
    cann::Texts texts(db);
    const old::Times times(db);
    for_each_call(db, call_level::kAcl, [&](const ApiCallRow& call, std::int64_t duration_ns) {
      cann::text_or_missing(out, texts, given(call.name_id));
      cann::text_or_missing(out, texts, given(call.type_name_id));
      out.number(times.host_ns(call.start_ns));
      out.number(us_of(duration_ns));
      old::write_id(out, call.process_id);
      old::write_id(out, call.thread_id);
      out.end_row();
    });
  }
};

class OldAclStatistic : public cann::Table {
 public:
  OldAclStatistic()
      : Table({.name = "acl_statistic",
               .title = "AscendCL by name",
               .help = "count, total, mean, shortest and longest time of every call of AscendCL",
               .exists = cann::exists_call<call_level::kAcl>(),
               .cann5_place = 13,
               .is_cann5_only = true,
               .is_old = true,
               .is_cann5_whole = true},
              {"Name", "Type", "Time(%)", "Time(us)", "Count", "Avg(us)", "Min(us)", "Max(us)",
               "Process ID", "Thread ID"}) {}

  void write(const Database& db, const OutputFile&, RowSink& out) const override {
    struct Group {
      ApiCallRow first;  // type, process and thread are its
      cann::Times times;
    };
    std::map<std::string, Group> groups;
    cann::Texts texts(db);
    int128 whole_ns = 0;
    for_each_call(db, call_level::kAcl, [&](const ApiCallRow& call, std::int64_t duration_ns) {
      const auto name = given(call.name_id);
      const auto at = groups.try_emplace(name ? texts(*name) : "N/A", Group{call, {}}).first;
      at->second.times.add(duration_ns);
      whole_ns += duration_ns;
    });
    for (const auto& [name, group] : groups) {
      const cann::Times& times = group.times;
      out.text(name);
      cann::text_or_missing(out, texts, given(group.first.type_name_id));
      out.number(old::percent_of(times.total_ns, whole_ns));
      out.number(us_of(times.total_ns));
      out.number(times.count);
      out.number(old::digits_of({times.total_ns, int128{times.count} * 1000}, 6));
      out.number(us_of(times.shortest_ns));
      out.number(us_of(times.longest_ns));
      old::write_id(out, group.first.process_id);
      old::write_id(out, group.first.thread_id);
      out.end_row();
    }
  }
};

// Numbers that calls of the runtime and executions of models say beside their times.
class Details {
 public:
  explicit Details(const Database& db)
      : read_(db.prepare("SELECT api_id, stream_id, request FROM call_detail ORDER BY api_id")),
        more_(read_.step()) {}

  // Calls come in the order of their ids.
  bool find(std::int64_t api_id) {
    while (more_ && read_.integer(0) < api_id) more_ = read_.step();
    return more_ && read_.integer(0) == api_id;
  }
  std::int64_t stream() const { return read_.maybe_integer(1).value_or(kNull); }
  std::int64_t request() const { return read_.maybe_integer(2).value_or(kNull); }

 private:
  Statement read_;
  bool more_;
};

class OldRuntimeApi : public cann::Table {
 public:
  OldRuntimeApi()
      : Table({.name = "runtime_api",
               .title = "Runtime calls",
               .help = "count, total, mean, shortest and longest time of every runtime call",
               .exists = cann::exists_call<call_level::kRuntime>(),
               .cann5_place = 5,
               .is_cann5_only = true,
               .is_old = true,
               .is_cann5_whole = true},
              {"Name", "Stream ID", "Time(%)", "Time(ns)", "Calls", "Avg(ns)", "Min(ns)", "Max(ns)",
               "Process ID", "Thread ID"}) {}

  void write(const Database& db, const OutputFile&, RowSink& out) const override {
    struct Group {
      ApiCallRow first;
      cann::Times times;
    };
    std::map<std::pair<std::string, std::int64_t>, Group> groups;
    cann::Texts texts(db);
    Details details(db);
    int128 whole_ns = 0;
    for_each_call(db, call_level::kRuntime, [&](const ApiCallRow& call, std::int64_t duration_ns) {
      const auto name = given(call.name_id);
      const std::int64_t stream = details.find(call.id) ? details.stream() : kNull;
      const auto at =
          groups.try_emplace({name ? texts(*name) : "N/A", stream}, Group{call, {}}).first;
      at->second.times.add(duration_ns);
      whole_ns += duration_ns;
    });
    for (const auto& [key, group] : groups) {
      const cann::Times& times = group.times;
      out.text(key.first);
      old::write_id(out, key.second);
      out.number(old::percent_of(times.total_ns, whole_ns));
      out.number(fixed(times.total_ns, 1, 0));
      out.number(times.count);
      // Whole ns, the fraction cut.
      out.number(fixed(times.total_ns / times.count, 1, 0));
      out.number(times.shortest_ns);
      out.number(times.longest_ns);
      old::write_id(out, group.first.process_id);
      old::write_id(out, group.first.thread_id);
      out.end_row();
    }
  }
};

class OldGeOpExecute : public cann::Table {
 public:
  OldGeOpExecute()
      : Table({.name = "ge_op_execute",
               .title = "Launches of operators",
               .help = "the phases of every launch of an operator whose shape the host works out",
               .exists = cann::exists_call<call_level::kNode>(),
               .cann5_place = 8,
               .is_cann5_only = true,
               .is_old = true,
               .is_cann5_whole = true},
              {"Thread ID", "OP Type", "Event Type", "Start Time", "Duration(us)"}) {}

  void write(const Database& db, const OutputFile&, RowSink& out) const override {
    cann::Texts texts(db);
    const old::Times times(db);
    for_each_call(db, call_level::kNode, [&](const ApiCallRow& call, std::int64_t duration_ns) {
      old::write_id(out, call.thread_id);
      cann::text_or_missing(out, texts, given(call.item_name_id));
      cann::text_or_missing(out, texts, given(call.name_id));
      out.number(us_of(times.host_ns(call.start_ns)));
      out.number(us_of(duration_ns));
      out.end_row();
    });
  }
};

// An execution of a model from the application's call to the tasks: the k-th call, the k-th times
// of the graph engine, the tasks of the k-th iteration.
class OldAiStackTime : public cann::Table {
 public:
  OldAiStackTime()
      : Table({.name = "ai_stack_time",
               .title = "Time of the layers",
               .help = "an execution of a model: the call, the graph engine, the tasks",
               .exists = "SELECT 1 FROM api_call WHERE level IS NOT NULL UNION ALL"
                         " SELECT 1 FROM task WHERE device_type_name_id IS NOT NULL",
               .cann5_place = 4,
               .is_cann5_only = true,
               .is_old = true},
              {"Infer ID", "Module", "API", "Start Time", "Duration(ns)"}) {}

  void write(const Database& db, const OutputFile& output_file, RowSink& out) const override {
    const ExportScope& scope = output_file.scope;
    cann::Texts texts(db);
    const old::Times times(db);
    const old::Iterations iterations(db);
    std::map<std::int64_t, std::vector<Row>> rows;  // by infer
    add_calls(db, texts, times, rows);
    add_model_times(db, texts, times, rows);
    add_tasks(db, scope, times, iterations, rows);
    for (const auto& [infer, of_infer] : rows) {
      if (scope.iteration && infer != *scope.iteration) continue;
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

  static void add_calls(const Database& db, cann::Texts& texts, const old::Times& times,
                        Rows& rows) {
    for (const std::string_view wanted : {"aclmdlExecute", "aclopExecute"}) {
      std::int64_t infer = 0;
      for_each_call(db, call_level::kAcl, [&](const ApiCallRow& call, std::int64_t duration_ns) {
        const auto name = given(call.name_id);
        if (!name || texts(*name) != wanted) return;
        rows[++infer].push_back({"ACL", std::string(wanted),
                                 std::to_string(times.host_ns(call.start_ns)),
                                 std::to_string(duration_ns)});
      });
      if (infer > 0) return;
    }
  }

  static void add_model_times(const Database& db, cann::Texts& texts, const old::Times& times,
                              Rows& rows) {
    std::map<std::string, std::int64_t> counts;
    Details details(db);
    for_each_call(db, call_level::kModel, [&](const ApiCallRow& call, std::int64_t duration_ns) {
      if (!details.find(call.id) || details.request() == kNull) return;
      const auto name = given(call.name_id);
      const std::string text = name ? texts(*name) : "N/A";
      rows[++counts[text]].push_back(
          {"GE", text, std::to_string(times.host_ns(call.start_ns)), std::to_string(duration_ns)});
    });
  }

  // From the first start to the end of the task that starts last.
  static void add_tasks(const Database& db, const ExportScope& scope, const old::Times& times,
                        const old::Iterations& iterations, Rows& rows) {
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
      const auto* iteration = iterations.of(tasks->device_id, tasks.end_ns());
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
      rows[infer].push_back(
          {"Task Scheduler", "", old::digits_of(span.start, 3), old::digits_of(length, 3)});
    }
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_old_acl() {
  return std::make_unique<OldAcl>();
}
std::unique_ptr<SummaryTable> make_old_acl_statistic() {
  return std::make_unique<OldAclStatistic>();
}
std::unique_ptr<SummaryTable> make_old_runtime_api() {
  return std::make_unique<OldRuntimeApi>();
}
std::unique_ptr<SummaryTable> make_old_ge_op_execute() {
  return std::make_unique<OldGeOpExecute>();
}
std::unique_ptr<SummaryTable> make_old_ai_stack_time() {
  return std::make_unique<OldAiStackTime>();
}

}  // namespace msprof
