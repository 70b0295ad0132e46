// The form of CANN 5 for current captures: its processes, names, arguments and units. Source:
// cann_device.md 24; steps, collectives and arguments of tasks are those of timelines written by
// its tools.
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/number.hpp"
#include "derive/pmu_metrics.hpp"
#include "export/old/registry.hpp"
#include "export/old/trace.hpp"
#include "export/scope/scoped_rows.hpp"
#include "export/summary/cann_tables.hpp"
#include "export/timeline/cann_forms.hpp"

namespace msprof {

namespace {

using old::AiStackThread;

// CANN 5 numbers its processes in this order.
constexpr auto process_number(std::int64_t number) {
  return static_cast<cann::TraceProcess>(number);
}
constexpr auto kRangesProcess = process_number(0);
constexpr auto kStepsProcess = process_number(1);

// Where the calls of a level are drawn.
struct LevelProcess {
  cann::TraceProcess number;
  std::string_view name;
  std::string_view prefix;  // of names in thread_group
  std::optional<AiStackThread> stack_thread{};
};

LevelProcess find_process(std::int64_t level) {
  switch (level) {
    case call_level::kAcl:
      return {process_number(2), "AscendCL", "ACL@", AiStackThread::acl};
    case call_level::kModel:
      return {process_number(4), "GE", "GE@", AiStackThread::ge};
    case call_level::kNode:
      return {process_number(5), "GeOPExecute", "GE_OP_EXECUTE@", AiStackThread::ge};
    case call_level::kRuntime:
      return {process_number(6), "Runtime", "Runtime@", AiStackThread::runtime};
    case call_level::kCommunication:
      return {process_number(3), "Communication", "Communication@"};
    default:
      return {process_number(3), "Communication", "Api@"};
  }
}

// Calls with one process per level, or only those of one level.
class LevelCalls : public cann::CallForm {
 public:
  explicit LevelCalls(std::int64_t only_level) : only_level_(only_level) {}

  bool draws(std::int64_t level) const override {
    return only_level_ == kNull || level == only_level_;
  }
  void describe(const cann::TraceProcesses& processes, cann::Texts& texts,
                const cann::CallKind& kind, cann::CallText& text) const override {
    const std::string name = texts(kind.name);
    text.name = name;
    text.lane.pid = processes.pid(find_process(kind.level).number, cann::kHostDevice);
    if (kind.level == call_level::kAcl) {
      text.arguments.add("Mode", texts(kind.type));
      text.arguments.add("Process Id", processes.host_pid());
      text.arguments.add("Thread Id", text.lane.tid);
    } else if (kind.level == call_level::kModel && kind.item != kNull) {
      text.arguments.add("Model Id", texts(kind.item));
    } else {
      text.arguments.add("Thread Id", text.lane.tid);
    }
    if (kind.level == call_level::kNode && kind.item != kNull)
      text.name = texts(kind.item) + "_" + name;
  }
  void write_metadata(TraceWriter& out, const cann::TraceProcesses& processes,
                      const cann::CallThreads& drawn) const override {
    for (const auto& [level, threads] : drawn) {
      const LevelProcess process = find_process(level);
      processes.write(out, process.number, cann::kHostDevice, process.name, "Thread", threads);
    }
  }

 private:
  std::int64_t only_level_;
};

// thread_group: all calls of a thread on one track.
class ThreadGroupCalls : public cann::CallForm {
 public:
  void describe(const cann::TraceProcesses&, cann::Texts& texts, const cann::CallKind& kind,
                cann::CallText& text) const override {
    text.name = std::string(find_process(kind.level).prefix) + texts(kind.name);
    text.arguments.add("Mode", texts(kind.type));
  }
};

void write_stack_arguments(TraceWriter& out, const ExportScope& scope, std::int64_t start_ns,
                           std::int64_t duration_ns) {
  if (const auto iteration = scope.only_iteration()) out.argument("Iter ID", *iteration);
  out.argument_time("Start Time", start_ns);
  out.argument_time("End Time", saturating_add(start_ns, duration_ns));
  out.argument("Duration Time(ns)", duration_ns);
}

// ai_stack_time.
class StackCalls : public cann::CallForm {
 public:
  bool draws(std::int64_t level) const override {
    return find_process(level).stack_thread.has_value();
  }
  void describe(const cann::TraceProcesses&, cann::Texts& texts, const cann::CallKind& kind,
                cann::CallText& text) const override {
    text.name = texts(kind.name);
    text.lane.tid = static_cast<std::int64_t>(*find_process(kind.level).stack_thread);
  }
  void write_arguments(TraceWriter& out, cann::Texts&, const ExportScope& scope,
                       const ApiCallRow& call, std::int64_t duration_ns) const override {
    write_stack_arguments(out, scope, call.start_ns, duration_ns);
  }
  void write_metadata(TraceWriter& out, const cann::TraceProcesses& processes,
                      const cann::CallThreads& drawn) const override {
    std::set<std::int64_t> all;
    for (const auto& [level, threads] : drawn) all.insert(threads.begin(), threads.end());
    if (all.empty()) return;
    processes.write(out, cann::TraceProcess::calls, cann::kHostDevice, old::kAiStackProcess);
    const std::int64_t pid = processes.pid(cann::TraceProcess::calls, cann::kHostDevice);
    for (const std::int64_t thread : all) {
      out.thread({pid, thread}, old::ai_stack_thread_name(static_cast<AiStackThread>(thread)),
                 thread);
    }
  }
};

template <typename Form, auto... kArguments>
std::unique_ptr<TimelineLayer> make_calls() {
  static const Form form(kArguments...);
  return cann::make_calls(form);
}

// Ends with Aicore Time and Total Cycle. The label says ms but the number is in us, which readers
// of that label expect.
class Cann5TaskArguments : public cann::TaskArguments {
 public:
  explicit Cann5TaskArguments(const Database& db)
      : metrics_(db),
        values_(metrics_.columns().size()),
        counters_(db),
        of_op_(
            db.prepare("SELECT block_num, mix_block_num, unit.text IN ('AI_CPU', 'DSA_SQE', 'DVPP')"
                       " FROM op LEFT JOIN name AS unit ON unit.id = op.unit_name_id"
                       " WHERE op.id = ?")) {
    // Chips with two kinds of cores have both columns twice.
    for (const auto& [time, cycles] : {std::pair("aicore_time(us)", "total_cycles"),
                                       {"aicore_time(us)", "aic_total_cycles"},
                                       {"aiv_time(us)", "aiv_total_cycles"}}) {
      const auto at = [&](std::string_view name) {
        const auto& all = metrics_.columns();
        const auto found = std::find_if(all.begin(), all.end(),
                                        [&](const PmuColumn& one) { return one.name == name; });
        return static_cast<std::size_t>(found - all.begin());
      };
      if (at(cycles) < values_.size() && at(time) < values_.size()) {
        sides_.emplace_back(at(time), at(cycles));
      }
    }
  }

  void write(TraceWriter& out, const TaskRow& task, TraceText type) override {
    out.argument("Task Type", type);
    out.argument("Stream Id", task.stream_id);
    out.argument("Task Id", task.task_number);
    out.argument("Batch Id", task.batch);
    write_core_time(out, task);
  }

 private:
  void write_core_time(TraceWriter& out, const TaskRow& task) {
    const std::int64_t* counters = sides_.empty() ? nullptr : counters_.find(task.id);
    if (counters == nullptr) return write_missing(out);
    PmuTask load{.counters = counters, .duration_ns = task.duration_ns};
    if (task.op_id != kNull) {
      of_op_.reset();
      of_op_.bind(1, task.op_id);
      if (of_op_.step()) {
        // A task that never runs on the cores has no values, even if counters were recorded during
        // it.
        if (of_op_.integer(2) != 0) return write_missing(out);
        load.block_num = of_op_.integer(0);
        load.mix_block_num = of_op_.integer(1);
      }
    }
    metrics_.evaluate(task.device_id, load, values_);
    // The kind of core with more cycles.
    const auto side = *std::max_element(sides_.begin(), sides_.end(), [&](auto a, auto b) {
      return values_[a.second] < values_[b.second];
    });
    const double us = values_[side.first];
    const double cycles = values_[side.second];
    if (!std::isfinite(us) || !std::isfinite(cycles)) return write_missing(out);
    out.argument_number(kTime, std::round(us * 1000) / 1000);
    out.argument(kCycles, std::llround(std::clamp(cycles, 0.0, 9e18)));
  }

  static constexpr TraceText kTime = "Aicore Time(ms)";
  static constexpr TraceText kCycles = "Total Cycle";
  static void write_missing(TraceWriter& out) {
    out.argument(kTime, "N/A");
    out.argument(kCycles, "N/A");
  }

  PmuMetrics metrics_;
  std::vector<double> values_;
  cann::TaskCounterCursor counters_;
  Statement of_op_;
  std::vector<std::pair<std::size_t, std::size_t>> sides_;  // columns of time and cycles, per kind
                                                            // of core
};

class StackTaskArguments : public cann::TaskArguments {
 public:
  explicit StackTaskArguments(const ExportScope& scope) : scope_(scope) {}
  void write(TraceWriter& out, const TaskRow& task, TraceText) override {
    write_stack_arguments(out, scope_, task.start_ns, task.duration_ns);
  }

 private:
  const ExportScope& scope_;
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann5_step_trace() {
  return cann::make_step_trace(cann::MissingPoints::empty);
}
std::unique_ptr<SummaryTable> make_cann5_msprof_tx() {
  return cann::make_msprof_tx(false);
}

std::unique_ptr<TimelineLayer> make_cann5_calls() {
  return make_calls<LevelCalls, kNull>();
}
std::unique_ptr<TimelineLayer> make_cann5_acl_calls() {
  return make_calls<LevelCalls, call_level::kAcl>();
}
std::unique_ptr<TimelineLayer> make_cann5_ge_calls() {
  return make_calls<LevelCalls, call_level::kModel>();
}
std::unique_ptr<TimelineLayer> make_cann5_ge_op_calls() {
  return make_calls<LevelCalls, call_level::kNode>();
}
std::unique_ptr<TimelineLayer> make_cann5_runtime_calls() {
  return make_calls<LevelCalls, call_level::kRuntime>();
}
std::unique_ptr<TimelineLayer> make_cann5_thread_group() {
  return make_calls<ThreadGroupCalls>();
}
std::unique_ptr<TimelineLayer> make_cann5_stack_calls() {
  return make_calls<StackCalls>();
}
std::unique_ptr<TimelineLayer> make_cann5_stack_tasks() {
  return cann::make_hardware({.process_name = old::kAiStackProcess,
                              .make_arguments = [](const Database&, const ExportScope& scope)
                                  -> std::unique_ptr<cann::TaskArguments> {
                                return std::make_unique<StackTaskArguments>(scope);
                              },
                              .thread_name = old::ai_stack_thread_name(AiStackThread::tasks),
                              .thread = static_cast<std::int64_t>(AiStackThread::tasks)});
}
std::unique_ptr<TimelineLayer> make_cann5_tasks() {
  return cann::make_hardware({.process_name = "Task Scheduler",
                              .make_arguments = [](const Database& db, const ExportScope&)
                                  -> std::unique_ptr<cann::TaskArguments> {
                                return std::make_unique<Cann5TaskArguments>(db);
                              }});
}
std::unique_ptr<TimelineLayer> make_cann5_steps() {
  return cann::make_steps({.process = kStepsProcess,
                           .process_name = "Step Trace",
                           .has_layer_names = false,
                           .has_us = false,
                           .has_time_texts = true,
                           .has_arrows_from_end = true,
                           .counts_per_iteration = true});
}
std::unique_ptr<TimelineLayer> make_cann5_communication() {
  return cann::make_communication({.process_name = "HCCL",
                                   .op_thread_name = "Communication Kernel",
                                   .first_op_thread = 70000,
                                   .has_new_arguments = false});
}
std::unique_ptr<TimelineLayer> make_cann5_user_ranges() {
  return cann::make_user_ranges(
      {.process = kRangesProcess, .process_name = "MsprofTx", .has_device_marks = false});
}

}  // namespace msprof
