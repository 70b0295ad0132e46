// Tables of tasks: TASK, COMPUTE_TASK_INFO, COMMUNICATION_SCHEDULE_TASK_INFO, TASK_PMU_INFO (one
// walk over the tasks), MEMCPY_INFO.
// Source: cann_host.md 2.6; cann_corrections.md J-A3 (taskType), J-B8, J-B9 (which tasks), J-B11
// (scheduling tasks), J-B13 (marks), J-B15 (connection ids).
#include <fmt/format.h>

#include "export/scoped_rows.hpp"
#include "export/unified/task_ops.hpp"
#include "export/unified/task_pmu.hpp"
#include "export/unified/unified_writer.hpp"

namespace msprof::unified {

namespace {

constexpr Table kTask{
    "TASK",
    "startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER, globalTaskId INTEGER,"
    " globalPid INTEGER, taskType STRING, contextId INTEGER, streamId INTEGER, taskId INTEGER,"
    " modelId INTEGER",
    "CREATE INDEX TaskIndex ON TASK (startNs,globalTaskId)"};
constexpr Table kCompute{
    "COMPUTE_TASK_INFO",
    "name STRING, globalTaskId INTEGER PRIMARY KEY, blockNum INTEGER, mixBlockNum INTEGER,"
    " taskType STRING, opType STRING, inputFormats STRING, inputDataTypes STRING,"
    " inputShapes STRING, outputFormats STRING, outputDataTypes STRING, outputShapes STRING,"
    " attrInfo STRING, opState STRING, hf32Eligible STRING, gridDim STRING, blockDim STRING"};
constexpr Table kSchedule{
    "COMMUNICATION_SCHEDULE_TASK_INFO",
    "name STRING, globalTaskId INTEGER PRIMARY KEY, taskType STRING, opType STRING"};
constexpr Table kCopies{"MEMCPY_INFO",
                        "globalTaskId NUMERIC, size NUMERIC, memcpyOperation NUMERIC"};

class TaskWalk {
 public:
  explicit TaskWalk(Writer& out)
      : out_(out),
        tasks_(out, kTask),
        compute_(out, kCompute),
        schedule_(out, kSchedule),
        ops_(out),
        pmu_(out),
        types_(out.store()) {}

  void write() {
    cann::TaskCursor tasks(
        out_.store(), {},
        {&TaskRow::id, &TaskRow::op_id, &TaskRow::device_id, &TaskRow::stream_id,
         &TaskRow::task_number, &TaskRow::batch, &TaskRow::context, &TaskRow::host_type_name_id,
         &TaskRow::device_type_name_id, &TaskRow::model_number, &TaskRow::api_id},
        {.not_null = {&TaskRow::device_type_name_id}});
    while (tasks.next()) write_task(*tasks, tasks.end_ns());
  }

  // The device's side of marks: tasks of their own.
  void write_marks() {
    std::int64_t number = 0;
    Statement read = out_.store().prepare(
        "SELECT start_ns, end_ns, device_id, mark_id, stream_id, task_number, model_number"
        " FROM device_mark WHERE start_ns >= ? ORDER BY id");
    read.bind(1, out_.begin_ns());
    while (read.step()) {
      tasks_.add({read.integer(0), read.integer(1), read.integer(2),
                  mark_connection(read.integer(3)), out_.task_ids().extra(number++),
                  out_.process_id(), out_.text("MsTx"), kNone32, read.integer(4), read.integer(5),
                  read.maybe_integer(6).value_or(kNone32)});
    }
  }

 private:
  void write_task(const TaskRow& task, std::int64_t end_ns) {
    if (end_ns - task.start_ns != task.duration_ns) {
      throw out_.store().damaged("a task beyond the end of time");
    }
    const TaskKey key = task_key(task);
    const std::int64_t unified_id = out_.task_ids().of(task.id, key);
    const std::int64_t type = types_.effective(task.host_type_name_id, task.device_type_name_id);
    tasks_.add({task.start_ns, end_ns, key.device, given(task.api_id).value_or(kNone), unified_id,
                out_.process_id(), out_.name(given(type)), key.context < 0 ? kNone32 : key.context,
                key.stream, key.number, given(task.model_number).value_or(kNone32)});
    PmuTask load;
    load.duration_ns = task.duration_ns;
    if (task.op_id != kNull) {
      const TaskOp& op = ops_.of(task.op_id);
      load.block_num = op.block_num;
      load.mix_block_num = op.mix_block_num;
      if (out_.task_ids().describe(task.id, key)) describe(op, unified_id, key.stream);
    }
    if (pmu_.has_metrics()) pmu_.write(task.id, unified_id, key.device, load);
  }

  void describe(const TaskOp& op, std::int64_t id, std::int64_t stream) {
    if (op.is_scheduling || ops_.is_scheduling_stream(stream)) {
      return schedule_.add({op.name, id, op.unit, op.type});
    }
    compute_.add({op.name, id, op.block_num, op.mix_block_num, op.unit, op.type, op.tensors[0],
                  op.tensors[1], op.tensors[2], op.tensors[3], op.tensors[4], op.tensors[5],
                  op.attribute, op.state, op.hf32, op.grid_dim, op.block_dim});
  }

  Writer& out_;
  Rows tasks_;
  Rows compute_;
  Rows schedule_;
  TaskOps ops_;
  TaskPmu pmu_;
  cann::TaskTypes types_;
};

}  // namespace

void write_tasks(Writer& out) {
  TaskWalk walk(out);
  walk.write();
  walk.write_marks();
}

void write_copies(Writer& out) {
  Rows rows(out, kCopies);
  Statement read = out.store().prepare(
      fmt::format("SELECT task_id, size_bytes, direction, {} FROM memcpy_task"
                  " CROSS JOIN task ON task.id = task_id WHERE device_type_name_id IS NOT NULL"
                  " AND start_ns + duration_ns >= ? ORDER BY task_id",
                  kTaskKeyColumns));
  read.bind(1, out.begin_ns());
  while (read.step()) {
    const std::int64_t id = out.task_ids().of(read.integer(0), task_key(read, 3));
    rows.add({id, read.integer(1), read.integer(2)});
  }
}

}  // namespace msprof::unified
