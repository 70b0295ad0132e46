#include "import/cann5/old_tasks.hpp"

#include <algorithm>
#include <tuple>

#include "base/number.hpp"
#include "import/cann/cann_import.hpp"
#include "import/cann/join/device_tasks.hpp"

namespace msprof::cann5 {

RunPairing::Open& RunPairing::open_of(std::uint32_t stream, std::uint16_t task) {
  Open& open = open_[key_of(stream, task)];
  open.run.stream = stream;
  open.run.task = task;
  return open;
}

void RunPairing::start(std::uint32_t stream, std::uint16_t task, std::uint64_t ticks,
                       std::uint16_t type) {
  Open& open = open_of(stream, task);
  if (open.has_start) ++repeated_starts_;
  open.run.start_ticks = ticks;
  open.run.type = type;
  open.has_start = true;
}

void RunPairing::end(std::uint32_t stream, std::uint16_t task, std::uint64_t ticks) {
  const auto found = open_.find(key_of(stream, task));
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
  Open& open = open_of(stream, task);
  if (!open.has_start) open.run.waiting_ticks = ticks;
}

void RunPairing::pending(std::uint32_t stream, std::uint16_t task, std::uint64_t ticks) {
  Open& open = open_of(stream, task);
  if (!open.has_start) open.run.pending_ticks = ticks;
}

std::vector<Run> RunPairing::take() {
  starts_without_end_ = static_cast<std::uint64_t>(std::count_if(
      open_.begin(), open_.end(), [](const auto& open) { return open.second.has_start; }));
  open_.clear();
  return std::move(runs_);
}

std::uint64_t give_counters(std::vector<Run>& runs, const std::vector<cann::AicoreRecord>& records,
                            bool is_head_lost) {
  // Places by stream and task, each group in its order.
  const auto key = [](const auto& one, std::uint16_t task) {
    return std::uint64_t{one.stream} << 16 | task;
  };
  std::vector<std::pair<std::uint64_t, std::uint32_t>> of_records;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> of_runs;
  for (std::size_t i = 0; i < records.size(); ++i)
    of_records.emplace_back(key(records[i], records[i].task_number), static_cast<std::uint32_t>(i));
  for (std::size_t i = 0; i < runs.size(); ++i)
    of_runs.emplace_back(key(runs[i], runs[i].task), static_cast<std::uint32_t>(i));
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

HwtsCounts read_hwts(const ImportContext& context, std::optional<cann::RecordStream>& stream,
                     RunPairing& pairing) {
  HwtsCounts counts;
  if (!stream) return counts;
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
  return counts;
}

void read_states(const std::vector<cann::TaskState>& states, bool is_310, RunPairing& pairing) {
  enum : std::uint16_t { kWaiting = 1, kRunning = 2, kComplete = 3, kPending = 4 };
  if (!is_310) return;
  for (const cann::TaskState& state : states) {
    const std::uint16_t task = state.task_number;
    if (state.state == kWaiting) pairing.waiting(state.stream, task, state.ticks);
    if (state.state == kPending) pairing.pending(state.stream, task, state.ticks);
    if (state.state == kRunning) pairing.start(state.stream, task, state.ticks, state.task_type);
    if (state.state == kComplete) pairing.end(state.stream, task, state.ticks);
  }
}

namespace {

// The collector of a 910 may have aged the first slices of a file away.
bool is_head_lost(const cann::CannImport& import, const CannPart& part, std::string_view stem) {
  std::optional<std::int64_t> lowest;
  for (const RawFile& file : import.session.raw_files()) {
    const auto& name = import.session.name_of(file);
    if (name.stem != stem || import.session.part_of(file).name != part.name) continue;
    if (!lowest || name.slice < *lowest) lowest = name.slice;
  }
  return lowest.value_or(0) > 0;
}

}  // namespace

std::vector<cann::AicoreRecord> read_counters(const ImportContext& context,
                                              cann::CannImport& import, const CannPart& part,
                                              std::vector<Run>& runs) {
  cann::DeviceInputs& inputs = import.devices[*part.device];
  std::vector<cann::AicoreRecord> counters;
  if (inputs.aicore) {
    inputs.aicore->open(context, [&](const cann::StreamRecord& record) {
      counters.push_back(cann::read_aicore_record(record));
    });
  }
  counters.insert(counters.end(), inputs.event_counts.begin(), inputs.event_counts.end());
  const std::uint64_t left =
      give_counters(runs, counters, is_head_lost(import, part, "aicore.data"));
  if (left > 0)
    context.report.add(FindingId::orphan_counters, "tasks", part.name, "counters of no task", "",
                       static_cast<std::int64_t>(left));
  return counters;
}

void report_runs(const ImportContext& context, const std::string& part, const RunPairing& pairing,
                 const HwtsCounts& counts) {
  const auto tell = [&](FindingId id, const char* kind, std::uint64_t count, const char* reason,
                        const char* detail) {
    if (count == 0) return;
    context.report.add(id, kind, part, reason, detail, static_cast<std::int64_t>(count));
  };
  tell(FindingId::records_missing, "hwts", counts.lost, "records missing by their counter",
       "the counter has 4 bits: at least this many");
  tell(FindingId::half_task, "tasks", pairing.starts_without_end(), "start without end",
       "These tasks are left out.");
  tell(FindingId::half_task, "tasks", pairing.ends_without_start(), "end without start",
       "These tasks are left out.");
  tell(FindingId::repeated_start, "tasks", pairing.repeated_starts(), "repeated start",
       "The later one counts.");
}

OldTask task_of(const Run& run, const ClockMap& clock) {
  OldTask task;
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

void TaskRows::write(std::int64_t device, std::vector<OldTask>& tasks,
                     const std::vector<cann::AicoreRecord>& records, std::int64_t frequency_mhz,
                     bool has_blocks) {
  if (tasks.empty()) return;
  std::stable_sort(tasks.begin(), tasks.end(), [](const OldTask& a, const OldTask& b) {
    return std::tie(a.start_ns, a.stream, a.task) < std::tie(b.start_ns, b.stream, b.task);
  });
  const std::int64_t first_id = next_task_id;
  for (const OldTask& task : tasks) {
    TaskRow row;
    row.id = next_task_id++;
    row.op_id = task.op_id;
    row.start_ns = task.start_ns;
    // Times of nonsense: none ends behind the end of time.
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
    if (task.counters == Run::kNoCounters) continue;
    const CoreCounters& values = records[task.counters].values;
    TaskPmuRow pmu;
    pmu.task_id = row.id;
    pmu.c[PmuCells::kFrequency] = frequency_mhz;
    pmu.c[PmuCells::kAicCycles] = cann::cell(values.total_cycles);
    for (std::size_t slot = 0; slot < PmuCells::kSlots; ++slot)
      pmu.c[PmuCells::slot(false, slot)] = cann::cell(values.counters[slot]);
    pmu.c[PmuCells::kCoreKind] = static_cast<std::int64_t>(CoreKind::aic);
    if (has_blocks && values.block_num > 0) pmu.c[PmuCells::kBlockNum] = values.block_num;
    store.add(pmu);
  }
  store.add(TaskRunRow{next_run_id++, kNull, first_id, next_task_id - 1, device});
}

}  // namespace msprof::cann5
