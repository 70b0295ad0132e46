#include "derive/task_sums.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/error.hpp"
#include "base/number.hpp"
#include "base/parallel.hpp"
#include "derive/passes.hpp"
#include "store/row_cursor.hpp"
#include "store/schema.hpp"

namespace msprof {

namespace {

constexpr std::string_view kKernelTypes[] = {
    "KERNEL_AICORE", "KERNEL_AIVEC",     "KERNEL_MIX_AIC",    "KERNEL_MIX_AIV",
    "FFTS_PLUS",     "PROFILING_ENABLE", "PROFILING_DISABLE",
};

// Rows per time block: at most this many extra rows are read for a time range that ends in a block.
constexpr std::int64_t kBlockRows = 4096;

// Names of execution calls, of boards and of Atlas servers.
constexpr std::array<std::string_view, 2> kExecuteCalls = {"svp_acl_mdl_execute", "aclmdlExecute"};
using ExecuteNames = std::array<std::int64_t, kExecuteCalls.size()>;

bool is_execution(const ExecuteNames& names, const ApiCallRow& call) {
  return call.name_id != kNull &&
         std::find(names.begin(), names.end(), call.name_id) != names.end();
}

// Data needed to classify tasks.
struct Rules {
  std::set<std::int64_t> kernel_type_ids;
  std::set<std::int64_t> kfc_streams;
  std::set<std::int64_t> communication_ops;  // kernels that run a collective, by name
  std::int64_t begin_ns = 0;
  // Name ids; kNull if the name does not exist.
  std::int64_t copy_type = kNull;
  std::int64_t record_event = kNull;
  std::int64_t wait_event = kNull;
  ExecuteNames execute_calls{};
};

// Ids of names. Table `name` has no index on text, so it is read once for all texts.
class NameIds {
 public:
  NameIds(const Database& db, std::span<const std::string_view> texts) {
    Statement read = db.prepare("SELECT id, text FROM name ORDER BY id DESC");
    while (read.step()) {
      if (std::find(texts.begin(), texts.end(), read.text(1)) != texts.end())
        ids_[std::string(read.text(1))] = read.integer(0);
    }
  }
  // kNull if the text has no id; then no row uses it.
  std::int64_t find(std::string_view text) const {
    const auto found = ids_.find(text);
    return found == ids_.end() ? kNull : found->second;
  }

 private:
  std::map<std::string, std::int64_t, std::less<>> ids_;
};

Rules read_rules(const Database& db) {
  constexpr std::string_view kCopy = "MEMCPY_ASYNC";
  constexpr std::string_view kRecord = "aclrtRecordEvent";
  constexpr std::string_view kWait = "aclrtStreamWaitEvent";
  std::vector<std::string_view> texts(std::begin(kKernelTypes), std::end(kKernelTypes));
  texts.insert(texts.end(), {kCopy, kRecord, kWait});
  texts.insert(texts.end(), kExecuteCalls.begin(), kExecuteCalls.end());
  const NameIds names(db, texts);
  Rules rules;
  for (const std::string_view text : kKernelTypes) {
    if (names.find(text) != kNull) rules.kernel_type_ids.insert(names.find(text));
  }
  Statement streams =
      db.prepare("SELECT stream_id FROM kfc_stream WHERE is_comm_stream = 0 ORDER BY id");
  while (streams.step()) rules.kfc_streams.insert(streams.integer(0));
  Statement ops = db.prepare(
      "SELECT op.id FROM op JOIN name ON name.id = op.name_id"
      " WHERE name.text GLOB '*AicpuKernel' OR name.text GLOB '*AivKernel' ORDER BY op.id");
  while (ops.step()) rules.communication_ops.insert(ops.integer(0));
  rules.begin_ns = read_meta_integer(db, "window.begin_ns").value_or(rules.begin_ns);
  rules.copy_type = names.find(kCopy);
  rules.record_event = names.find(kRecord);
  rules.wait_event = names.find(kWait);
  std::transform(kExecuteCalls.begin(), kExecuteCalls.end(), rules.execute_calls.begin(),
                 [&names](std::string_view text) { return names.find(text); });
  return rules;
}

// Consecutive rows read by one thread: all in the same run, or all in no run.
struct Piece {
  std::int64_t first_id = 0;
  std::int64_t last_id = 0;
  std::size_t run = SIZE_MAX;
};
using Pieces = std::vector<Piece>;

void add_pieces(std::int64_t first_id, std::int64_t last_id, std::size_t run, Pieces& pieces) {
  // Large enough that the overhead per chunk is negligible, small enough that threads finish
  // together.
  constexpr std::int64_t kPieceRows = 16 * kBlockRows;
  for (std::int64_t first = first_id; first <= last_id; first += kPieceRows)
    pieces.push_back({first, std::min(last_id, first + kPieceRows - 1), run});
}

struct Ids {
  std::int64_t first = 0;
  std::int64_t last = -1;
};

Ids read_id_range(const Database& db, std::string_view table) {
  // Separate subqueries, so that each is a look-up at one end of the table.
  Statement read = db.prepare("SELECT (SELECT min(id) FROM " + std::string(table) +
                              "), (SELECT max(id) FROM " + std::string(table) + ")");
  if (!read.step() || read.is_null(0)) return {};
  return {read.integer(0), read.integer(1)};
}

// Returns chunks that cover all runs, and other tasks that `op_times` does not contain yet.
Pieces plan_chunks(Ids ids, const std::vector<TaskSums::Run>& runs, const OpTimes& op_times) {
  Pieces pieces;
  std::int64_t next_id = ids.first;
  const auto add_others = [&](std::int64_t end_id) {
    for (const auto& [first, last] : op_times.done()) {
      if (first >= end_id) break;
      add_pieces(next_id, std::min(first, end_id) - 1, SIZE_MAX, pieces);
      next_id = std::max(next_id, last + 1);
    }
    add_pieces(next_id, end_id - 1, SIZE_MAX, pieces);
  };
  for (std::size_t run = 0; run < runs.size(); ++run) {
    add_others(runs[run].first_task_id);
    add_pieces(runs[run].first_task_id, runs[run].last_task_id, run, pieces);
    next_id = runs[run].last_task_id + 1;
  }
  add_others(ids.last + 1);
  return pieces;
}

// Several threads can read rows from pages at the same time, but cannot share SQLite statements.
std::size_t count_readers(const Database& db) {
  constexpr std::size_t kMaxThreads = 8;
  return db.reads_pages() ? core_count(kMaxThreads) : 1;
}

class BlockMaker {
 public:
  explicit BlockMaker(TimeBlockRow::Table table) : table_(table) {}

  void add(std::int64_t id, std::int64_t start_ns, std::int64_t end_ns) {
    if (rows_++ % kBlockRows == 0) blocks_.push_back({0, table_, id, id, start_ns, end_ns});
    TimeBlockRow& block = blocks_.back();
    block.last_row_id = id;
    block.first_start_ns = std::min(block.first_start_ns, start_ns);
    block.last_end_ns = std::max(block.last_end_ns, end_ns);
  }
  void take(std::vector<TimeBlockRow>& into) const {
    into.insert(into.end(), blocks_.begin(), blocks_.end());
  }

 private:
  TimeBlockRow::Table table_;
  std::int64_t rows_ = 0;
  std::vector<TimeBlockRow> blocks_;
};

struct PieceCalls {
  BlockMaker blocks{TimeBlockRow::kCalls};
  std::vector<std::uint32_t> events;     // calls that record or wait for an event, by id
  std::vector<std::int64_t> executions;  // by id
};

void read_calls(const Database& db, const Rules& rules, const Piece& piece, PieceCalls& found) {
  RowCursor<ApiCallRow> calls(
      db, {&ApiCallRow::id, &ApiCallRow::name_id, &ApiCallRow::start_ns, &ApiCallRow::end_ns},
      {.first_id = piece.first_id, .last_id = piece.last_id});
  const bool has_events = rules.record_event != kNull || rules.wait_event != kNull;
  while (calls.next()) {
    found.blocks.add(calls->id, calls->start_ns, calls->end_ns);
    const std::int64_t name = calls->name_id;
    if (has_events && name != kNull && (name == rules.record_event || name == rules.wait_event))
      found.events.push_back(static_cast<std::uint32_t>(calls->id));
    if (is_execution(rules.execute_calls, *calls)) found.executions.push_back(calls->id);
  }
}

// A bit per call.
class CallBits {
 public:
  explicit CallBits(std::int64_t last_id) : bits_(static_cast<std::size_t>(last_id) + 1) {}
  bool has(std::int64_t id) const {
    return static_cast<std::uint64_t>(id) < bits_.size() && bits_[static_cast<std::size_t>(id)];
  }
  void set(std::uint32_t id) { bits_[id] = true; }

 private:
  std::vector<bool> bits_;
};

// Fields that are equal in a task and its sub tasks.
using OuterKey = std::tuple<std::int64_t, std::int64_t, std::int64_t>;

OuterKey outer_key(const TaskRow& task) {
  return {task.stream_id, task.batch, task.task_number};
}

struct PieceTasks {
  TaskSums::Run run;
  BlockMaker blocks{TimeBlockRow::kTasks};
  std::vector<TaskSums::ArrowEnd> arrow_ends;
  std::vector<std::uint32_t> copy_calls;
  std::vector<OuterKey> outer_keys;  // keys of sub tasks
};

// Reads chunks of tasks. Accumulates operator totals over all chunks it reads.
class TaskReader {
 public:
  void read(const Database& db, const Rules& rules, const CallBits* events, const Piece& piece,
            PieceTasks& found) {
    RowCursor<TaskRow> tasks(
        db,
        {&TaskRow::id, &TaskRow::op_id, &TaskRow::duration_ns, &TaskRow::start_ns,
         &TaskRow::stream_id, &TaskRow::host_type_name_id, &TaskRow::device_type_name_id,
         &TaskRow::model_number, &TaskRow::api_id, &TaskRow::context, &TaskRow::batch,
         &TaskRow::task_number},
        {.first_id = piece.first_id, .last_id = piece.last_id});
    RowCursor<CommTaskRow> comm_tasks(db, {&CommTaskRow::task_id, &CommTaskRow::comm_call_id},
                                      {.first_id = piece.first_id, .last_id = piece.last_id});
    const bool is_of_run = piece.run != SIZE_MAX;
    bool has_comm = is_of_run && comm_tasks.next();
    while (tasks.next()) {
      op_times_.add(*tasks);
      found.blocks.add(tasks->id, tasks->start_ns,
                       saturating_add(tasks->start_ns, tasks->duration_ns));
      if (tasks->device_type_name_id != kNull) add_marks(rules, events, *tasks, found);
      if (!is_of_run) continue;
      while (has_comm && comm_tasks->task_id < tasks->id) has_comm = comm_tasks.next();
      if (has_comm && comm_tasks->task_id == tasks->id)
        found.run.comm_tasks.push_back(comm_task(*tasks, comm_tasks->comm_call_id));
      if (tasks->device_type_name_id != kNull) add_span(rules, *tasks, found.run);
    }
    // Saves memory: the results of all chunks are in memory at once.
    found.arrow_ends.shrink_to_fit();
  }

  const OpTimes& op_times() const { return op_times_; }

 private:
  // Requires a task with a device type.
  static void add_marks(const Rules& rules, const CallBits* events, const TaskRow& task,
                        PieceTasks& found) {
    if (task.context != kNull) {
      const OuterKey key = outer_key(task);
      if (found.outer_keys.empty() || found.outer_keys.back() != key)
        found.outer_keys.push_back(key);
    }
    if (task.api_id == kNull) return;
    const auto call = static_cast<std::uint32_t>(task.api_id);
    const bool is_copy = rules.copy_type != kNull && task.host_type_name_id == rules.copy_type;
    if (is_copy) found.copy_calls.push_back(call);
    // A task without a call gets no arrow end: viewers warn about arrows without a start.
    if (task.op_id != kNull || is_copy || (events != nullptr && events->has(task.api_id)))
      found.arrow_ends.push_back({static_cast<std::uint32_t>(task.id), call});
  }

  static TaskSums::CommTask comm_task(const TaskRow& task, std::int64_t call_id) {
    const std::int64_t start_ns = given(task.start_ns).value_or(0);
    return {task.id, call_id, start_ns,
            saturating_add(start_ns, given(task.duration_ns).value_or(0)), task.model_number};
  }

  static void add_span(const Rules& rules, const TaskRow& task, TaskSums::Run& run) {
    const Interval span{task.start_ns, saturating_add(task.start_ns, task.duration_ns)};
    if (span.end_ns < rules.begin_ns) return;
    if (is_computing(rules, task)) run.computing.add(span);
    if (rules.kernel_type_ids.count(task.host_type_name_id) != 0) return;
    run.whole.start_ns = std::min(run.whole.start_ns, span.start_ns);
    run.whole.end_ns = std::max(run.whole.end_ns, span.end_ns);
  }

  static bool is_computing(const Rules& rules, const TaskRow& task) {
    return task.op_id != kNull && rules.kfc_streams.count(task.stream_id) == 0 &&
           rules.communication_ops.count(task.op_id) == 0;
  }

  OpTimes op_times_;
};

void merge(TaskSums::Run& into, const TaskSums::Run& more) {
  into.comm_tasks.insert(into.comm_tasks.end(), more.comm_tasks.begin(), more.comm_tasks.end());
  for (const Interval& span : more.computing.intervals()) into.computing.add(span);
  into.whole.start_ns = std::min(into.whole.start_ns, more.whole.start_ns);
  into.whole.end_ns = std::max(into.whole.end_ns, more.whole.end_ns);
}

template <typename T>
void append(std::vector<T>& into, const std::vector<T>& more) {
  into.insert(into.end(), more.begin(), more.end());
}

template <typename T>
void sort_once_each(std::vector<T>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

std::vector<TaskSums::Run> device_runs(const Database& db) {
  std::vector<TaskSums::Run> runs;
  Statement read = db.prepare(
      "SELECT device_id, first_task_id, last_task_id FROM task_run"
      " WHERE device_id IS NOT NULL ORDER BY id");
  while (read.step()) runs.push_back({read.integer(0), read.integer(1), read.integer(2), {}, {}});
  return runs;
}

// Finds the tasks that have sub tasks. Runs after all sub tasks of their run are known.
std::vector<std::uint32_t> outer_tasks(const Database& db, const Pieces& pieces,
                                       const std::vector<std::vector<OuterKey>>& keys_of_runs) {
  std::vector<std::vector<std::uint32_t>> found(pieces.size());
  in_parallel(pieces.size(), count_readers(db), [&](std::size_t at, std::size_t) {
    const Piece& piece = pieces[at];
    if (piece.run == SIZE_MAX || keys_of_runs[piece.run].empty()) return;
    const std::vector<OuterKey>& keys = keys_of_runs[piece.run];
    RowCursor<TaskRow> tasks(db,
                             {&TaskRow::id, &TaskRow::stream_id, &TaskRow::batch,
                              &TaskRow::task_number, &TaskRow::context},
                             {.first_id = piece.first_id, .last_id = piece.last_id});
    while (tasks.next()) {
      if (tasks->context == kNull &&
          std::binary_search(keys.begin(), keys.end(), outer_key(*tasks)))
        found[at].push_back(static_cast<std::uint32_t>(tasks->id));
    }
  });
  std::vector<std::uint32_t> all;
  for (const auto& some : found) append(all, some);
  return all;
}

std::optional<CallBits> sum_calls(const Database& db, const Rules& rules, Ids calls,
                                  TaskSums& sums) {
  Pieces pieces;
  add_pieces(calls.first, calls.last, SIZE_MAX, pieces);
  std::vector<PieceCalls> found(pieces.size());
  in_parallel(pieces.size(), count_readers(db),
              [&](std::size_t at, std::size_t) { read_calls(db, rules, pieces[at], found[at]); });
  std::optional<CallBits> events;
  for (const PieceCalls& piece : found) {
    piece.blocks.take(sums.call_blocks);
    append(sums.execution_calls, piece.executions);
    if (!piece.events.empty() && !events) events.emplace(calls.last);
    for (const std::uint32_t id : piece.events) events->set(id);
  }
  return events;
}

}  // namespace

std::span<const std::string_view> kernel_types() {
  return kKernelTypes;
}

TaskSums sum_tasks(TraceDbWriter& store, OpTimes& op_times) {
  const Database& db = store.readable();
  TaskSums sums;
  sums.runs = device_runs(db);
  const Ids tasks = read_id_range(db, TaskRow::kTable);
  const Ids calls = read_id_range(db, ApiCallRow::kTable);
  for (const Ids ids : {tasks, calls}) {
    if (ids.first < 0 || ids.last >= UINT32_MAX)
      throw Error(Exit::partial_data, "too many tasks or calls: at most 4294967294 are supported");
  }
  const Rules rules = read_rules(db);
  const std::optional<CallBits> events = sum_calls(db, rules, calls, sums);

  const Pieces pieces = plan_chunks(tasks, sums.runs, op_times);
  std::vector<PieceTasks> found(pieces.size());
  std::vector<TaskReader> readers(count_readers(db));
  in_parallel(pieces.size(), readers.size(), [&](std::size_t at, std::size_t thread) {
    readers[thread].read(db, rules, events ? &*events : nullptr, pieces[at], found[at]);
  });
  for (const TaskReader& reader : readers) op_times.add(reader.op_times());
  std::vector<std::vector<OuterKey>> outer_keys(sums.runs.size());
  for (std::size_t at = 0; at < pieces.size(); ++at) {
    PieceTasks piece = std::move(found[at]);
    sums.arrow_ends.push_back(std::move(piece.arrow_ends));
    append(sums.copy_calls, piece.copy_calls);
    piece.blocks.take(sums.task_blocks);
    if (pieces[at].run == SIZE_MAX) continue;
    merge(sums.runs[pieces[at].run], piece.run);
    append(outer_keys[pieces[at].run], piece.outer_keys);
  }
  sort_once_each(sums.copy_calls);
  for (auto& keys : outer_keys) sort_once_each(keys);
  const bool has_sub_tasks = std::any_of(outer_keys.begin(), outer_keys.end(),
                                         [](const auto& keys) { return !keys.empty(); });
  if (has_sub_tasks) sums.outer_tasks = outer_tasks(db, pieces, outer_keys);
  return sums;
}

}  // namespace msprof
