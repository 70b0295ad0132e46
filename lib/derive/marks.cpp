// Derives time_block, task_mark, call_mark, comm_op_mark and execution_call: facts about many rows,
// computed once for timelines and advice. Source: cann_device.md 14.5 (outer tasks), 23.3 (ends of
// arrows).
#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "derive/passes.hpp"
#include "derive/task_sums.hpp"
#include "store/row_cursor.hpp"

namespace msprof {

namespace {

// One bit per row, as stored.
class Marks {
 public:
  void set(std::int64_t id) {
    const auto word = static_cast<std::size_t>(id / kMarkedRows);
    if (word >= words_.size()) words_.resize(word + 1);
    words_[word] |= bit(id);
  }
  void clear(std::int64_t id) { words_[static_cast<std::size_t>(id / kMarkedRows)] &= ~bit(id); }
  bool has(std::int64_t id) const {
    return (word(static_cast<std::size_t>(id / kMarkedRows)) & bit(id)) != 0;
  }
  std::size_t words() const { return words_.size(); }
  std::int64_t word(std::size_t at) const { return at < words_.size() ? words_[at] : 0; }

 private:
  static std::uint32_t bit(std::int64_t id) { return std::uint32_t{1} << (id % kMarkedRows); }
  std::vector<std::uint32_t> words_;
};

// A collective at which an arrow from its call ends.
struct OpEnd {
  std::int64_t op_id = 0;
  std::int64_t device_id = 0;
  std::int64_t start_ns = 0;
};

// Returns the last collective of each call.
std::unordered_map<std::int64_t, OpEnd> op_ends(const Database& db) {
  std::unordered_map<std::int64_t, OpEnd> ends;
  // Only collectives with an hccl_op_info have an arrow (cann_device.md 23.5).
  Statement read = db.prepare(
      "SELECT op.id, call.api_id, op.device_id, op.start_ns FROM comm_op AS op"
      " CROSS JOIN comm_call AS call ON call.id = op.first_comm_call_id"
      " WHERE call.api_id IS NOT NULL AND call.op_relay IS NOT NULL ORDER BY op.id");
  while (read.step()) ends[read.integer(1)] = {read.integer(0), read.integer(2), read.integer(3)};
  return ends;
}

bool is_later(const OpEnd& op, const Database& db, std::int64_t task_id) {
  RowCursor<TaskRow> task(db, {&TaskRow::device_id, &TaskRow::start_ns},
                          {.first_id = task_id, .last_id = task_id});
  return task.next() && std::pair(op.device_id, op.start_ns) >
                            std::pair(std::int64_t{task->device_id}, std::int64_t{task->start_ns});
}

void write_task_marks(TraceDbWriter& store, const Marks& ends, const Marks& last_ends,
                      const Marks& outer) {
  const std::size_t words = std::max({ends.words(), last_ends.words(), outer.words()});
  for (std::size_t at = 0; at < words; ++at) {
    const TaskMarkRow row{static_cast<std::int64_t>(at), ends.word(at), last_ends.word(at),
                          outer.word(at)};
    if (row.arrow_ends != 0 || row.outer_tasks != 0) store.add(row);
  }
}

template <typename Row>
void write_marks(TraceDbWriter& store, const Marks& marks) {
  for (std::size_t at = 0; at < marks.words(); ++at) {
    if (marks.word(at) != 0) store.add(Row{static_cast<std::int64_t>(at), marks.word(at)});
  }
}

}  // namespace

void derive_marks(TraceDbWriter& store, const TaskSums& tasks) {
  if (tasks.runs.empty()) return;
  const Database& db = store.readable();
  const auto ops = op_ends(db);
  Marks ends;
  Marks last_ends;
  Marks last_ops;
  Marks seen;                                                  // calls seen so far
  std::unordered_map<std::int64_t, std::int64_t> last_of_ops;  // the last task, by call
  const auto add = [&](const TaskSums::ArrowEnd& end) {
    ends.set(end.task);
    if (seen.has(end.call)) return;
    seen.set(end.call);
    last_ends.set(end.task);
    if (ops.count(end.call) != 0) last_of_ops[end.call] = end.task;
  };
  for (auto piece = tasks.arrow_ends.rbegin(); piece != tasks.arrow_ends.rend(); ++piece)
    std::for_each(piece->rbegin(), piece->rend(), add);
  // The last end is the collective or the last task of its call, whichever is later.
  for (const auto& [call, op] : ops) {
    const auto task = last_of_ops.find(call);
    if (task != last_of_ops.end() && !is_later(op, db, task->second)) continue;
    if (task != last_of_ops.end()) last_ends.clear(task->second);
    last_ops.set(op.op_id);
  }
  Marks outer;
  for (const std::uint32_t task : tasks.outer_tasks) outer.set(task);
  write_task_marks(store, ends, last_ends, outer);
  Marks copies;
  for (const std::uint32_t call : tasks.copy_calls) copies.set(call);
  write_marks<CallMarkRow>(store, copies);
  write_marks<CommOpMarkRow>(store, last_ops);
  std::int64_t next_id = 1;
  for (const auto* blocks : {&tasks.task_blocks, &tasks.call_blocks}) {
    for (TimeBlockRow block : *blocks) {
      block.id = next_id++;
      store.add(block);
    }
  }
}

void derive_execution_calls(TraceDbWriter& store, const TaskSums& tasks) {
  for (const std::int64_t call : tasks.execution_calls) store.add(ExecutionCallRow{call});
}

}  // namespace msprof
