#include "export/parquet/parquet_tables.hpp"

#include <memory>
#include <string>

#include "base/text.hpp"
#include "store/cells.hpp"

namespace msprof::parquet {

namespace {

constexpr Values kAscending = Values::ascending;
constexpr Values kRepeated = Values::repeated;
constexpr Cells kNames = Cells::names;
// Row numbers are only unique within a capture, and a rank may have several.
const TableColumn kCaptureColumn = {"capture", "name of the capture's folder", Values::repeated,
                                    Cells::capture};

Table tasks_table() {
  return {
      "tasks",
      "one task of a device: an execution of an operator, a copy, an event",
      {kCaptureColumn,
       {"task_id", "id of the task in the capture", kAscending, {}, true},
       {"device_id", "number of the device", kRepeated},
       {"model_id", "model id of the runtime", kRepeated},
       {"step", "`PROF…`: iteration in which it starts; `JOB…`: capture of the model", kRepeated},
       {"execution", "`JOB…`: number of the model's execution, from 0", kRepeated},
       {"stream_id", "`PROF…`: stream id", kRepeated},
       {"task_number", "`PROF…`: task id of the runtime"},
       {"op_id", "`ops.op_id`; null if the task is not an operator", kRepeated},
       {"op_name", "name of the operator", kRepeated, kNames},
       {"op_type", "type of the operator", kRepeated, kNames},
       {"task_type", "unit of the operator; for other tasks the task type of the scheduler",
        kRepeated, kNames},
       {"start_ns", "start time", kAscending},
       {"duration_ns", "duration; null if the frequency of the device is unknown"},
       {"call_id", "`calls.call_id` of the call that launched it", kAscending},
       {"collective_id", "`collectives.collective_id` of the collective that the task belongs to",
        kAscending},
       {"kernel", "`PROF…`: kernel name of the runtime", kRepeated, kNames}}};
}

Table calls_table() {
  return {"calls",
          "one call on the host",
          {kCaptureColumn,
           {"call_id", "id of the call in the capture", kAscending, {}, true},
           {"process_id", "process id of the caller", kRepeated},
           {"thread_id", "thread id of the caller", kRepeated},
           {"level",
            "`PROF…`: 'acl', 'model', 'node', 'communication', 'runtime', or the level's number",
            kRepeated, Cells::levels},
           {"type", "`JOB…`: 'model', 'runtime', …; `PROF…`: the mode", kRepeated, kNames},
           {"name", "name of the function", kRepeated, kNames},
           {"item", "`PROF…`: operator or model of the call", kRepeated, kNames},
           {"start_ns", "start time", kAscending},
           {"duration_ns", "duration"}}};
}

Table collectives_table() {
  return {
      "collectives",
      "one collective communication on one device (`PROF…`)",
      {kCaptureColumn,
       {"collective_id", "id of the collective in the capture", kAscending, {}, true},
       {"device_id", "number of the device", kRepeated},
       {"model_id", "model id of the runtime", kRepeated},
       {"step", "iteration in which it starts", kRepeated},
       {"name", "`hcom_allReduce__101_1_1`", kRepeated, kNames},
       {"type", "`hcom_allReduce_`", kRepeated, kNames},
       {"group_name", "communication group", kRepeated, kNames},
       {"sequence", "number within its group on its device, in order of time, from 0", kAscending},
       {"rank_count", "number of ranks in the group", kRepeated},
       {"algorithm", "algorithm, as named by the library", kRepeated, kNames},
       {"data_type", "element type (number of the library)", kRepeated},
       {"element_count", "number of elements"},
       {"start_ns", "start time", kAscending},
       {"end_ns", "end of its last task", kAscending},
       {"duration_ns", "duration"}}};
}

Table ops_table() {
  return {
      "ops",
      "one operator that ran: a layer of a model (`JOB…`), an operator with its shapes "
      "(`PROF…`)",
      {kCaptureColumn,
       {"op_id", "id of the operator in the capture", kAscending, {}, true},
       {"model_id", "model id of the runtime; null if it belongs to no model", kRepeated},
       {"model", "name of the model", kRepeated, kNames},
       {"position", "order within the model, from 0"},
       {"layer_id", "layer id, as in op_summary"},
       {"name", "name of the operator or layer", kRepeated, kNames},
       {"original_names", "layers that were fused into this one, joined by '+'", kRepeated, kNames},
       {"type", "`Conv2D`, `MatMulV2`, …", kRepeated, kNames},
       {"unit", "unit that executed it: `AA_CORE`, `AI_CORE`, `AI_CPU`, …", kRepeated, kNames},
       {"input_shapes", "`8,1;128,4096`", kRepeated, kNames},
       {"output_shapes", "same format as input_shapes", kRepeated, kNames},
       {"input_types", "`FLOAT16;INT64`", kRepeated, kNames},
       {"block_num", "number of cores requested", kRepeated},
       {"count", "executions with a known duration"},
       {"total_ns", "total time of all executions"},
       {"min_ns", "shortest execution"},
       {"max_ns", "longest execution"}}};
}

TextOf names_of(const Database& db) {
  const auto read = std::make_shared<Statement>(db.prepare("SELECT text FROM name WHERE id = ?"));
  return [read](std::int64_t id, std::string& text) {
    read->bind(1, id);
    const bool is_there = read->step() && !read->is_null(0);
    if (is_there) text = valid_utf8(read->text(0));
    read->reset();
    return is_there;
  };
}

bool level_text(std::int64_t level, std::string& text) {
  for (const auto& known : call_level::kNames) {
    if (known.level != level) continue;
    text = known.text;
    return true;
  }
  text = std::to_string(level);
  return true;
}

}  // namespace

const std::vector<Table>& tables() {
  static const std::vector<Table> all = {tasks_table(), calls_table(), collectives_table(),
                                         ops_table()};
  return all;
}

std::vector<ColumnSpec> columns_of(const Table& table, const Database& db,
                                   const std::string& capture) {
  std::vector<ColumnSpec> columns;
  columns.reserve(table.columns.size());
  for (const TableColumn& column : table.columns) {
    ColumnSpec spec{std::string(column.name), column.values, column.is_required, {}};
    if (column.cells == Cells::names) spec.text_of = names_of(db);
    if (column.cells == Cells::levels) spec.text_of = level_text;
    if (column.cells == Cells::capture) {
      spec.text_of = [capture](std::int64_t, std::string& text) {
        text = capture;
        return true;
      };
    }
    columns.push_back(std::move(spec));
  }
  return columns;
}

}  // namespace msprof::parquet
