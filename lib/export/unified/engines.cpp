// Tables of engines of V6 chips: CCU, DPU_TASK. Source: cann_new_kinds.md 4.3, 4.4.
#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>

#include "base/json_text.hpp"
#include "base/number.hpp"
#include "base/vendor_real.hpp"
#include "export/scope/cann_rules.hpp"
#include "export/scope/engine_words.hpp"
#include "export/unified/unified_writer.hpp"

namespace msprof::unified {

namespace {

constexpr UnifiedTable kCcu{
    "CCU",
    "deviceId NUMERIC, globalTaskId NUMERIC, name STRING NUMERIC, startNs NUMERIC,"
    " endNs NUMERIC, args STRING NUMERIC"};
constexpr UnifiedTable kDpuTask{
    "DPU_TASK",
    "dpuDeviceId INTEGER, globalTid NUMERIC, startNs NUMERIC, endNs NUMERIC, globalTaskId NUMERIC,"
    " streamId NUMERIC, taskId NUMERIC, opName STRING NUMERIC, args STRING NUMERIC"};

// Formats arguments as an array of keys and values.
class EngineArguments {
 public:
  EngineArguments& add(std::string_view key, std::int64_t value) {
    return add_json(key, std::to_string(value));
  }
  EngineArguments& add(std::string_view key, std::string_view word) {
    return add_json(key, json_string(word));
  }
  EngineArguments& add_real(std::string_view key, double value) {
    std::string digits;
    append_python_float(digits, value);
    return add_json(key, digits);
  }
  std::string text() const { return "[" + text_ + "]"; }

 private:
  EngineArguments& add_json(std::string_view key, const std::string& value) {
    if (!text_.empty()) text_ += ',';
    text_ += json_string(key) + ',' + value;
    return *this;
  }
  std::string text_;
};

std::string word_or_number(std::string_view word, std::int64_t number) {
  return word.empty() ? std::to_string(number) : std::string(word);
}

std::string loop_arguments(const Statement& read) {
  EngineArguments arguments;
  arguments.add("Physic Stream Id", read.integer(4))
      .add("Task Id", read.integer(5))
      .add("Instruction ID", read.integer(6));
  if (read.is_null(8)) return arguments.text();
  constexpr double kNsPerSecond = 1e9;
  const auto duration = static_cast<double>(saturating_subtract(read.integer(2), read.integer(1)));
  const auto bytes = static_cast<double>(read.integer(8));
  arguments.add("Die Id", read.integer(7))
      .add("Data Size", read.integer(8))
      .add_real("Bandwidth (B/s)", duration > 0 ? bytes / duration * kNsPerSecond : 0);
  if (read.is_null(9)) return arguments.text();
  const auto type = [&](int cell) {
    return word_or_number(cann::find_text(cann::comm_data_types(), read.integer(cell)),
                          read.integer(cell));
  };
  return arguments
      .add("Reduce Op Type", word_or_number(cann::reduce_text(read.integer(9)), read.integer(9)))
      .add("Input Data Type", type(10))
      .add("Output Data Type", type(11))
      .text();
}

std::string wait_arguments(const Statement& read) {
  EngineArguments arguments;
  arguments.add("Physic Stream Id", read.integer(4))
      .add("Task Id", read.integer(5))
      .add("Notify Instruction ID", read.integer(6));
  if (!read.is_null(13)) arguments.add("Notify Rank ID", read.integer(13));
  if (read.is_null(12)) return arguments.text();
  arguments.add("Die Id", read.integer(7)).add("Mask", read.integer(12));
  if (read.is_null(14)) return arguments.text();
  return arguments.add("Maximum Delay Channel", read.integer(14))
      .add("Maximum Channel Delay", read.integer(15))
      .text();
}

// Returns the ids in TASK of communication unit tasks, by device and number.
std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> ccu_task_ids(UnifiedWriter& out) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> ids;
  Statement read = out.store().prepare(
      fmt::format("SELECT task.id, {} FROM task WHERE device_type_name_id ="
                  " (SELECT id FROM name WHERE text = 'CCU_SQE') ORDER BY task.id",
                  kTaskKeyColumns));
  while (read.step()) {
    const TaskKey key = task_key(read, 1);
    ids[{key.device, key.number}] = out.task_ids().find(read.integer(0), key);
  }
  return ids;
}

}  // namespace

void write_ccu(UnifiedWriter& out) {
  UnifiedRows rows(out, kCcu);
  Statement any = out.store().prepare("SELECT 1 FROM ccu_span LIMIT 1");
  if (!any.step()) return;
  const auto tasks = ccu_task_ids(out);
  Statement read = out.store().prepare(
      "SELECT device_id, start_ns, end_ns, is_wait, stream_id, task_number, instruction_id, die,"
      " size_bytes, reduce_type, input_type, output_type, mask, rank, channel, channel_delay"
      " FROM ccu_span WHERE start_ns >= ? ORDER BY id");
  read.bind(1, out.begin_ns());
  while (read.step()) {
    const bool is_wait = read.integer(3) != 0;
    const auto task = tasks.find({read.integer(0), read.integer(5)});
    rows.add({read.integer(0), task == tasks.end() ? kNoValue : task->second,
              out.text(is_wait ? "Wait" : "LoopGroup"), read.integer(1), read.integer(2),
              out.text(is_wait ? wait_arguments(read) : loop_arguments(read))});
  }
}

void write_dpu_tasks(UnifiedWriter& out) {
  UnifiedRows rows(out, kDpuTask);
  // Numbered after device marks, which are not device tasks either.
  Statement marks = out.store().prepare("SELECT count(*) FROM device_mark");
  std::int64_t number = marks.step() ? marks.integer(0) : 0;
  Statement read = out.store().prepare(
      "SELECT dpu_id, thread_id, start_ns, end_ns, stream_id, task_number, name_id, name.text"
      " FROM dpu_task LEFT JOIN name ON name.id = type_name_id WHERE start_ns >= ?"
      " ORDER BY dpu_task.id");
  read.bind(1, out.begin_ns());
  while (read.step()) {
    EngineArguments arguments;
    arguments.add("Thread Id", read.integer(1))
        .add("Physic Stream Id", read.integer(4))
        .add("Task Id", read.integer(5))
        .add("Task Type", cann::kernel_type_text(read.text(7)));
    rows.add({read.integer(0), read.integer(1), read.integer(2), read.integer(3),
              out.task_ids().extra(number++), read.integer(4), read.integer(5),
              out.name(read.maybe_integer(6)), out.text(arguments.text())});
  }
}

}  // namespace msprof::unified
