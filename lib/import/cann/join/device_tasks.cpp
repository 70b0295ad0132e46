#include "import/cann/join/device_tasks.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

namespace msprof {

namespace {

// Maximum number of tasks that wait for an earlier one to end. If it is exceeded, they are written
// first, and the earlier one when it ends.
constexpr std::size_t kMaxWaiting = std::size_t{1} << 15;

// Maximum number of open tasks with one key that are searched for a counter record; normally there
// is one.
constexpr int kMaxOpenOfKey = 16;

std::int64_t context_cell(std::uint32_t context) {
  return context == kInvalidId ? kNull : static_cast<std::int64_t>(context);
}

std::int64_t counter_cell(std::uint64_t value) {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(value, INT64_MAX));
}

void put(std::int64_t* cells, bool is_vector, const CoreCounters& side, std::size_t slots) {
  cells[is_vector ? PmuCells::kAivCycles : PmuCells::kAicCycles] = counter_cell(side.total_cycles);
  for (std::size_t slot = 0; slot < slots; ++slot)
    cells[PmuCells::slot(is_vector, slot)] = counter_cell(side.counters[slot]);
}

void add_counters(CoreCounters& sum, const CoreCounters& more) {
  sum.total_cycles += more.total_cycles;
  for (std::size_t slot = 0; slot < kPmuSlots; ++slot) sum.counters[slot] += more.counters[slot];
}

// `clock` converts the cores' times; null if the records have none.
TaskPmuRow pmu_row(std::int64_t task_id, const TaskCounterState& state, std::size_t slots,
                   const ClockMap* clock) {
  TaskPmuRow row;
  row.task_id = task_id;
  const bool is_mix = state.kind == CoreKind::mix_aic || state.kind == CoreKind::mix_aiv;
  const bool is_aic = state.kind == CoreKind::aic || state.kind == CoreKind::mix_aic;
  const CoreCounters none;
  const bool has_other = is_mix && state.has_blocks && state.block_kind == state.kind;
  const CoreCounters& other = has_other ? state.blocks : none;
  row.c[PmuCells::kFrequency] = state.frequency_mhz;
  const CoreCounters& aic = is_aic ? state.main : other;
  const CoreCounters& aiv = is_aic ? other : state.main;
  put(row.c, false, aic, slots);
  put(row.c, true, aiv, slots);
  if (clock != nullptr) {
    row.c[PmuCells::kAicTime] = clock->duration_ns(aic.ticks);
    row.c[PmuCells::kAivTime] = clock->duration_ns(aiv.ticks);
  }
  row.c[PmuCells::kCoreKind] = static_cast<std::int64_t>(state.kind);
  if (state.main.block_num != 0) row.c[PmuCells::kBlockNum] = state.main.block_num;
  return row;
}

using NodeKey = std::tuple<std::int64_t, std::int64_t, std::int64_t>;

NodeKey make_key(const AicpuNodeRow& node) {
  return {node.stream_id, node.task_number, node.end_ns};
}

}  // namespace

AicpuNames::AicpuNames(std::vector<AicpuNodeRow>& nodes) : nodes_(nodes), order_(nodes.size()) {
  std::iota(order_.begin(), order_.end(), std::uint32_t{0});
  sort();
}

void AicpuNames::sort() {
  std::stable_sort(order_.begin(), order_.end(), [this](std::uint32_t a, std::uint32_t b) {
    return make_key(nodes_[a]) < make_key(nodes_[b]);
  });
}

void AicpuNames::task(std::uint32_t stream, std::uint32_t task_number, std::int64_t start_ns,
                      std::int64_t end_ns, std::int64_t op_name_id) {
  const NodeKey first{stream, task_number, start_ns};
  auto at = std::lower_bound(
      order_.begin(), order_.end(), first,
      [this](std::uint32_t node, const NodeKey& key) { return make_key(nodes_[node]) < key; });
  for (; at != order_.end(); ++at) {
    AicpuNodeRow& node = nodes_[*at];
    if (make_key(node) > NodeKey{stream, task_number, end_ns}) break;
    node.op_name_id = op_name_id;
  }
}

void BlockSpread::add(const TaskCounters& run) {
  const std::uint64_t end = run.end.ticks;
  if (count == 0 || std::tie(run.start_ticks, run.core_id) < std::tie(first_start, first_core)) {
    first_core = run.core_id;
    first_start = run.start_ticks;
    first_end = end;
  }
  if (count == 0 || std::tie(run.start_ticks, run.core_id) > std::tie(last_start, last_core)) {
    last_core = run.core_id;
    last_start = run.start_ticks;
    last_end = end;
  }
  earliest_end = count == 0 ? end : std::min(earliest_end, end);
  latest_end = std::max(latest_end, end);
  busy += end - run.start_ticks;
  ++count;
}

std::uint32_t TaskCountersPool::take() {
  if (free_.empty()) {
    states_.emplace_back();
    return static_cast<std::uint32_t>(states_.size() - 1);
  }
  const std::uint32_t number = free_.back();
  free_.pop_back();
  states_[number] = {};
  return number;
}

DeviceTasks::DeviceTasks(const DeviceSettings& settings, TraceDbWriter& store, HostTaskStore& hosts,
                         std::int64_t first_id)
    : settings_(settings),
      store_(store),
      hosts_(hosts, settings.device),
      host_store_(hosts),
      next_id_(first_id) {
  if (settings.aicpu_names == nullptr) return;
  aicpu_kernel_name_id_ = store.name_id("KERNEL_AICPU");
  aicpu_unit_name_id_ = store.name_id("AI_CPU");
}

void DeviceTasks::begin(DeviceCounts counts) {
  known_ = std::move(counts);
  known_.finish();
  pairing_ = std::move(known_.pairing());
}

// At equal times ends are processed after all starts and counters, whatever their order in the
// file.
void DeviceTasks::push(const DeviceLog& log) {
  advance_to(log.place.ticks);
  if (!log.is_start) {
    ending_.push_back(log);
    return;
  }
  Task& task = starting_.emplace_back();
  task.start = log.place;
  task.type_name_id = log.type_name_id;
  task.context = log.context;
  task.task_number = log.task_number;
  task.stream = settings_.has_unique_ids ? find_stream(log.task_number) : log.stream;
  task.batch = known_.find_batch(log);
  task.thread = log.thread;
  task.is_placeholder = log.is_placeholder;
  task.has_ordered_pmu = log.has_ordered_pmu;
  task.core = log.core;
}

void DeviceTasks::advance_to(std::uint64_t ticks) {
  if (ticks == ticks_) return;
  flush();
  ticks_ = ticks;
}

void DeviceTasks::flush() {
  flush_starts();
  for (const DeviceLog& log : ending_) end(log);
  ending_.clear();
}

// Rows are sorted by (start, stream, task number, context).
void DeviceTasks::flush_starts() {
  if (starting_.size() > 1) {
    std::sort(starting_.begin(), starting_.end(), [](const Task& a, const Task& b) {
      return std::tie(a.stream, a.task_number, a.context, a.start.sequence) <
             std::tie(b.stream, b.task_number, b.context, b.start.sequence);
    });
  }
  for (const Task& starting : starting_) start(starting);
  starting_.clear();
}

// Returns true if the same start was seen before, in a copy of a slice.
bool DeviceTasks::is_repeated(std::uint64_t key, const Task& starting) const {
  const Slot last = pairing_.last_open(key);
  return last != TaskPairing::kNoSlot && tasks_[last].start.ticks == starting.start.ticks &&
         tasks_[last].thread == starting.thread;
}

void DeviceTasks::start(const Task& starting) {
  const std::uint64_t key =
      TaskPairing::make_key(key_stream(starting), starting.task_number, starting.context);
  if (is_repeated(key, starting)) {
    ++counts_.repeated_starts;
    return;
  }
  const TaskPairing::Started started = pairing_.start(key);
  if (started.given_up != TaskPairing::kNoSlot) {
    ++counts_.starts_without_end;
    drop(started.given_up);
  }
  if (started.slot >= tasks_.size()) tasks_.resize(started.slot + 1);
  Task& task = tasks_[started.slot];
  task = starting;
  if (!join(task) && task.is_placeholder) task.state = State::dropped;
  task.id = next_id_++;
  order_.push_back(started.slot);
}

// Finds the host's task. Returns false if there is none.
bool DeviceTasks::join(Task& task) {
  const HostJoin::Found found =
      hosts_.find(key_stream(task), task.batch, task.task_number, task.context);
  if (found.shared != FlatTable::kNotFound) {
    SharedKey& shared = hosts_.shared(found.shared);
    ++shared.open;
    task.shared = found.shared;
    // Usually in launch order; resolve_shared() handles the rest.
    const std::size_t number = shared.tasks.size() + shared.open - 1;
    if (number < shared.hosts.size()) set_host(task, shared.hosts[number]);
    return true;
  }
  if (found.task == nullptr) return false;
  set_host(task, *found.task);
  return true;
}

void DeviceTasks::set_host(Task& task, const HostTask& host) {
  task.host = host;
  task.has_host = true;
  if (!known_.has_blocks() || host.op_id == kNull || settings_.ops == nullptr) return;
  const DeviceCounts::Blocks* blocks =
      known_.find_blocks(key_stream(task), task.task_number, task.batch);
  if (blocks == nullptr) return;
  const std::int64_t block_num = blocks->block_num;
  task.host.op_id =
      settings_.ops->with_blocks(host.op_id, block_num, block_num * blocks->mix_ratio);
}

void DeviceTasks::end(const DeviceLog& log) {
  const Slot slot = pairing_.end(TaskPairing::make_key(log.stream, log.task_number, log.context));
  if (slot == TaskPairing::kNoSlot) {
    ++counts_.ends_without_start;
    return;
  }
  Task& task = tasks_[slot];
  task.end_ticks = log.place.ticks;
  if (task.has_ordered_pmu && settings_.ordered_pmu != nullptr) {
    CoreCounters values;
    if (settings_.ordered_pmu->take(key_stream(task), task.task_number, task.core, values)) {
      TaskCounterState& state = find_or_add_counters(task);
      state.main = values;
      state.kind = task.core;
      state.has_main = true;
      state.frequency_mhz = frequency_at(task.end_ticks);
    }
  }
  if (task.state == State::dropped) {
    drop(slot);
    return;
  }
  task.state = State::done;
  retire(slot);
}

// Gives up a task; it will not be written.
void DeviceTasks::drop(Slot slot) {
  Task& task = tasks_[slot];
  task.state = State::dropped;
  task.end_ticks = task.start.ticks + 1;
  if (task.shared != FlatTable::kNotFound) hosts_.left(task.shared, false, slot);
  task.shared = FlatTable::kNotFound;
  retire(slot);
}

// Called when a task has ended. It is written when all earlier ones have been.
void DeviceTasks::retire(Slot slot) {
  Task& task = tasks_[slot];
  if (task.shared != FlatTable::kNotFound) hosts_.left(task.shared, true, slot);
  if (task.is_late && task.shared == FlatTable::kNotFound) {
    if (task.state == State::done) write(task);
    if (task.counters != TaskCountersPool::kNoCounters) counters_.release(task.counters);
    pairing_.release(slot);
  }
  drain();
  resolve_shared(false);
}

void DeviceTasks::drain() {
  while (!order_.empty()) {
    const Slot slot = order_.front();
    Task& task = tasks_[slot];
    // Placeholders without a host task are dropped at once and end later.
    const bool has_ended = task.state != State::open && task.end_ticks > 0;
    const bool is_held = task.shared != FlatTable::kNotFound;
    if (!has_ended && !is_held && order_.size() <= kMaxWaiting) return;
    order_.pop_front();
    if (!has_ended || is_held) {
      task.is_late = true;
      continue;
    }
    if (task.state == State::done) write(task);
    if (task.counters != TaskCountersPool::kNoCounters) counters_.release(task.counters);
    pairing_.release(slot);
  }
}

// If task ids do not wrap around, the host's launches include marks of the step trace, which the
// device does not record (cann_device.md 14.3).
void DeviceTasks::drop_marks_of_host(SharedKey& shared) {
  if (settings_.has_batches || settings_.has_unique_ids) return;
  const std::int64_t mark = store_.name_id("PROFILER_TRACE_EX");
  std::erase_if(shared.hosts, [=](const HostTask& host) { return host.type_name_id == mark; });
}

// Assigns host tasks that share a key. If there are as many device tasks, they are paired in order.
// Otherwise the assignment is unknown and the device tasks have no operator.
void DeviceTasks::resolve_shared(bool all) {
  for (const std::uint32_t number : hosts_.resolved(all)) {
    SharedKey& shared = hosts_.shared(number);
    if (shared.tasks.size() != shared.hosts.size()) drop_marks_of_host(shared);
    std::sort(shared.tasks.begin(), shared.tasks.end(),
              [this](Slot a, Slot b) { return tasks_[a].id < tasks_[b].id; });
    const bool is_even = shared.tasks.size() == shared.hosts.size();
    for (std::size_t at = 0; at < shared.tasks.size(); ++at) {
      Task& task = tasks_[shared.tasks[at]];
      task.has_host = false;
      if (is_even) set_host(task, shared.hosts[at]);
      write(task);
      if (task.counters != TaskCountersPool::kNoCounters) counters_.release(task.counters);
      pairing_.release(shared.tasks[at]);
    }
    if (!is_even) counts_.tasks_of_several_hosts += shared.tasks.size();
    hosts_.forget_shared(number);
  }
}

// Finds the open task of a counter record: the task of its key during which the record ended. At
// equal times the start of a task is processed before the counters, its end after them.
DeviceTasks::Slot DeviceTasks::open_task(const TaskCounters& counters, std::uint16_t batch) const {
  const bool wants_main = counters.what == TaskCounters::What::task;
  Slot slot = pairing_.first_open(
      TaskPairing::make_key(counters.stream, counters.task_number, counters.context));
  for (int looks = 0; slot != TaskPairing::kNoSlot && looks < kMaxOpenOfKey; ++looks) {
    const Task& task = tasks_[slot];
    if (task.batch == batch && !(wants_main && task.counters != TaskCountersPool::kNoCounters &&
                                 counters_[task.counters].has_main))
      return slot;
    slot = pairing_.next_open(slot);
  }
  return TaskPairing::kNoSlot;
}

TaskCounterState& DeviceTasks::find_or_add_counters(Task& task) {
  if (task.counters == TaskCountersPool::kNoCounters) task.counters = counters_.take();
  return counters_[task.counters];
}

void DeviceTasks::push(const TaskCounters& counters) {
  using What = TaskCounters::What;
  if (counters.what == What::other_block || counters.what == What::unknown) return;
  advance_to(counters.end.ticks);
  flush_starts();
  const bool is_block = counters.what == What::block || counters.what == What::block_run;
  const Slot slot = open_task(counters, known_.find_batch(counters));
  if (slot == TaskPairing::kNoSlot) {
    ++(is_block ? counts_.blocks_without_task : counts_.counters_without_task);
    return;
  }
  TaskCounterState& state = find_or_add_counters(tasks_[slot]);
  if (counters.what == What::task) {
    state.main = counters.values;
    state.kind = counters.kind;
    state.frequency_mhz = frequency_at(counters.end.ticks);
    state.has_main = true;
  } else if (counters.what == What::block) {
    add_block(tasks_[slot], state, counters);
  } else if (counters.what == What::block_run) {
    state.runs[counters.is_vector ? 1 : 0].add(counters);
  } else if (state.has_blocks) {
    ++counts_.counters_without_task;
  } else {
    state.blocks = counters.values;
    state.block_kind = counters.kind;
    state.has_blocks = true;
  }
}

void DeviceTasks::add_block(const Task& task, TaskCounterState& state,
                            const TaskCounters& counters) {
  if (!state.has_blocks) {
    const bool has_op = task.has_host && task.host.op_id != kNull && settings_.ops != nullptr;
    state.blocks_left = has_op ? settings_.ops->mix_block_num(task.host.op_id) : 0;
    state.block_kind = counters.kind;
    state.has_blocks = true;
  }
  if (state.blocks_left <= 0 || state.block_kind != counters.kind) {
    ++counts_.blocks_without_task;
    return;
  }
  --state.blocks_left;
  add_counters(state.blocks, counters.values);
}

std::int64_t DeviceTasks::frequency_at(std::uint64_t ticks) const {
  if (settings_.frequencies == nullptr) return settings_.frequency_mhz;
  const auto after = std::upper_bound(
      settings_.frequencies->begin(), settings_.frequencies->end(), ticks,
      [](std::uint64_t moment, const auto& change) { return moment < change.first; });
  if (after == settings_.frequencies->begin()) return settings_.frequency_mhz;
  return (after - 1)->second;
}

DeviceTaskCounts DeviceTasks::finish() {
  flush();
  for (const Slot slot : pairing_.still_open()) {
    if (tasks_[slot].state == State::open) ++counts_.starts_without_end;
    drop(slot);
  }
  drain();
  resolve_shared(true);
  counts_.hosts_without_task = hosts_.unseen() + host_store_.remaining(settings_.device);
  return counts_;
}

void DeviceTasks::write(const Task& task) {
  TaskRow row;
  row.id = task.id;
  row.start_ns = settings_.clock->ns(task.start.ticks);
  // Limits the duration so that the end does not overflow, even for a damaged count.
  row.duration_ns =
      std::min(settings_.clock->duration_ns(task.end_ticks - task.start.ticks),
               std::numeric_limits<std::int64_t>::max() - std::max<std::int64_t>(row.start_ns, 0));
  row.device_id = settings_.device;
  row.stream_id = task.stream;
  row.task_number = task.task_number;
  row.batch = task.batch;
  row.context = context_cell(task.context);
  row.device_type_name_id = task.type_name_id;
  if (task.type_name_id == kNull) ++counts_.unknown_types;
  ++counts_.tasks;
  if (task.has_host) {
    const HostTask& host = task.host;
    row.op_id = host.op_id;
    row.host_type_name_id = host.type_name_id;
    row.kernel_name_id = host.kernel_name_id;
    row.model_number = host.model_number;
    row.api_id = host.api_id;
    if (host.copy_bytes != kNull)
      store_.add(MemcpyTaskRow{task.id, host.copy_bytes, host.copy_direction});
    if (host.comm_call_id != kNull) store_.add(CommTaskRow{task.id, host.comm_call_id});
    if (settings_.aicpu_names != nullptr && settings_.ops != nullptr && host.op_id != kNull &&
        host.type_name_id == aicpu_kernel_name_id_ &&
        settings_.ops->unit_name_id(host.op_id) == aicpu_unit_name_id_) {
      settings_.aicpu_names->task(task.stream, task.task_number, row.start_ns,
                                  row.start_ns + row.duration_ns,
                                  settings_.ops->name_id(host.op_id));
    }
  }
  store_.add(row);
  write_counters(task);
  if (settings_.waits != nullptr) write_waits(task, row);
}

void DeviceTasks::write_waits(const Task& task, const TaskRow& row) {
  const TaskWaits::Ticks ticks =
      settings_.waits->find(key_stream(task), task.task_number, task.start.ticks);
  TaskWaitRow waits;
  waits.task_id = row.id;
  if (ticks.waiting != 0 && ticks.waiting <= task.start.ticks)
    waits.waiting_ns = settings_.clock->duration_ns(task.start.ticks - ticks.waiting);
  if (ticks.pending != 0 && ticks.pending <= task.end_ticks)
    waits.pending_ns = settings_.clock->duration_ns(task.end_ticks - ticks.pending);
  if (waits.waiting_ns != kNull || waits.pending_ns != kNull) store_.add(waits);
}

void DeviceTasks::write_counters(const Task& task) {
  if (task.counters == TaskCountersPool::kNoCounters) return;
  const TaskCounterState& state = counters_[task.counters];
  const ClockMap* times = settings_.has_unique_ids ? settings_.clock : nullptr;
  if (state.has_main) store_.add(pmu_row(task.id, state, settings_.pmu_slots, times));
  write_blocks(task, state);
}

void DeviceTasks::write_blocks(const Task& task, const TaskCounterState& state) {
  for (const std::int64_t is_vector : {0, 1}) {
    const BlockSpread& spread = state.runs[is_vector];
    if (spread.count == 0) continue;
    TaskBlocksRow row;
    row.id = 2 * task.id + is_vector;
    row.task_id = task.id;
    row.is_vector = is_vector;
    row.block_count = spread.count;
    row.first_core = spread.first_core;
    row.first_start_ns = settings_.clock->ns(spread.first_start);
    row.first_end_ns = settings_.clock->ns(spread.first_end);
    row.last_core = spread.last_core;
    row.last_start_ns = settings_.clock->ns(spread.last_start);
    row.last_end_ns = settings_.clock->ns(spread.last_end);
    row.earliest_end_ns = settings_.clock->ns(spread.earliest_end);
    row.latest_end_ns = settings_.clock->ns(spread.latest_end);
    row.busy_ns = settings_.clock->duration_ns(spread.busy);
    store_.add(row);
  }
}

}  // namespace msprof
