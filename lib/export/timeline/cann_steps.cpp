// Layer step_trace: iterations of models, with forward and backward pass. Sources:
// cann_device.md 13 (durations), 20.2.
#include <map>
#include <set>
#include <string>

#include "base/number.hpp"
#include "export/products.hpp"
#include "export/scope/cann_rules.hpp"
#include "export/timeline/cann_forms.hpp"
#include "export/timeline/cann_trace.hpp"

namespace msprof {

namespace {

// By device, model, iteration; those without a model last.
constexpr const char* kOrder = " ORDER BY i.device_id, i.model_number NULLS LAST, i.number, i.id";

enum StepCell : int {
  kStepDevice,
  kStepModel,
  kStepNumber,
  kStepStart,
  kStepForward,
  kStepBackward,
  kStepEnd,
  kStepDuration,
  kStepPass,
  kStepRefresh,
  kStepAug
};

std::string numbered(std::string_view text, std::int64_t number) {
  return std::string(text) + std::to_string(number);
}

class StepLayerWriter {
 public:
  StepLayerWriter(const Database& db, const OutputFile& output_file, const cann::StepForm& form,
                  TraceWriter& out)
      : db_(db), scope_(output_file.scope), form_(form), processes_(db), out_(out) {}

  void write() {
    Statement read = db_.prepare(
        std::string("SELECT i.device_id, i.model_number, i.number, i.start_ns, i.fp_start_ns,"
                    " i.bp_end_ns, i.end_ns, i.duration_ns, i.fp_bp_ns, i.refresh_ns, i.data_aug_ns"
                    " FROM iteration AS i") +
        kOrder);
    while (read.step()) {
      if (is_taken(read, read.integer(kStepStart), read.integer(kStepEnd))) write_iteration(read);
    }
    write_parts();
    write_metadata();
  }

 private:
  bool is_taken(const Statement& row, std::int64_t start, std::int64_t end) const {
    return scope_.takes(row.integer(kStepDevice), start, end) &&
           scope_.takes_model(row.maybe_integer(kStepModel));
  }

  // Returns the thread of the row's model. Thread ids are signed 32-bit numbers
  // (cann_device.md 20.2).
  TraceLane lane(const Statement& row) {
    constexpr std::uint32_t kFirstThread = 70000;
    const std::int64_t model = row.maybe_integer(kStepModel).value_or(kInvalidId);
    const auto thread = static_cast<std::int32_t>(static_cast<std::uint32_t>(model) + kFirstThread);
    models_[row.integer(kStepDevice)][thread] = model;
    return {processes_.pid(form_.process, row.integer(kStepDevice)), thread};
  }

  // Starts a slice of an iteration; returns false if it is too short to be drawn.
  bool begin(std::string_view name, std::int64_t number, TraceLane where, std::int64_t start,
             std::int64_t duration, TraceText category) {
    return out_.begin_slice(numbered(name, number), where, start, duration, category);
  }
  void time(TraceText key, const Statement& row, int column) {
    row.is_null(column) ? out_.argument(key, "N/A") : out_.argument_time(key, row.integer(column));
  }

  void length(std::string_view name, std::int64_t ns) {
    const std::string key = std::string(name) + (form_.has_us ? "(us)" : "(ns)");
    form_.has_us ? out_.argument_us(key, ns) : out_.argument(key, ns);
  }

  void write_iteration(const Statement& row) {
    const TraceLane where = lane(row);
    const std::int64_t number = row.integer(kStepNumber);
    const std::int64_t duration = row.integer(kStepDuration);
    if (begin("Iteration ", number, where, row.integer(kStepStart), duration, "Iteration Time")) {
      out_.argument("Iteration ID", number);
      time("FP Start", row, kStepForward);
      time("BP End", row, kStepBackward);
      time("Iteration End", row, kStepEnd);
      length("Iteration Time", duration);
      out_.end_event();
    }
    if (!row.is_null(kStepForward) && !row.is_null(kStepBackward)) write_passes(row, where, number);
  }

  void write_passes(const Statement& row, TraceLane where, std::int64_t number) {
    if (begin("FP_BP Time ", number, where, row.integer(kStepForward), row.integer(kStepPass),
              "FP_BP Time")) {
      out_.argument("Iteration ID", number);
      time("FP Start", row, kStepForward);
      time("BP End", row, kStepBackward);
      length("FP_BP Time", row.integer(kStepPass));
      out_.end_event();
    }
    if (begin("Iteration Refresh ", number, where, row.integer(kStepBackward),
              row.integer(kStepRefresh), "Iteration Refresh")) {
      out_.argument("Iteration ID", number);
      time("BP End", row, kStepBackward);
      time("Iteration End", row, kStepEnd);
      length("Iteration Refresh", row.integer(kStepRefresh));
      out_.end_event();
    }
    // Arrows start only at drawn iterations.
    if (!out_.draws(row.integer(kStepDuration))) return;
    form_.has_arrows_from_end ? write_data_aug_from_end(row, where, number)
                              : write_data_aug(row, where, number);
  }

  // Draws an arrow from each iteration to the next one of its model; 'f' ends the previous arrow
  // before the next one starts. Arrows start in the middle of the refresh slice; the vendor's tool
  // uses BP End + data aug / 2, which is not a meaningful time.
  void write_data_aug(const Statement& row, TraceLane where, std::int64_t number) {
    begin_data_aug_end('f', row, where, number);
    out_.argument("Iteration ID", number);
    out_.end_event();
    const std::int64_t aug = row.integer(kStepAug);
    begin_data_aug(where, number,
                   saturating_add(row.integer(kStepBackward), row.integer(kStepRefresh) / 2));
    out_.argument_us("Data_aug Bound(us)", aug);
    out_.end_event();
  }

  // Draws an arrow from the end of an iteration to the forward start of the next, with the time
  // between as argument. Ends without a start are left out.
  void write_data_aug_from_end(const Statement& row, TraceLane where, std::int64_t number) {
    if (find_begun_before(where, number) != nullptr) {
      begin_data_aug_end('t', row, where, number);
      out_.argument_us("Data_aug Bound(us)", row.integer(kStepAug));
      out_.end_event();
    }
    begin_data_aug(where, number, row.integer(kStepEnd));
    out_.argument("Iteration ID", number);
    out_.end_event();
  }

  // An arrow between iterations. Viewers keep it only if its id is a unique number.
  struct Arrow {
    std::int64_t number = 0;  // the iteration where it starts
    std::uint64_t id = 0;
  };

  // Returns the arrow to iteration `number` of a track; null if none was started.
  const Arrow* find_begun_before(TraceLane where, std::int64_t number) const {
    const auto last = last_arrows_.find({where.pid, where.tid});
    const bool is_before =
        last != last_arrows_.end() && last->second.number == saturating_subtract(number, 1);
    return is_before ? &last->second : nullptr;
  }
  void begin_data_aug(TraceLane where, std::int64_t number, std::int64_t time_ns) {
    const Arrow arrow{number, ++arrows_};
    last_arrows_[{where.pid, where.tid}] = arrow;
    begin_arrow('s', arrow, where, time_ns);
  }
  void begin_data_aug_end(char phase, const Statement& row, TraceLane where, std::int64_t number) {
    const Arrow* begun = find_begun_before(where, number);
    const Arrow arrow =
        begun != nullptr ? *begun : Arrow{saturating_subtract(number, 1), ++arrows_};
    begin_arrow(phase, arrow, where, row.integer(kStepForward));
  }
  void begin_arrow(char phase, const Arrow& arrow, TraceLane where, std::int64_t time_ns) {
    out_.begin_arrow(phase, {numbered("Data_aug Bound ", arrow.number), "Data_aug Bound", arrow.id},
                     where, time_ns);
  }

  void write_parts() {
    enum PartColumn : int { kPartStart = 3, kPartEnd, kIsGetNext, kIteration };
    Statement read = db_.prepare(
        std::string("SELECT i.device_id, i.model_number, i.number, part.start_ns, part.end_ns,"
                    " part.is_get_next, i.id FROM iteration_part AS part"
                    " JOIN iteration AS i ON i.id = part.iteration_id") +
        kOrder + ", part.start_ns, part.id");
    std::int64_t reduces = 0;
    std::int64_t iteration = kNull;
    while (read.step()) {
      if (form_.counts_per_iteration && read.integer(kIteration) != iteration) reduces = 0;
      iteration = read.integer(kIteration);
      const std::int64_t start = read.integer(kPartStart);
      const std::int64_t end = read.integer(kPartEnd);
      const bool is_reduce = read.integer(kIsGetNext) == 0;
      if (is_reduce) ++reduces;
      if (!is_taken(read, start, end) || !out_.draws(saturating_subtract(end, start))) continue;
      if (is_reduce) {
        write_reduce(read, start, end, reduces - 1);
      } else {
        write_get_next(read, start, end);
      }
    }
  }

  void write_reduce(const Statement& row, std::int64_t start, std::int64_t end, std::int64_t k) {
    const std::int64_t number = row.integer(kStepNumber);
    if (!begin("Reduce_" + std::to_string(number) + "_", k, lane(row), start,
               saturating_subtract(end, start), "Reduce")) {
      return;
    }
    out_.argument("Iteration ID", number);
    if (form_.has_time_texts) {
      out_.argument_time(numbered("Reduce Start ", k), start);
      out_.argument_time(numbered("Reduce End ", k), end);
    } else {
      out_.argument(numbered("Reduce End ", k), std::to_string(end));
      out_.argument(numbered("Reduce Start ", k), std::to_string(start));
    }
    out_.end_event();
  }

  void write_get_next(const Statement& row, std::int64_t start, std::int64_t end) {
    const std::int64_t duration = saturating_subtract(end, start);
    if (!out_.begin_slice("GetNext", lane(row), start, duration, "GetNext Time")) return;
    out_.argument_time("GetNext Start", start);
    out_.argument_time("GetNext End", end);
    out_.argument_us("GetNext Time(us)", duration);
    out_.end_event();
  }

  void write_metadata() {
    for (const auto& [device, threads] : models_) {
      processes_.write(out_, form_.process, device, form_.process_name);
      const std::int64_t pid = processes_.pid(form_.process, device);
      for (const auto& [thread, model] : threads) {
        const std::string name = "Model ID:" + std::to_string(model);
        out_.thread({pid, thread}, form_.has_layer_names ? "Step Trace(" + name + ")" : name,
                    thread);
      }
    }
  }

  const Database& db_;
  const ExportScope& scope_;
  const cann::StepForm& form_;
  cann::TraceProcesses processes_;
  TraceWriter& out_;
  std::map<std::int64_t, std::map<std::int64_t, std::int64_t>> models_;  // by device and thread
  std::uint64_t arrows_ = 0;
  std::map<std::pair<std::int64_t, std::int64_t>, Arrow> last_arrows_;  // by track
};

class CannSteps : public cann::CannLayer {
 public:
  explicit CannSteps(const cann::StepForm& form)
      : CannLayer({.name = "step_trace",
                   .help = "iterations of models, with forward and backward pass",
                   .exists = "SELECT 1 FROM iteration",
                   .needs = {"ts_track"},
                   .own_document = "step_trace"}),
        form_(form) {}

  void write(const Database& db, const OutputFile& output_file, TraceWriter& out) const override {
    StepLayerWriter(db, output_file, form_, out).write();
  }

 private:
  cann::StepForm form_;
};

}  // namespace

std::unique_ptr<TimelineLayer> make_cann_steps() {
  return cann::make_steps({});
}

std::unique_ptr<TimelineLayer> cann::make_steps(const StepForm& form) {
  return std::make_unique<CannSteps>(form);
}

}  // namespace msprof
