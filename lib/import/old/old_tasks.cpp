#include "import/old/old_tasks.hpp"

#include <algorithm>
#include <tuple>

#include "base/number.hpp"
#include "import/cann/cann_import.hpp"
#include "import/cann/join/device_tasks.hpp"

namespace msprof::old {

RunPairing::Open& RunPairing::find_or_add_open(std::uint32_t stream, std::uint16_t task) {
  Open& open = open_[make_key(stream, task)];
  open.run.stream = stream;
  open.run.task = task;
  return open;
}

void RunPairing::start(std::uint32_t stream, std::uint16_t task, std::uint64_t ticks,
                       std::uint16_t type) {
  Open& open = find_or_add_open(stream, task);
  if (open.has_start) ++repeated_starts_;
  open.run.start_ticks = ticks;
  open.run.type = type;
  open.has_start = true;
}

void RunPairing::end(std::uint32_t stream, std::uint16_t task, std::uint64_t ticks) {
  const auto found = open_.find(make_key(stream, task));
  if (found == open_.end() || !found->second.has_start) {
    ++ends_without_start_;
    if (found != open_.end()) open_.erase(found);
    return;
  }
  found->second.run.end_ticks = ticks;
  runs_.push_back(found->second.run);
  open_.erase(found);
}

void RunPairing::waiting(std::uint32_t stream, std::uint16_t task, std::uint64_t ticks) {
  Open& open = find_or_add_open(stream, task);
  if (!open.has_start) open.run.waiting_ticks = ticks;
}

void RunPairing::pending(std::uint32_t stream, std::uint16_t task, std::uint64_t ticks) {
  Open& open = find_or_add_open(stream, task);
  if (!open.has_start) open.run.pending_ticks = ticks;
}

std::deque<OldTaskRun> RunPairing::take() {
  starts_without_end_ = static_cast<std::uint64_t>(std::count_if(
      open_.begin(), open_.end(), [](const auto& open) { return open.second.has_start; }));
  open_.clear();
  return std::move(runs_);
}

void CounterTable::add(const CoreCounters& counters) {
  constexpr std::uint64_t kMax = UINT32_MAX;
  auto& cells = small_.emplace_back();
  bool fits = counters.total_cycles <= kMax;
  for (std::size_t i = 0; i < kSlots; ++i) {
    fits = fits && counters.counters[i] <= kMax;
    cells[i + 2] = static_cast<std::uint32_t>(counters.counters[i]);
  }
  cells[0] = static_cast<std::uint32_t>(counters.total_cycles);
  cells[1] = counters.block_num;
  if (!fits) large_.emplace(size() - 1, counters);
}

CoreCounters CounterTable::at(std::uint32_t place) const {
  const auto large = large_.find(place);
  if (large != large_.end()) return large->second;
  const auto& cells = small_[place];
  CoreCounters counters;
  counters.total_cycles = cells[0];
  counters.block_num = cells[1];
  for (std::size_t i = 0; i < kSlots; ++i) counters.counters[i] = cells[i + 2];
  return counters;
}

namespace {

std::uint64_t task_key(std::uint32_t stream, std::uint16_t task) {
  return std::uint64_t{stream} << 16 | task;
}

// A task's key, and an index into the list of records or runs.
using Keyed = std::pair<std::uint64_t, std::uint32_t>;

// Assigns counters to the runs of one log, in order within each key. Returns the number of records
// left over.
std::uint64_t give_counters(std::deque<OldTaskRun>& runs, bool is_vector,
                            std::vector<Keyed> of_records, bool is_head_lost) {
  std::vector<Keyed> of_runs;
  for (std::uint32_t i = 0; i < runs.size(); ++i) {
    if (runs[i].is_vector == is_vector)
      of_runs.emplace_back(task_key(runs[i].stream, runs[i].task), i);
  }
  std::sort(of_records.begin(), of_records.end());
  std::sort(of_runs.begin(), of_runs.end(), [&](const auto& a, const auto& b) {
    return std::tuple(a.first, runs[a.second].end_ticks, a.second) <
           std::tuple(b.first, runs[b.second].end_ticks, b.second);
  });
  std::uint64_t left = 0;
  std::size_t run = 0;
  for (std::size_t first = 0; first < of_records.size();) {
    const std::uint64_t wanted = of_records[first].first;
    std::size_t last = first;
    while (last < of_records.size() && of_records[last].first == wanted) ++last;
    while (run < of_runs.size() && of_runs[run].first < wanted) ++run;
    std::size_t run_end = run;
    while (run_end < of_runs.size() && of_runs[run_end].first == wanted) ++run_end;
    const std::size_t both = std::min(last - first, run_end - run);
    const std::size_t from_record = is_head_lost ? last - both : first;
    const std::size_t from_run = is_head_lost ? run_end - both : run;
    for (std::size_t i = 0; i < both; ++i)
      runs[of_runs[from_run + i].second].counters = of_records[from_record + i].second;
    left += last - first - both;
    first = last;
    run = run_end;
  }
  return left;
}

void read_log(const ImportContext& context, std::optional<cann::RecordStream>& stream,
              RunPairing& pairing, LogCounts& counts) {
  if (!stream) return;
  std::optional<unsigned> last;
  stream->open(context, [&](const cann::StreamRecord& record) {
    const auto wire = cann::decode<cann::HwtsWire>(record.bytes);
    const unsigned tag = wire.cnt_tag & 0x7U;
    const unsigned counter = wire.cnt_tag >> 4U;
    if (last) counts.lost += (counter - *last - 1) & 0xF;
    last = counter;
    ++counts.records;
    if (tag == 0) {
      pairing.start(wire.stream_id, wire.task_id, wire.syscnt);
    } else if (tag == 1) {
      pairing.end(wire.stream_id, wire.task_id, wire.syscnt);
    } else {
      ++counts.others;
    }
  });
}

// Reads the states of a 310, in file order. On other chips, states have another meaning.
void read_states(const std::vector<cann::TaskState>& states, RunPairing& pairing) {
  enum : std::uint16_t { kWaiting = 1, kRunning = 2, kComplete = 3, kPending = 4 };
  for (const cann::TaskState& state : states) {
    const std::uint16_t task = state.task_number;
    if (state.state == kWaiting) pairing.waiting(state.stream, task, state.ticks);
    if (state.state == kPending) pairing.pending(state.stream, task, state.ticks);
    if (state.state == kRunning) pairing.start(state.stream, task, state.ticks, state.task_type);
    if (state.state == kComplete) pairing.end(state.stream, task, state.ticks);
  }
}

// The collector of a 910 may have deleted the first slices of a file.
bool is_head_lost(const cann::CannImport& import, const CannPart& part, std::string_view stem) {
  std::optional<std::int64_t> lowest;
  for (const RawFile& file : import.session.raw_files()) {
    const auto& name = import.session.parsed_name(file);
    if (name.stem != stem || import.session.find_part(file).name != part.name) continue;
    if (!lowest || name.slice < *lowest) lowest = name.slice;
  }
  return lowest.value_or(0) > 0;
}

void take_runs(RunPairing& pairing, bool is_vector, DeviceRuns& all) {
  std::deque<OldTaskRun> runs = pairing.take();
  all.counts.repeated_starts += pairing.repeated_starts();
  all.counts.ends_without_start += pairing.ends_without_start();
  all.counts.starts_without_end += pairing.starts_without_end();
  for (OldTaskRun& run : runs) run.is_vector = is_vector;
  if (all.runs.empty()) {
    all.runs = std::move(runs);
  } else {
    all.runs.insert(all.runs.end(), runs.begin(), runs.end());
  }
}

void report_runs(const ImportContext& context, const std::string& part, const LogCounts& counts,
                 std::uint64_t left_counters) {
  const auto report_finding = [&](FindingId id, const char* kind, std::uint64_t count,
                                  const char* reason, const char* detail) {
    if (count == 0) return;
    context.report.add(id, kind, part, reason, detail, static_cast<std::int64_t>(count));
  };
  report_finding(FindingId::orphan_counters, "tasks", left_counters, "counters without a task", "");
  report_finding(FindingId::records_missing, "hwts", counts.lost,
                 "records missing according to their sequence counter",
                 "the counter has 4 bits: this is a minimum");
  report_finding(FindingId::half_task, "tasks", counts.starts_without_end, "start without end",
                 "These tasks are omitted.");
  report_finding(FindingId::half_task, "tasks", counts.ends_without_start, "end without start",
                 "These tasks are omitted.");
  report_finding(FindingId::repeated_start, "tasks", counts.repeated_starts, "repeated start",
                 "The later one is used.");
}

}  // namespace

DeviceRuns read_runs(const ImportContext& context, cann::CannImport& import, const CannPart& part) {
  cann::DeviceInputs& inputs = import.devices[*part.device];
  const auto& chip = import.session.chip();
  DeviceRuns all;
  for (const bool is_vector : {false, true}) {
    RunPairing pairing;
    read_log(context, is_vector ? inputs.hwts_vector : inputs.hwts, pairing, all.counts);
    if (!is_vector && chip && chip->family == cann::ChipFamily::mini)
      read_states(inputs.ts_track.states, pairing);
    take_runs(pairing, is_vector, all);
  }
  std::uint64_t left = 0;
  for (const bool is_vector : {false, true}) {
    std::vector<Keyed> of_records;
    const auto add = [&](const cann::AicoreRecord& record) {
      of_records.emplace_back(task_key(record.stream, record.task_number), all.counters.size());
      all.counters.add(record.values);
    };
    if (auto& stream = is_vector ? inputs.aicore_vector : inputs.aicore)
      stream->open(context, [&](const cann::StreamRecord& record) {
        add(cann::read_aicore_record(record));
      });
    if (!is_vector) {
      for (const cann::AicoreRecord& record : inputs.event_counts) add(record);
      inputs.event_counts = {};
    }
    const char* stem = is_vector ? "aiVectorCore.data" : "aicore.data";
    left +=
        give_counters(all.runs, is_vector, std::move(of_records), is_head_lost(import, part, stem));
  }
  report_runs(context, part.name, all.counts, left);
  return all;
}

OldTask make_task(const OldTaskRun& run, const CannPart& part, TraceDbWriter& store, bool is_310) {
  const ClockMap& clock = *part.clock;
  OldTask task;
  const std::string_view type = is_310          ? cann::runtime_task_type_name(run.type)
                                : run.is_vector ? std::string_view("AI_VECTOR_CORE")
                                                : std::string_view("AI_CORE");
  if (!type.empty()) task.device_type_name_id = store.name_id(type);
  if (run.is_vector) task.kind = OpKind::vector_core;
  if (is_310) task.kind = run.type < 2 ? static_cast<OpKind>(run.type) : OpKind::other;
  task.is_vector = run.is_vector;
  task.stream = run.stream;
  task.task = run.task;
  task.counters = run.counters;
  task.start_ns = clock.ns(run.start_ticks);
  task.end_ns = clock.ns(run.end_ticks);
  const auto between = [&](std::uint64_t from, std::uint64_t to) {
    return to >= from ? clock.duration_ns(to - from) : 0;
  };
  task.duration_ns = between(run.start_ticks, run.end_ticks);
  if (run.waiting_ticks != 0) task.waiting_ns = between(run.waiting_ticks, run.start_ticks);
  if (run.pending_ticks != 0) task.pending_ns = between(run.pending_ticks, run.end_ticks);
  return task;
}

void TaskRows::write(std::int64_t device, std::vector<OldTask>& tasks, const CounterTable& counters,
                     std::int64_t frequency_mhz, bool has_blocks) {
  if (tasks.empty()) return;
  std::vector<std::uint32_t> order(tasks.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
  const auto key = [&](std::uint32_t place) {
    const OldTask& task = tasks[place];
    return std::tuple(task.start_ns, task.stream, task.task, place);
  };
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
  const std::int64_t first_id = next_task_id;
  for (const std::uint32_t place : order) {
    const OldTask& task = tasks[place];
    TaskRow row;
    row.id = next_task_id++;
    row.op_id = task.op_id;
    row.start_ns = task.start_ns;
    // Limits the end for damaged times.
    row.duration_ns = std::min(task.duration_ns, saturating_subtract(INT64_MAX, task.start_ns));
    row.device_id = device;
    row.stream_id = task.stream;
    row.task_number = task.task;
    row.batch = task.batch;
    row.host_type_name_id = task.host_type_name_id;
    row.device_type_name_id = task.device_type_name_id;
    row.kernel_name_id = task.kernel_name_id;
    row.model_number = task.model_number;
    store.add(row);
    if (task.waiting_ns != kNull || task.pending_ns != kNull)
      store.add(TaskWaitRow{row.id, task.waiting_ns, task.pending_ns});
    if (task.comm_call_id != kNull) store.add(CommTaskRow{row.id, task.comm_call_id});
    if (task.counters == OldTaskRun::kNoCounters) continue;
    const CoreCounters values = counters.at(task.counters);
    TaskPmuRow pmu;
    pmu.task_id = row.id;
    pmu.c[PmuCells::kFrequency] = frequency_mhz;
    pmu.c[task.is_vector ? PmuCells::kAivCycles : PmuCells::kAicCycles] =
        cann::cell(values.total_cycles);
    for (std::size_t slot = 0; slot < PmuCells::kSlots; ++slot)
      pmu.c[PmuCells::slot(task.is_vector, slot)] = cann::cell(values.counters[slot]);
    pmu.c[PmuCells::kCoreKind] =
        static_cast<std::int64_t>(task.is_vector ? CoreKind::aiv : CoreKind::aic);
    if (has_blocks && values.block_num > 0) pmu.c[PmuCells::kBlockNum] = values.block_num;
    store.add(pmu);
  }
  store.add(TaskRunRow{next_run_id++, kNull, first_id, next_task_id - 1, device});
}

}  // namespace msprof::old
