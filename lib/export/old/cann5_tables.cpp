// ai_stack_time of CANN 5: activity of each software layer, from the application's calls to the
// tasks of the device: first calls by start, then tasks. The infer id is the iteration; known only
// if one was selected. Source: cann_device.md 24.
#include <unordered_map>

#include "export/old/registry.hpp"
#include "export/scope/scoped_rows.hpp"
#include "export/summary/cann_tables.hpp"

namespace msprof {

namespace {

std::string_view module_name(std::int64_t level) {
  switch (level) {
    case call_level::kAcl:
      return "AscendCL";
    case call_level::kModel:
    case call_level::kNode:
      return "GE";
    case call_level::kRuntime:
      return "Runtime";
    default:
      return "";  // does not exist in CANN 5
  }
}

class StackTimeWriter {
 public:
  StackTimeWriter(const Database& db, const OutputFile& output_file, RowBuilder& out)
      : db_(db), scope_(output_file.scope), out_(out), texts_(db), ops_(db) {}

  void write_calls() {
    cann::CallCursor calls(db_, scope_, {&ApiCallRow::level}, {.not_null = {&ApiCallRow::level}});
    while (calls.next()) {
      const std::string_view module = module_name(calls->level);
      if (!module.empty()) {
        write_row(module, calls->name_id, calls->start_ns, calls.duration_ns());
      }
    }
  }

  void write_tasks() {
    cann::TaskCursor tasks(db_, scope_,
                           {&TaskRow::op_id, &TaskRow::kernel_name_id, &TaskRow::host_type_name_id,
                            &TaskRow::device_type_name_id},
                           {.not_null = {&TaskRow::device_type_name_id}});
    while (tasks.next()) {
      write_row("Task Scheduler", find_task_name(*tasks), tasks->start_ns, tasks->duration_ns);
    }
  }

 private:
  // Returns the most specific known name of a task.
  std::int64_t find_task_name(const TaskRow& task) {
    if (const auto op = ops_.find(given(task.op_id))) return *op;
    if (task.kernel_name_id != kNull) return task.kernel_name_id;
    return task.host_type_name_id != kNull ? task.host_type_name_id : task.device_type_name_id;
  }

  void write_row(std::string_view module, std::int64_t name, std::int64_t start_ns,
                 std::int64_t duration_ns) {
    out_.number_or_missing(scope_.only_iteration());
    out_.text(module);
    cann::text_or_missing(out_, texts_, given(name));
    cann::us_timestamp(out_, start_ns);
    out_.number(duration_ns);
    out_.end_row();
  }

  const Database& db_;
  const ExportScope& scope_;
  RowBuilder& out_;
  cann::Texts texts_;
  cann::OpNames ops_;
};

class CannAiStackTime : public cann::CannTable {
 public:
  CannAiStackTime()
      : CannTable({.name = "ai_stack_time",
                   .title = "Time of the layers",
                   .help = "calls of AscendCL, GE and the runtime, and tasks of the device",
                   .exists = "SELECT 1 FROM api_call WHERE level IS NOT NULL UNION ALL"
                             " SELECT 1 FROM task WHERE device_type_name_id IS NOT NULL"},
                  {"Infer ID", "Module", "API", "Start Time", "Duration(ns)"}) {}

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    StackTimeWriter writer(db, output_file, out);
    writer.write_calls();
    writer.write_tasks();
  }
};

// ge_op_execute: one row per operator-level call, by start. The type is that of the operators with
// this name; N/A if they differ.
// Operator types by operator name. Size: one entry per name.
class OpTypes {
 public:
  explicit OpTypes(const Database& db) {
    Statement read = db.prepare(
        "SELECT name_id, type_name_id FROM op"
        " WHERE name_id IS NOT NULL AND type_name_id IS NOT NULL ORDER BY id");
    while (read.step()) {
      const auto [at, is_new] = types_.try_emplace(read.integer(0), read.integer(1));
      if (!is_new && at->second != read.integer(1)) at->second.reset();
    }
  }
  std::optional<std::int64_t> find(std::optional<std::int64_t> name_id) const {
    const auto at = name_id ? types_.find(*name_id) : types_.end();
    return at == types_.end() ? std::nullopt : at->second;
  }

 private:
  std::unordered_map<std::int64_t, std::optional<std::int64_t>> types_;
};

class CannGeOpExecute : public cann::CannTable {
 public:
  CannGeOpExecute()
      : CannTable({.name = "ge_op_execute",
                   .title = "Launches of operators",
                   .help = "every call that launches an operator",
                   .exists = cann::exists_call<call_level::kNode>()},
                  {"Thread ID", "OP Name", "OP Type", "Event Type", "Start Time", "Duration(us)"}) {
  }

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    const OpTypes types(db);
    cann::Texts texts(db);
    cann::CallCursor calls(db, output_file.scope, {&ApiCallRow::item_name_id, &ApiCallRow::level});
    while (calls.next()) {
      if (calls->level != call_level::kNode) continue;
      const auto op = given(calls->item_name_id);
      out.number_or_missing(given(calls->thread_id));
      cann::text_or_missing(out, texts, op);
      cann::text_or_missing(out, texts, types.find(op));
      cann::text_or_missing(out, texts, given(calls->name_id));
      cann::us_timestamp(out, calls->start_ns);
      cann::us_number(out, calls.duration_ns());
      out.end_row();
    }
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann5_ge_op_execute() {
  return std::make_unique<CannGeOpExecute>();
}
std::unique_ptr<SummaryTable> make_cann5_ai_stack_time() {
  return std::make_unique<CannAiStackTime>();
}

}  // namespace msprof
