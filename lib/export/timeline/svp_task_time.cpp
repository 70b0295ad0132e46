// task_time: the layer executions of a model, the NPU cores and the CPU operators a lane each;
// where executions run at the same time, as those of several threads do, each has lanes of its own.
// One file a model and batch: its captures follow each other on the same clock.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/log.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "export/json_text.hpp"
#include "export/products.hpp"
#include "export/summary/svp_tables.hpp"
#include "export/timeline/svp_arrows.hpp"
#include "store/layout_origin.hpp"

namespace msprof {

namespace {

using svp::Capture;

struct Lane {
  std::string_view name;
  JsonText task_type;
};
constexpr std::array<Lane, 2> kLanes = {{{"AA CORE", {"\"AA CORE\""}}, {"AA CPU", {"\"AA CPU\""}}}};

// The captures of a model with the same batch share a file; `key` of the document is the batch.
constexpr const char* kFrom =
    " FROM step JOIN task_run AS run ON run.step_id = step.id"
    " CROSS JOIN task ON task.id BETWEEN run.first_task_id AND run.last_task_id"
    " WHERE step.model_row = ? AND step.batch_num = ?";
constexpr const char* kHasTime = " AND task.start_ns IS NOT NULL AND task.duration_ns IS NOT NULL";

struct Op {
  std::string name;  // as JSON
  std::size_t lane = 0;
};

std::vector<Op> ops_of(const Database& db, std::int64_t model_row) {
  std::vector<Op> ops;  // by op.id
  constexpr std::size_t kMaxOps = 1 << 24;
  Statement read = db.prepare(
      "SELECT op.id, layer.text, unit.text = 'AA_CPU' FROM op JOIN name AS layer ON layer.id = "
      "op.name_id"
      " JOIN name AS unit ON unit.id = op.unit_name_id WHERE op.model_row = ? ORDER BY op.id");
  read.bind(1, model_row);
  while (read.step()) {
    const auto id = static_cast<std::size_t>(read.integer(0));
    if (id < ops.size() || id >= kMaxOps) throw db.damaged("operators out of order");
    ops.resize(id + 1);
    ops[id] = {json_string(read.text(1)), read.integer(2) == 0 ? std::size_t{0} : std::size_t{1}};
  }
  return ops;
}

// Executions of a device that run at the same time: each has a turn, 0 for all if one follows
// the other. Turns are those of the device, of all its models, because viewers lay the files of a
// folder over each other. The records do not name threads, so that a turn is no thread.
class Turns {
 public:
  Turns(const Database& db, std::int64_t device) {
    Statement read = db.prepare(
        "SELECT run.step_id, task.execution, min(task.start_ns) AS begin_ns,"
        " max(task.start_ns + task.duration_ns) FROM model JOIN step ON step.model_row = model.id"
        " JOIN task_run AS run ON run.step_id = step.id"
        " CROSS JOIN task ON task.id BETWEEN run.first_task_id AND run.last_task_id"
        " WHERE model.device_id = ? AND task.start_ns IS NOT NULL AND task.duration_ns IS NOT NULL"
        " GROUP BY run.step_id, task.execution ORDER BY begin_ns, run.step_id, task.execution");
    read.bind(1, device);
    std::vector<std::int64_t> ends;  // of the last execution of each turn
    while (read.step()) {
      const std::int64_t begin = read.integer(2);
      const auto free =
          std::find_if(ends.begin(), ends.end(), [&](std::int64_t end) { return end <= begin; });
      const auto turn = static_cast<std::size_t>(free - ends.begin());
      if (turn >= kMaxLanes) continue;
      if (free == ends.end()) ends.push_back(0);
      ends[turn] = read.integer(3);
      if (turn > 0) later_[{read.integer(0), read.integer(1)}] = turn;
    }
  }

  std::size_t of(std::int64_t step_id, std::int64_t execution) const {
    const auto at = later_.find({step_id, execution});
    return at == later_.end() ? 0 : at->second;
  }

  static constexpr std::size_t kMaxLanes = 256;  // beyond that the records are damaged

 private:
  std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> later_;  // all but those of turn 0
};

// The lanes of one unit. What the executions do not explain (records without the number of their
// execution, damaged times) goes to the first lane where it lies beside or within the slices.
class UnitLanes {
 public:
  // Slices come in the order of their begin, of equal ones the longest first.
  std::size_t lane(std::size_t wanted, std::int64_t begin, std::int64_t end) {
    if (takes(wanted, begin, end)) return wanted;
    for (std::size_t lane = 0; lane < Turns::kMaxLanes; ++lane) {
      if (takes(lane, begin, end)) return lane;
    }
    return wanted;
  }

 private:
  bool takes(std::size_t lane, std::int64_t begin, std::int64_t end) {
    if (lane >= open_.size()) open_.resize(lane + 1);
    auto& open = open_[lane];
    while (!open.empty() && open.back() <= begin) open.pop_back();
    if (!open.empty() && open.back() < end) return false;
    open.push_back(end);
    return true;
  }

  std::vector<std::vector<std::int64_t>> open_;  // ends of the slices that still run, by lane
};

class SvpTaskTime : public TimelineLayer {
 public:
  SvpTaskTime()
      : TimelineLayer({.name = "task_time",
                       .help = "layer executions on the NPU cores and CPU operators",
                       .needs = {"aicore|aicpu", true},
                       .dialect = Dialect::svp}) {}

  std::vector<OutputFile> output_files(const Database& db) const override {
    std::vector<OutputFile> output_files;
    std::set<std::pair<std::int64_t, std::int64_t>> seen;  // model row, batch
    for (const Capture& capture : svp::captures_with_tasks(db)) {
      if (!seen.insert({capture.model.row, capture.batch_num}).second) continue;
      if (!has_event(db, capture.model.row, capture.batch_num)) continue;
      output_files.push_back(
          {fmt::format("task_time_{}.{}", svp::model_stem(capture.model), capture.batch_num), kNull,
           capture.model.row, capture.batch_num});
    }
    return output_files;
  }

  void write(const Database& db, const OutputFile& output_file,
             TraceJsonWriter& out) const override {
    const std::int64_t device = device_of(db, output_file.model_row);
    if (!output_file.scope.takes_device(device)) return;
    const auto ops = ops_of(db, output_file.model_row);
    const Turns turns(db, device);
    std::array<UnitLanes, kLanes.size()> units;
    std::set<std::int64_t> threads;
    std::optional<svp::ExecutionArrows> arrows;
    if (output_file.is_merged && output_file.has_arrows)
      arrows.emplace(db, output_file.model_row, output_file.scope);
    const bool is_inferred = layout_origin_of(db) == LayoutOrigin::inferred;
    Statement read = db.prepare(
        std::string("SELECT task.op_id, task.start_ns, task.duration_ns, step.id, task.execution") +
        kFrom + kHasTime + " ORDER BY task.start_ns, task.duration_ns DESC, task.id");
    read.bind(1, output_file.model_row).bind(2, output_file.key);
    for (std::int64_t task_id = 0; read.step(); ++task_id) {
      const auto op_id = static_cast<std::size_t>(read.integer(0));
      if (op_id >= ops.size()) throw db.damaged("a task of an operator that is not there");
      const Op& op = ops[op_id];
      const std::int64_t start = read.integer(1);
      const std::int64_t duration = read.integer(2);
      const std::size_t turn = units[op.lane].lane(turns.of(read.integer(3), read.integer(4)),
                                                   start, saturating_add(start, duration));
      if (!output_file.scope.takes(device, start, saturating_add(start, duration))) continue;
      if (!out.draws(duration)) continue;
      const auto thread = static_cast<std::int64_t>(turn * kLanes.size() + op.lane);
      if (threads.empty()) {
        out.process_name(device, fmt::format("AA Core device {}", device));
        if (is_inferred) out.process_label(device, kInferredLabel);
      }
      if (threads.insert(thread).second) out.thread_name(device, thread, lane_name(op.lane, turn));
      if (!out.begin_complete({op.name}, device, thread, start, duration)) continue;
      out.argument({"\"Task Type\""}, kLanes[op.lane].task_type);
      out.argument({"\"Stream Id\""}, 0);
      out.argument({"\"Task Id\""}, task_id);
      out.end_complete();
      if (arrows) arrows->write_end(out, read.integer(3), read.integer(4), {device, thread}, start);
    }
    warn_of_missing(db, output_file);
  }

 private:
  static bool has_event(const Database& db, std::int64_t model_row, std::int64_t batch_num) {
    Statement read = db.prepare(std::string("SELECT 1") + kFrom + kHasTime + " LIMIT 1");
    read.bind(1, model_row).bind(2, batch_num);
    return read.step();
  }

  static std::int64_t device_of(const Database& db, std::int64_t model_row) {
    Statement read = db.prepare("SELECT device_id FROM model WHERE id = ?");
    read.bind(1, model_row);
    return read.step() ? read.integer(0) : 0;
  }

  static std::string lane_name(std::size_t lane, std::size_t turn) {
    if (turn == 0) return std::string(kLanes[lane].name);
    return fmt::format("{}, parallel {}", kLanes[lane].name, turn + 1);
  }

  // An event needs a start and a duration; tasks of a device without a frequency have none.
  static void warn_of_missing(const Database& db, const OutputFile& output_file) {
    Statement read = db.prepare(std::string("SELECT count(*)") + kFrom +
                                " AND (task.start_ns IS NULL OR task.duration_ns IS NULL)");
    read.bind(1, output_file.model_row).bind(2, output_file.key);
    if (read.step() && read.integer(0) > 0) {
      log::warn("{}: {} layer executions have no start or duration (no frequency) and are left out",
                output_file.stem, with_thousands(static_cast<std::uint64_t>(read.integer(0))));
    }
  }
};

}  // namespace

std::unique_ptr<TimelineLayer> make_svp_task_time() {
  return std::make_unique<SvpTaskTime>();
}

}  // namespace msprof
