// Device timelines for captures of CANN 5 and older: step_trace, task_time. Source:
// cann5_classic.md 10.
#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "derive/pmu_metrics.hpp"
#include "export/old/trace.hpp"

namespace msprof {

namespace {

using old::OldProcess;

// Converts a device time to us of the host's monotonic clock.
std::string device_us(const old::OldTimes& times, std::int64_t device, std::int64_t wall_ns) {
  return times.device_ns(device, wall_ns).digits(6, 1000);
}

// Draws the steps of models: one process per model; for each iteration a thread for itself, one for
// its phases and one for its reduces.
class Steps {
 public:
  Steps(const Database& db, const OutputFile& file, TraceWriter& out)
      : db_(db),
        file_(file),
        scope_(file.scope),
        out_(out),
        times_(db),
        reduces_(db,
                 " AND is_framework_step = 0 AND iteration.end_ns IS NOT NULL"
                 " AND part.start_ns IS NOT NULL AND part.end_ns IS NOT NULL"
                 " ORDER BY ifnull(model_number, 0), device_id, iteration.number, iteration.id,"
                 " part.start_ns, part.id") {}

  void write() {
    Statement read = db_.prepare(
        "SELECT id, device_id, number, start_ns, fp_start_ns, bp_end_ns, end_ns, model_number"
        " FROM iteration WHERE is_framework_step = 0 AND end_ns IS NOT NULL"
        " ORDER BY ifnull(model_number, 0), device_id, number, id");
    while (read.step()) {
      const auto model = read.maybe_integer(7);
      if (!scope_.takes_device(read.integer(1)) ||
          !scope_.takes_iteration(model, read.integer(2))) {
        reduces_.skip(read.integer(0));
        continue;
      }
      Step step{read.integer(0),       read.integer(1),       read.integer(2),
                read.maybe_integer(3), read.maybe_integer(4), read.maybe_integer(5),
                read.integer(6)};
      if (model != model_ || !process_) begin_model(model);
      write_step(step);
    }
  }

 private:
  struct Step {
    std::int64_t id = 0;
    std::int64_t device = 0;
    std::int64_t number = 0;
    std::optional<std::int64_t> start, forward, backward;
    std::int64_t end = 0;
  };

  void begin_model(std::optional<std::int64_t> model) {
    model_ = model;
    // Each model gets a separate number; the tools of that time used the first model's number for
    // all.
    process_.emplace(out_, file_, 1, old::host_process(db_) + models_++,
                     model ? fmt::format("Model ID:{}", *model) : "Model ID:N/A");
    row_ = 0;
    previous_.reset();
  }

  void write_step(const Step& step) {
    const TraceLane whole = process_->thread(row_, fmt::format("Iteration {}", step.number));
    const TraceLane phases = process_->thread(row_ + 1, " ");
    const TraceLane reduces = process_->thread(row_ + 2, " ");
    row_ += 3;
    if (step.start) {
      slice("Iteration Time", step, whole, *step.start, step.end, [&] {
        moment("FP Start", step.device, step.forward);
        moment("BP End", step.device, step.backward);
        moment("Iteration End", step.device, step.end);
      });
    }
    if (step.forward && step.backward) {
      slice("FP_BP Time", step, phases, *step.forward, *step.backward, [&] {
        moment("FP Start", step.device, step.forward);
        moment("BP End", step.device, step.backward);
      });
    }
    if (step.backward) {
      slice("Grad_refresh Bound", step, phases, *step.backward, step.end, [&] {
        moment("BP End", step.device, step.backward);
        moment("Iteration End", step.device, step.end);
      });
    }
    write_arrow(step, phases);
    write_reduces(step, reduces);
    previous_ = Previous{step, whole};
  }

  // Draws an arrow from the end of an iteration to the forward start of the next, which waits for
  // its data.
  void write_arrow(const Step& step, TraceLane phases) {
    if (!previous_ || !step.forward) return;
    const std::string name = fmt::format("Data_aug Bound {}", previous_->step.number);
    const TraceArrow arrow{name, "Data_aug Bound", ++arrows_};
    out_.begin_arrow('s', arrow, previous_->lane, previous_->step.end);
    out_.argument("Iteration ID", previous_->step.number);
    out_.end_event();
    out_.begin_arrow('t', arrow, phases, *step.forward);
    const std::int64_t ticks =
        times_.ticks(step.device, *step.forward) - times_.ticks(step.device, previous_->step.end);
    out_.argument_digits("Data_aug Bound(us)", times_.ticks_to_us(step.device, ticks));
    out_.end_event();
  }

  void write_reduces(const Step& step, TraceLane lane) {
    int count = 0;
    reduces_.for_each(step.id, [&](auto start, auto end) {
      const int i = count++;
      const std::int64_t start_ns = start.value_or(0);
      const std::int64_t end_ns = end.value_or(0);
      const std::string name = fmt::format("Reduce_{}_{}", step.number, i);
      if (!out_.begin_slice(name, lane, start_ns, saturating_subtract(end_ns, start_ns), "Reduce"))
        return;
      out_.argument("Iteration ID", step.number);
      moment(fmt::format("Reduce Start {}", i), step.device, start_ns);
      moment(fmt::format("Reduce End {}", i), step.device, end_ns);
      out_.end_event();
    });
  }

  // Writes the slice "<what> 3" with the given times and its duration.
  template <typename Moments>
  void slice(std::string_view what, const Step& step, TraceLane lane, std::int64_t start_ns,
             std::int64_t end_ns, Moments&& moments) {
    const std::string name = fmt::format("{} {}", what, step.number);
    if (!out_.begin_slice(name, lane, start_ns, saturating_subtract(end_ns, start_ns), what))
      return;
    out_.argument("Iteration ID", step.number);
    moments();
    const std::string key = fmt::format("{}(ns)", what);
    const old::Exact start = times_.device_ns(step.device, start_ns);
    const old::Exact end = times_.device_ns(step.device, end_ns);
    out_.argument_digits(key,
                         old::Exact{end.numerator - start.numerator, start.denominator}.digits(2));
    out_.end_event();
  }

  void moment(TraceText name, std::int64_t device, std::optional<std::int64_t> ns) {
    ns ? out_.argument_digits(name, device_us(times_, device, *ns)) : out_.argument(name, "N/A");
  }

  struct Previous {
    Step step;
    TraceLane lane;
  };

  const Database& db_;
  const OutputFile& file_;
  ScopeFilter scope_;
  TraceWriter& out_;
  old::OldTimes times_;
  cann::Reduces reduces_;
  std::optional<std::int64_t> model_;
  std::optional<OldProcess> process_;
  std::int64_t models_ = 0;
  std::int64_t row_ = 0;
  std::optional<Previous> previous_;
  std::uint64_t arrows_ = 0;
};

void draw_steps(const Database& db, const OutputFile& file, TraceWriter& out) {
  Steps(db, file, out).write();
}

// Draws the scheduler's tasks (one thread per stream), the AI CPUs and the reduces.
class Tasks {
 public:
  Tasks(const Database& db, const OutputFile& file, TraceWriter& out)
      : db_(db),
        file_(file),
        out_(out),
        times_(db),
        texts_(db),
        metrics_(db),
        values_(metrics_.columns().size()),
        counters_(db),
        op_(db.prepare("SELECT unit_name_id, block_num FROM op WHERE id = ?")) {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (metrics_.columns()[i].name == "aicore_time(us)") time_ = i;
      if (metrics_.columns()[i].name == "total_cycles") cycles_ = i;
    }
  }

  void write() {
    write_scheduled();
    write_cpus();
    write_reduces();
  }

 private:
  static constexpr std::int64_t kLayer = 7;

  void write_scheduled() {
    OldProcess process(out_, file_, kLayer, 0, "Task Scheduler");
    const old::SchedulerTasks scheduler(db_);
    cann::TaskCursor tasks(
        db_, file_.scope,
        {&TaskRow::id, &TaskRow::device_id, &TaskRow::stream_id, &TaskRow::task_number,
         &TaskRow::op_id, &TaskRow::device_type_name_id, &TaskRow::kernel_name_id},
        {}, cann::TaskWindow::any);
    while (tasks.next()) {
      const TaskRow& task = *tasks;
      if (!scheduler.has(task) || !out_.draws(task.duration_ns)) continue;
      const TraceLane lane =
          process.thread(task.stream_id, fmt::format("Stream {}", task.stream_id));
      const bool is_copy = scheduler.is_copy(task);
      const auto name = given(task.kernel_name_id);
      const TraceText text = is_copy ? TraceText("MemcopyAsync") : old::find_text(texts_, name);
      if (!out_.begin_slice(text, lane, task.start_ns, task.duration_ns)) continue;
      write_arguments(task, is_copy);
      out_.end_event();
      if (file_.key != old::kWholeTimeline) continue;
      const std::string id = fmt::format("{}-{}", task.stream_id, task.task_number);
      out_.arrow('f', {"connect", "connect", 0, id}, lane, task.start_ns);
    }
  }

  void write_arguments(const TaskRow& task, bool is_copy) {
    TraceText unit = is_copy ? TraceText("other") : TraceText("AI_CORE");
    std::int64_t blocks = 0;
    op_.reset();
    op_.bind(1, task.op_id);
    if (task.op_id != kNull && op_.step()) {
      if (const auto id = op_.maybe_integer(0)) unit = old::find_text(texts_, id);
      blocks = op_.maybe_integer(1).value_or(0);
    }
    out_.argument("Task Type", unit);
    out_.argument("Stream Id", task.stream_id);
    out_.argument("Task Id", task.task_number);
    if (is_copy) {
      const std::int64_t end_ns = saturating_add(task.start_ns, task.duration_ns);
      out_.argument_digits("Start Time", device_us(times_, task.device_id, task.start_ns));
      out_.argument_digits("End Time", device_us(times_, task.device_id, end_ns));
    }
    const std::int64_t* counters = counters_.find(task.id);
    if (is_copy) return;
    if (counters != nullptr)
      metrics_.evaluate(task.device_id, {counters, blocks, 0, task.duration_ns}, values_);
    const auto write = [&](TraceText key, std::optional<std::size_t> place, double parts,
                           int decimals) {
      if (!place) return;
      if (counters == nullptr || std::isnan(values_[*place])) return out_.argument(key, "N/A");
      out_.argument_digits(key, fmt::format("{:.{}f}", values_[*place] / parts, decimals));
    };
    write("Aicore Time(ms)", time_, 1000, 6);
    write("Total Cycle", cycles_, 1, 0);
  }

  void write_cpus() {
    OldProcess process(out_, file_, kLayer, 1, "AI CPU");
    Statement read = db_.prepare(
        "SELECT device_id, start_ns, end_ns, op_name_id, compute_us, memcpy_us, dispatch_us,"
        " total_ns FROM aicpu_node WHERE start_ns IS NOT NULL AND end_ns IS NOT NULL ORDER BY id");
    while (read.step()) {
      const std::int64_t device = read.integer(0);
      const std::int64_t start_ns = read.integer(1);
      const std::int64_t end_ns = read.integer(2);
      const std::int64_t duration_ns = saturating_subtract(end_ns, start_ns);
      if (!file_.scope.takes(device, start_ns, end_ns) || !out_.draws(duration_ns)) continue;
      const auto name = read.maybe_integer(3);
      if (!out_.begin_slice(old::find_text(texts_, name), process.unnamed(0), start_ns,
                            duration_ns))
        continue;
      const auto us = [&](TraceText key, std::optional<std::int64_t> value) {
        if (value) out_.argument(key, *value);
      };
      out_.argument("Task Type", "AI_CPU");
      us("Compute Time(us)", read.maybe_integer(4));
      us("Memcpy Time(us)", read.maybe_integer(5));
      const std::int64_t ticks = times_.ticks(device, end_ns) - times_.ticks(device, start_ns);
      out_.argument_digits("Task Time(us)", times_.ticks_to_us(device, ticks));
      us("Dispatch Time(us)", read.maybe_integer(6));
      if (const auto total = read.maybe_integer(7))
        out_.argument_digits("Total Time(us)", cann::trimmed3(*total, 1000));
      out_.end_event();
    }
  }

  void write_reduces() {
    OldProcess process(out_, file_, kLayer, 2, "All Reduce");
    const ScopeFilter scope(file_.scope);
    Statement read = db_.prepare(
        "SELECT iteration.id, device_id, model_number, iteration.number, part.start_ns,"
        " part.end_ns FROM iteration_part AS part JOIN iteration ON iteration.id = iteration_id"
        " WHERE is_get_next = 0 AND part.start_ns IS NOT NULL AND part.end_ns IS NOT NULL"
        " ORDER BY iteration.id, part.start_ns, part.id");
    std::int64_t iteration = kNull;
    int number = 0;
    while (read.step()) {
      if (read.integer(0) != iteration) number = 0;
      iteration = read.integer(0);
      const std::string name = fmt::format("AR {}", number++);
      const std::int64_t device = read.integer(1);
      const std::int64_t start_ns = read.integer(4);
      const std::int64_t duration_ns = saturating_subtract(read.integer(5), start_ns);
      if (!scope.takes_device(device) || !out_.draws(duration_ns) ||
          !scope.takes_iteration(read.maybe_integer(2), read.integer(3)))
        continue;
      if (!out_.begin_slice(name, process.unnamed(0), start_ns, duration_ns)) continue;
      const std::int64_t ticks =
          times_.ticks(device, read.integer(5)) - times_.ticks(device, start_ns);
      out_.argument_digits("Reduce Duration(us)", times_.ticks_to_us(device, ticks));
      out_.end_event();
    }
  }

  const Database& db_;
  const OutputFile& file_;
  TraceWriter& out_;
  old::OldTimes times_;
  cann::Texts texts_;
  PmuMetrics metrics_;
  std::vector<double> values_;
  cann::TaskCounterCursor counters_;
  Statement op_;
  std::optional<std::size_t> time_, cycles_;  // indexes into the metrics
};

void draw_tasks(const Database& db, const OutputFile& file, TraceWriter& out) {
  Tasks(db, file, out).write();
}

}  // namespace

std::unique_ptr<TimelineLayer> make_old_steps() {
  return old::make_layer("SELECT 1 FROM iteration", draw_steps);
}
std::unique_ptr<TimelineLayer> make_old_tasks() {
  return old::make_layer("SELECT 1 FROM task WHERE device_type_name_id IS NOT NULL", draw_tasks);
}

}  // namespace msprof
