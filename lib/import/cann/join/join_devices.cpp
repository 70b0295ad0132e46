// Second pass over the records of each device, in order of time: writes tasks with operators and
// counters, then the rows of the devices. The records were found and counted by DeviceFirstPass.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "derive/pmu_metrics.hpp"
#include "import/cann/cann_import.hpp"
#include "import/cann/join/device_first_pass.hpp"
#include "import/cann/join/device_sources.hpp"
#include "import/cann/join/device_tasks.hpp"
#include "import/cann/join/fusion_parts.hpp"
#include "import/cann/join/join.hpp"

namespace msprof::cann {

namespace {

// Starts and ends of tasks in order of time, from a record stream or from states.
class LogSource {
 public:
  // Reads the next log; returns false at the end.
  using Read = std::function<bool(DeviceLog& log)>;
  explicit LogSource(Read read) : read_(std::move(read)) { next(); }

  const DeviceLog* peek() const { return has_log_ ? &log_ : nullptr; }
  void next() { has_log_ = read_(log_); }

 private:
  Read read_;
  DeviceLog log_;
  bool has_log_ = false;
};

RecordStream* to_pointer(std::optional<RecordStream>& stream) {
  return stream ? &*stream : nullptr;
}

std::size_t pmu_slots(const Chip& chip) {
  return chip.family == ChipFamily::stars_v6 ? kPmuSlots : PmuCells::kSlots;
}

class DeviceJoin {
 public:
  DeviceJoin(CannImport& import, const ImportContext& context, const CannPart& part,
             DeviceInputs& inputs, DeviceFirstPass& first_pass, HostTaskStore& hosts,
             std::int64_t first_task_id)
      : import_(import),
        context_(context),
        part_(part),
        inputs_(inputs),
        chip_(*import.session.chip()),
        decoder_(import),
        types_(context.store, chip_.family),
        states_(first_pass.states()),
        aicpu_names_(inputs.aicpu_nodes),
        counters_(inputs.event_counts.empty()
                      ? CounterQueue(to_pointer(inputs.aicore), read_aicore_record)
                      : CounterQueue(inputs.event_counts),
                  {to_pointer(inputs.aicore_vector), read_aicore_record}),
        counts_(first_pass.counts()),
        tasks_(settings(), context.store, hosts, first_task_id),
        fusion_(context.store, import.fusion_parts, *part.device, *part.clock,
                [this](std::uint32_t task) { return tasks_.find_stream(task); }) {}

  // Returns the id for the next task.
  std::int64_t run() {
    find_aicpu_streams();
    state_logs_ = states_.sort_logs(types_);
    for (std::size_t i = 0; i < state_logs_; ++i) counts_.count(states_.log(i, types_));
    tasks_.begin(std::move(counts_));
    read_records();
    report(tasks_.finish());
    report_fusion();
    return tasks_.next_id();
  }

 private:
  DeviceSettings settings() {
    DeviceSettings settings;
    settings.device = static_cast<std::uint16_t>(*part_.device);
    settings.clock = &*part_.clock;
    settings.has_batches = import_.session.has_batch_ids();
    settings.has_unique_ids = import_.session.has_unique_task_ids();
    settings.pmu_slots = pmu_slots(chip_);
    settings.frequency_mhz = (part_.info.aic_frequency_hz + 500'000) / 1'000'000;
    if (!inputs_.frequencies.empty()) settings.frequencies = &inputs_.frequencies;
    settings.ops = import_.host.ops.get();
    if (!inputs_.aicpu_nodes.empty()) settings.aicpu_names = &aicpu_names_;
    if (inputs_.aicore || inputs_.aicore_vector || !inputs_.event_counts.empty())
      settings.ordered_pmu = &counters_;
    if (chip_.family == ChipFamily::mini) settings.waits = &states_;
    return settings;
  }

  // With unique task ids, AI CPU records have no stream.
  void find_aicpu_streams() {
    if (!decoder_.is_v6()) return;
    for (AicpuNodeRow& node : inputs_.aicpu_nodes)
      node.stream_id = tasks_.find_stream(static_cast<std::uint32_t>(node.task_number));
    aicpu_names_.sort();
  }

  bool next_stars(DeviceLog& log) {
    while (const StreamRecord* record = inputs_.stars_soc->peek()) {
      log = decoder_.log(*record);
      inputs_.stars_soc->next();
      if (log.what == DeviceLog::What::fusion) fusion_.add(log);
      if (log.what != DeviceLog::What::task) continue;
      if (decoder_.is_v6() && log.type == kSqeCcuV6 && log.is_start)
        inputs_.ccu_streams[log.task_number] = tasks_.find_stream(log.task_number);
      log.type_name_id = log.is_sub_task ? types_.sub_task(log.type) : types_.sqe(log.type);
      return true;
    }
    return false;
  }

  bool next_hwts(RecordStream& stream, DeviceLog& log) {
    while (const StreamRecord* record = stream.peek()) {
      log = read_hwts_log(*record);
      stream.next();
      if (log.what != DeviceLog::What::task) continue;
      log.type_name_id = types_.sqe(log.type);
      return true;
    }
    return false;
  }

  bool next_state(DeviceLog& log) {
    if (next_state_ == state_logs_) return false;
    log = states_.log(next_state_++, types_);
    return true;
  }

  std::vector<LogSource> log_sources() {
    std::vector<LogSource> sources;
    if (inputs_.stars_soc) sources.emplace_back([this](DeviceLog& log) { return next_stars(log); });
    for (auto* hwts : {&inputs_.hwts, &inputs_.hwts_vector}) {
      if (*hwts)
        sources.emplace_back([this, hwts](DeviceLog& log) { return next_hwts(**hwts, log); });
    }
    if (state_logs_ > 0) sources.emplace_back([this](DeviceLog& log) { return next_state(log); });
    return sources;
  }

  // Pushes logs before counters of the same time, as DeviceTasks requires.
  void read_records() {
    std::vector<LogSource> sources = log_sources();
    RecordStream* const ffts = to_pointer(inputs_.ffts_profile);
    for (;;) {
      LogSource* earliest = nullptr;
      for (LogSource& source : sources) {
        if (source.peek() == nullptr) continue;
        if (earliest == nullptr || source.peek()->place.ticks < earliest->peek()->place.ticks)
          earliest = &source;
      }
      const StreamRecord* counters = ffts != nullptr ? ffts->peek() : nullptr;
      if (counters != nullptr &&
          (earliest == nullptr || counters->time < earliest->peek()->place.ticks)) {
        tasks_.push(decoder_.counters(*counters));
        ffts->next();
      } else if (earliest != nullptr) {
        tasks_.push(*earliest->peek());
        earliest->next();
      } else {
        return;
      }
    }
  }

  void report_finding(FindingId id, std::string_view kind, std::uint64_t count, std::string reason,
                      std::string detail = "") {
    if (count == 0) return;
    context_.report.add(id, kind, part_.name, std::move(reason), std::move(detail),
                        static_cast<std::int64_t>(count));
  }

  void report_fusion() {
    report_finding(FindingId::half_task, "stars_soc", fusion_.finish(),
                   "subtask without its start or end", "It is omitted.");
  }

  void report(const DeviceTaskCounts& counts) {
    constexpr std::string_view kKind = "tasks";
    // If the oldest records were deleted, unpaired records are reported as part of that loss.
    const bool is_whole = !import_.session.lacks_oldest();
    report_finding(FindingId::half_task, kKind, counts.starts_without_end, "start without end",
                   "These tasks are omitted.");
    report_finding(FindingId::half_task, kKind, is_whole ? counts.ends_without_start : 0,
                   "end without start", "These tasks are omitted.");
    report_finding(FindingId::repeated_start, kKind, counts.repeated_starts, "repeated start",
                   "It is counted once.");
    report_finding(FindingId::half_task, kKind, states_.incomplete(),
                   "state without its counterpart");
    report_finding(FindingId::unread_records, kKind, states_.unknown_states(),
                   "unknown state, not read");
    report_finding(FindingId::orphan_counters, kKind,
                   is_whole ? counts.counters_without_task + counters_.left() : 0,
                   "counters without a task");
    report_finding(FindingId::orphan_counters, kKind, counts.blocks_without_task,
                   "counters of blocks without a task");
    report_finding(FindingId::unknown_task_type, kKind, counts.unknown_types,
                   "task type without a name", "These tasks are not exported.");
    report_finding(FindingId::unseen_tasks, kKind, is_whole ? counts.hosts_without_task : 0,
                   "launched, but not recorded on the device");
    report_finding(FindingId::ambiguous_tasks, kKind, counts.tasks_of_several_hosts,
                   "several host records for one task",
                   "These tasks have no operator: the matching record is ambiguous.");
  }

  CannImport& import_;
  const ImportContext& context_;
  const CannPart& part_;
  DeviceInputs& inputs_;
  const Chip& chip_;
  DeviceDecoder decoder_;
  DeviceTypes types_;
  StateTasks& states_;
  AicpuNames aicpu_names_;
  OrderedCounters counters_;
  std::size_t state_logs_ = 0;  // starts and ends from states
  std::size_t next_state_ = 0;
  DeviceCounts& counts_;
  DeviceTasks tasks_;
  FusionParts fusion_;
};

void write_aicpu_nodes(const ImportContext& context, std::vector<AicpuNodeRow> nodes,
                       std::int64_t& next_id) {
  std::stable_sort(nodes.begin(), nodes.end(), [](const AicpuNodeRow& a, const AicpuNodeRow& b) {
    return a.vendor_start_ns < b.vendor_start_ns;
  });
  for (AicpuNodeRow& node : nodes) {
    node.id = next_id++;
    context.store.add(node);
  }
}

std::int64_t or_null(std::int64_t value) {
  return value > 0 ? value : kNull;
}

std::int64_t name_or_null(TraceDbWriter& store, std::string_view text) {
  return text.empty() ? kNull : store.name_id(text);
}

DeviceRow device_row(const CannSession& session, const CannPart& part, TraceDbWriter& store) {
  const Info& info = part.info;
  DeviceRow row;
  row.id = *part.device;
  if (info.platform) {
    row.platform = *info.platform;
    if (const auto chip = find_chip(*info.platform))
      row.chip_name_id = store.name_id(session.is_of_host_runtime() ? kHostRuntime : chip->name);
  }
  row.frequency_hz = or_null(info.aic_frequency_hz);
  row.core_count = or_null(info.ai_core_num);
  row.vector_core_count = or_null(info.aiv_num);
  row.vector_frequency_hz = or_null(info.aiv_frequency_hz);
  row.is_task_based = info.is_task_based ? 1 : 0;
  row.core_metrics_name_id = name_or_null(store, info.aic_metrics);
  row.vector_core_metrics_name_id = name_or_null(store, info.aiv_metrics);
  row.tick_frequency_hz = or_null(info.hwts_frequency_hz);
  return row;
}

}  // namespace

// Writes the names of the columns of task_pmu (pmu_row).
void write_pmu_columns(const CannImport& import, const ImportContext& context) {
  const CannPart* part = nullptr;
  for (const CannPart& candidate : import.session.parts()) {
    const bool says = !candidate.info.aic_events.empty() || !candidate.info.aiv_events.empty();
    if (!candidate.is_host() && (part == nullptr || (says && part->info.aic_events.empty() &&
                                                     part->info.aiv_events.empty())))
      part = &candidate;
  }
  if (part == nullptr) return;
  const auto add = [&](std::size_t column, std::string_view name) {
    context.store.add(PmuColumnRow{static_cast<std::int64_t>(column), context.store.name_id(name)});
  };
  const auto& chip = import.session.chip();
  const std::size_t slots = chip ? pmu_slots(*chip) : PmuCells::kSlots;
  const auto add_side = [&](bool is_vector, const std::vector<std::uint32_t>& events) {
    const std::string_view side = is_vector ? "aiv" : "aic";
    add(is_vector ? PmuCells::kAivCycles : PmuCells::kAicCycles,
        fmt::format("{}_total_cycles", side));
    for (std::size_t slot = 0; slot < std::min(events.size(), slots); ++slot)
      add(PmuCells::slot(is_vector, slot), fmt::format("{}_{:#x}", side, events[slot]));
  };
  add(PmuCells::kFrequency, "frequency_mhz");
  add_side(false, part->info.aic_events);
  add_side(true, part->info.aiv_events);
  add(PmuCells::kCoreKind, "core_kind");
  if (chip && chip->family == ChipFamily::stars_v6) {
    add(PmuCells::kAicTime, "aic_time_ns");
    add(PmuCells::kAivTime, "aiv_time_ns");
  }
  if (chip && chip->family == ChipFamily::mini) add(PmuCells::kBlockNum, "block_num");
}

// For a metric set without formulas for this chip, only cycles and core times can be shown.
void report_unknown_sets(const CannImport& import, const ImportContext& context,
                         const CannPart& part, const DeviceInputs& inputs) {
  const bool has_counters =
      inputs.ffts_profile || inputs.aicore || inputs.aicore_vector || !inputs.event_counts.empty();
  if (!has_counters) return;
  std::set<std::string_view> sets{part.info.aic_metrics, part.info.aiv_metrics};
  for (const std::string_view set : sets) {
    if (set.empty() || !pmu_set(set, import.session.chip()->platform).empty()) continue;
    context.report.add(FindingId::unread_records, "pmu", part.name,
                       fmt::format("metrics of {}, not read", printable(set)),
                       "The formulas for this chip are unknown.");
  }
}

void write_devices(const CannImport& import, const ImportContext& context) {
  const CannSession& session = import.session;
  TraceDbWriter& store = context.store;
  for (const CannPart& part : session.parts()) {
    if (!part.is_host()) store.add(device_row(session, part, store));
  }
  const Info& info = session.info();
  if (session.is_of_host_runtime()) context.report.set_unit_loads(UnitLoads::modelled);
  store.set_meta("time_stamp", session.time_stamp());
  store.set_meta("chip", session.chip() ? session.chip()->name : "");
  store.set_meta("window.begin_ns", std::to_string(session.begin_ns()));
  store.set_meta("window.end_ns", std::to_string(session.end_ns()));
  store.set_meta("window.has_end", session.has_end() ? "1" : "0");
  store.set_meta("host.pid", std::to_string(info.pid));
  store.set_meta("host.pid_name", info.pid_name);
  store.set_meta("host.hostname", info.host_name);
  store.set_meta("host.uid", info.host_uid);
  store.set_meta("host.rank", std::to_string(info.rank_id));
  store.set_meta("host.frequency_hz", std::to_string(info.host_frequency_hz));
}

DeviceFirstPasses begin_devices(CannImport& import) {
  DeviceFirstPasses passes;
  for (const CannPart& part : import.session.parts()) {
    if (part.is_host() || !part.clock || !import.session.chip()) continue;
    passes.emplace(*part.device,
                   std::make_unique<DeviceFirstPass>(import, part, import.devices[*part.device]));
  }
  return passes;
}

void join_devices(CannImport& import, const ImportContext& context, HostTaskStore& tasks,
                  DeviceFirstPasses passes) {
  write_pmu_columns(import, context);
  std::int64_t next_task_id = 1;
  std::int64_t next_run_id = 1;
  std::int64_t next_node_id = 1;
  for (const CannPart& part : import.session.parts()) {
    if (part.is_host()) continue;
    DeviceInputs& inputs = import.devices[*part.device];
    if (const auto pass = passes.find(*part.device); pass != passes.end()) {
      const std::int64_t first_id = next_task_id;
      report_unknown_sets(import, context, part, inputs);
      pass->second->finish(context);
      next_task_id =
          DeviceJoin(import, context, part, inputs, *pass->second, tasks, first_id).run();
      passes.erase(pass);
      if (next_task_id > first_id)
        context.store.add(
            TaskRunRow{next_run_id++, kNull, first_id, next_task_id - 1, part.device.value()});
    } else {
      context.report.add(FindingId::no_tasks, "tasks", part.name, "not read",
                         part.clock ? "The chip is unknown."
                                    : "Without the clock of the device, tasks have no times.");
    }
    // Frees the records; they are not used again.
    write_aicpu_nodes(context, std::exchange(inputs.aicpu_nodes, {}), next_node_id);
  }
}

}  // namespace msprof::cann
