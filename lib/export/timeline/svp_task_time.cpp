// task_time: the layer executions of a model, with one track for the NPU cores, one for the CPU
// operators, and further ones for overlapping executions, such as those of several threads. One
// file per model and batch; its captures share a clock and follow each other.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "export/products.hpp"
#include "export/summary/svp_tables.hpp"
#include "export/timeline/svp_arrows.hpp"
#include "export/timeline/svp_timed_tasks.hpp"
#include "store/layout_origin.hpp"
#include "store/row_ids.hpp"

namespace msprof {

namespace {

using svp::SvpCapture;

constexpr std::array<TraceText, 2> kLanes = {"AA CORE", "AA CPU"};

struct Op {
  const SharedText* name = nullptr;
  std::size_t lane = 0;
};

// The operators of a model. Those of a foreign store may share a long name.
class Ops {
 public:
  Ops(const Database& db, std::int64_t model_row) : ops_(db, "op") {
    Statement text = db.prepare("SELECT text FROM name WHERE id = ?");
    Statement read = db.prepare(
        "SELECT op.id, op.name_id, op.original_name_id, unit.text = 'AA_CPU' FROM op"
        " JOIN name AS unit ON unit.id = op.unit_name_id WHERE op.model_row = ?"
        " AND EXISTS (SELECT 1 FROM name WHERE id = op.name_id) ORDER BY op.id");
    read.bind(1, model_row);
    while (read.step()) {
      const Name& name = read_name(text, read.integer(1));
      const Name& joined = read_name(text, read.integer(2));
      ops_[read.integer(0)] = {joined.is_fused ? &joined.text : &name.text,
                               read.integer(3) == 0 ? std::size_t{0} : std::size_t{1}};
    }
  }

  const Op* find(std::int64_t op_id) const { return ops_.find(op_id); }

 private:
  struct Name {
    SharedText text;
    bool is_fused = false;  // original names of a fused layer, joined
  };

  // Each name once; empty if there is none. `text` reads a name by its id.
  const Name& read_name(Statement& text, std::int64_t id) {
    const auto [known, is_new] = names_.try_emplace(id);
    if (is_new) {
      text.reset();
      if (text.bind(1, id).step())
        known->second = {std::string(text.text(0)), svp::is_fused(text.text(0))};
    }
    return known->second;
  }

  std::map<std::int64_t, Name> names_;  // by id
  ById<Op> ops_;
};

// Assigns overlapping executions of a device to different turns, 0 if none overlap. Turns cover all
// models of the device, because viewers overlay the files of a folder. Records do not name threads,
// so a turn is not a thread.
class Turns {
 public:
  Turns(const Database& db, std::int64_t device) {
    Statement read = db.prepare(
        "SELECT one.step_id, one.execution, one.timed_start_ns, one.end_ns FROM model"
        " JOIN step ON step.model_row = model.id JOIN execution_time AS one ON one.step_id = "
        "step.id"
        " WHERE model.device_id = ? AND one.timed_start_ns IS NOT NULL"
        " ORDER BY one.timed_start_ns, one.step_id, one.execution");
    read.bind(1, device);
    std::vector<std::int64_t> ends;  // end of the last execution in each turn
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

  std::size_t find(std::int64_t step_id, std::int64_t execution) const {
    const auto at = later_.find({step_id, execution});
    return at == later_.end() ? 0 : at->second;
  }

  static constexpr std::size_t kMaxLanes = 256;  // more means damaged records

 private:
  std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> later_;  // turns other than 0
};

// The turns of all devices, each computed once for all files. For any thread.
class TurnsByDevice {
 public:
  std::shared_ptr<const Turns> find(const Database& db, std::int64_t device) {
    const std::lock_guard lock(mutex_);
    auto& turns = turns_[device];
    if (!turns) turns = std::make_shared<const Turns>(db, device);
    return turns;
  }

 private:
  std::mutex mutex_;
  std::map<std::int64_t, std::shared_ptr<const Turns>> turns_;
};

// The lanes of one unit. Slices that do not fit their execution's lane (records without an
// execution number, damaged times) go to the first lane where they are nested in, or do not
// overlap, other slices.
class UnitLanes {
 public:
  // Slices must be passed in order of start; at equal starts the longest first.
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

  std::vector<std::vector<std::int64_t>> open_;  // ends of the running slices, by lane
};

// The drawn form of a task; its lane depends on all slices before it.
struct Slice {
  const Op* op = nullptr;
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  std::int64_t task_id = 0;
  std::int64_t thread = 0;
  std::optional<std::int64_t> call{};  // call whose arrow ends here
  bool is_first = false;               // first one of the file
  bool is_first_of_lane = false;
};

// Produces the slices of a file in order, for chunks that are written in parallel: each chunk gets
// the next range in its turn.
class Slices {
 public:
  Slices(const Database& db, const OutputFile& output_file, TurnsByDevice& turns)
      : device_(read_device(db, output_file.model_row)),
        scope_(output_file.scope),
        is_inferred_(read_layout_origin(db) == LayoutOrigin::inferred),
        stem_(output_file.stem),
        ops_(db, output_file.model_row),
        turns_(turns.find(db, device_)),
        tasks_(db, output_file.model_row, output_file.key),
        db_(db) {
    if (output_file.is_merged && output_file.has_arrows)
      arrows_.emplace(db, output_file.model_row, output_file.scope);
  }

  std::int64_t device() const { return device_; }
  bool is_inferred() const { return is_inferred_; }
  bool is_for_any_thread() const { return tasks_.is_for_any_thread(); }
  std::int64_t pieces() const {
    constexpr std::int64_t kMaxPieces = 1 << 16;  // no store has more chunks of tasks
    return std::clamp<std::int64_t>((tasks_.count() + kPieceRows - 1) / kPieceRows, 1, kMaxPieces);
  }

  // Gets the slices of a chunk. Chunks must start in order. Returns true if the chunk has more
  // slices, which only happens for the last one: it gets all that remain.
  bool take(std::int64_t piece, std::vector<Slice>& slices) {
    std::unique_lock lock(mutex_);
    turn_has_come_.wait(lock, [&] { return next_piece_ == piece || has_failed_; });
    slices.clear();
    if (has_failed_) return false;
    try {
      const bool has_more = read(slices) && piece + 1 == pieces();
      if (has_more) return true;
      ++next_piece_;
    } catch (...) {
      has_failed_ = true;
      turn_has_come_.notify_all();
      throw;
    }
    turn_has_come_.notify_all();
    return false;
  }

  // An event needs a start and a duration; tasks of a device without a frequency have neither.
  void warn_of_missing() const {
    if (tasks_.missing() <= 0) return;
    log::warn("{}: {} layer executions have no start or duration (no frequency) and are omitted",
              stem_, with_thousands(static_cast<std::uint64_t>(tasks_.missing())));
  }

 private:
  static std::int64_t read_device(const Database& db, std::int64_t model_row) {
    Statement read = db.prepare("SELECT device_id FROM model WHERE id = ?");
    read.bind(1, model_row);
    return read.step() ? read.integer(0) : 0;
  }

  // Returns false at the end.
  bool read(std::vector<Slice>& slices) {
    slices.reserve(kPieceRows);
    svp::TimedTask task;
    for (std::int64_t rows = 0; rows < kPieceRows; ++rows) {
      if (!tasks_.next(task)) return false;
      const Op* const found = ops_.find(task.op_id);
      if (found == nullptr) fail_without_row(db_, "op", task.op_id);
      const Op& op = *found;
      const std::int64_t end = saturating_add(task.start_ns, task.duration_ns);
      const std::size_t turn =
          units_[op.lane].lane(turns_->find(task.step_id, task.execution), task.start_ns, end);
      const std::int64_t number = next_task_id_++;
      if (!scope_.takes(device_, task.start_ns, end) || task.duration_ns < scope_.min_duration_ns)
        continue;
      Slice& slice = slices.emplace_back();
      slice.op = &op;
      slice.start_ns = task.start_ns;
      slice.duration_ns = task.duration_ns;
      slice.task_id = number;
      slice.thread = static_cast<std::int64_t>(turn * kLanes.size() + op.lane);
      slice.is_first = threads_.empty();
      slice.is_first_of_lane = threads_.insert(slice.thread).second;
      if (arrows_) slice.call = arrows_->take_end(task.step_id, task.execution);
    }
    return true;
  }

  const std::int64_t device_;
  const ExportScope scope_;
  const bool is_inferred_;
  const std::string stem_;
  const Ops ops_;
  const std::shared_ptr<const Turns> turns_;
  svp::TimedTasks tasks_;
  const Database& db_;
  std::array<UnitLanes, kLanes.size()> units_;
  std::set<std::int64_t> threads_;
  std::optional<svp::ExecutionArrows> arrows_;
  std::int64_t next_task_id_ = 0;
  std::mutex mutex_;
  std::condition_variable turn_has_come_;
  std::int64_t next_piece_ = 0;
  bool has_failed_ = false;
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
    auto timed = read_timed(db);
    svp::visit_captures(db, [&](const SvpCapture& capture) {
      // Each file once, at its first capture.
      if (timed.erase({capture.model.row, capture.batch_num}) == 0) return true;
      check_file_count(output_files.size() + 1);
      output_files.push_back(
          {fmt::format("task_time_{}.{}", svp::model_stem(capture.model), capture.batch_num), kNull,
           capture.model.row, capture.batch_num});
      return true;
    });
    return output_files;
  }

  // Does not fail if there are too many files to write.
  bool has_files(const Database& db) const override {
    const auto timed = read_timed(db);
    bool has_any = false;
    svp::visit_captures(db, [&](const SvpCapture& capture) {
      has_any = timed.contains({capture.model.row, capture.batch_num});
      return !has_any;
    });
    return has_any;
  }

  std::vector<TimelinePiece> pieces(const Database& db,
                                    const OutputFile& output_file) const override {
    const auto slices = std::make_shared<Slices>(db, output_file, *turns_);
    if (!output_file.scope.takes_device(slices->device())) return {};
    std::vector<TimelinePiece> pieces;
    if (!slices->is_for_any_thread()) {
      pieces.push_back({[output_file, turns = turns_](const Database& own, TraceWriter& out) {
        Slices all(own, output_file, *turns);
        for (std::int64_t piece = 0; piece < all.pieces(); ++piece) write_piece(all, piece, out);
      }});
      return pieces;
    }
    for (std::int64_t piece = 0; piece < slices->pieces(); ++piece) {
      pieces.push_back({[slices, piece](const Database&, TraceWriter& out) {
        write_piece(*slices, piece, out);
      }});
    }
    return pieces;
  }

 private:
  const std::shared_ptr<TurnsByDevice> turns_ = std::make_shared<TurnsByDevice>();

  static std::string lane_name(std::int64_t thread) {
    const auto lanes = static_cast<std::int64_t>(kLanes.size());
    const std::string_view name = kLanes[static_cast<std::size_t>(thread % lanes)].view();
    if (thread < lanes) return std::string(name);
    return fmt::format("{}, parallel {}", name, thread / lanes + 1);
  }

  // Calls take() first, because other chunks wait for it.
  static void write_piece(Slices& slices, std::int64_t piece, TraceWriter& out) {
    std::vector<Slice> own;
    for (bool has_more = true; has_more;) {
      has_more = slices.take(piece, own);
      for (const Slice& slice : own) write_slice(out, slice, slices.device(), slices.is_inferred());
    }
    if (piece + 1 == slices.pieces()) slices.warn_of_missing();
  }

  static void write_slice(TraceWriter& out, const Slice& slice, std::int64_t device,
                          bool is_inferred) {
    if (slice.is_first) {
      out.process_name({device}, fmt::format("AA Core device {}", device));
      if (is_inferred) out.process_label({device}, kInferredLabel);
    }
    if (slice.is_first_of_lane) out.thread_name({device, slice.thread}, lane_name(slice.thread));
    if (!out.begin_svp_slice(*slice.op->name, {device, slice.thread}, slice.start_ns,
                             slice.duration_ns))
      return;
    out.arguments(
        {{"Task Type", kLanes[slice.op->lane]}, {"Stream Id", 0}, {"Task Id", slice.task_id}});
    out.end_event();
    if (slice.call)
      svp::ExecutionArrows::write_end(out, *slice.call, {device, slice.thread}, slice.start_ns);
  }

  // Model rows and batches that have tasks with times.
  static std::set<std::pair<std::int64_t, std::int64_t>> read_timed(const Database& db) {
    std::set<std::pair<std::int64_t, std::int64_t>> timed;
    Statement read = db.prepare(
        "SELECT DISTINCT step.model_row, step.batch_num FROM task_run_time AS time"
        " JOIN task_run AS run ON run.id = time.run_id JOIN step ON step.id = run.step_id"
        " WHERE time.timed_count > 0 AND step.model_row IS NOT NULL"
        " AND step.batch_num IS NOT NULL ORDER BY 1, 2");
    while (read.step()) timed.emplace(read.integer(0), read.integer(1));
    return timed;
  }
};

}  // namespace

std::unique_ptr<TimelineLayer> make_svp_task_time() {
  return std::make_unique<SvpTaskTime>();
}

}  // namespace msprof
