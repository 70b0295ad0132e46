// task_time: the layer executions of a model, the NPU cores and the CPU operators a lane each.
// One file a model and batch: its captures follow each other on the same clock.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "base/log.hpp"
#include "base/text.hpp"
#include "export/json_text.hpp"
#include "export/products.hpp"
#include "export/summary/svp_product_names.hpp"

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
  constexpr std::size_t kMostOps = 1 << 24;
  Statement read = db.prepare(
      "SELECT op.id, layer.text, unit.text = 'AA_CPU' FROM op JOIN name AS layer ON layer.id = "
      "op.name_id"
      " JOIN name AS unit ON unit.id = op.unit_name_id WHERE op.model_row = ? ORDER BY op.id");
  read.bind(1, model_row);
  while (read.step()) {
    const auto id = static_cast<std::size_t>(read.integer(0));
    if (id < ops.size() || id >= kMostOps) throw db.damaged("operators out of order");
    ops.resize(id + 1);
    ops[id] = {json_string(read.text(1)), read.integer(2) == 0 ? std::size_t{0} : std::size_t{1}};
  }
  return ops;
}

class SvpTaskTime : public TimelineLayer {
 public:
  std::string_view name() const override { return "task_time"; }
  std::string_view help() const override {
    return "layer executions on the NPU cores and CPU operators";
  }
  Dialect dialect() const override { return Dialect::svp; }

  std::vector<Document> documents(const Database& db) const override {
    std::vector<Document> documents;
    std::set<std::pair<std::int64_t, std::int64_t>> seen;  // model row, batch
    for (const Capture& capture : svp::captures_with_tasks(db)) {
      if (!seen.insert({capture.model.row, capture.batch_num}).second) continue;
      if (!has_event(db, capture.model.row, capture.batch_num)) continue;
      documents.push_back(
          {fmt::format("task_time_{}.{}", svp::model_stem(capture.model), capture.batch_num), kNull,
           capture.model.row, capture.batch_num});
    }
    return documents;
  }

  void write(const Database& db, const Document& document, TraceJsonWriter& out) const override {
    const std::int64_t device = device_of(db, document.model_row);
    if (!document.scope.takes_device(device)) return;
    const auto ops = ops_of(db, document.model_row);
    Statement read = db.prepare(std::string("SELECT task.op_id, task.start_ns, task.duration_ns") +
                                kFrom + kHasTime + " ORDER BY task.start_ns, task.id");
    read.bind(1, document.model_row).bind(2, document.key);
    bool has_metadata = false;
    for (std::int64_t task_id = 0; read.step(); ++task_id) {
      const auto op_id = static_cast<std::size_t>(read.integer(0));
      if (op_id >= ops.size()) throw db.damaged("a task of an operator that is not there");
      const Op& op = ops[op_id];
      const std::int64_t start = read.integer(1);
      const std::int64_t duration = read.integer(2);
      if (!document.scope.takes(device, start, start + duration)) continue;
      if (!document.scope.takes_length(duration)) continue;
      if (!std::exchange(has_metadata, true)) write_metadata(device, ops, out);
      out.begin_complete({op.name}, device, static_cast<std::int64_t>(op.lane), start, duration);
      out.argument({"\"Task Type\""}, kLanes[op.lane].task_type);
      out.argument({"\"Stream Id\""}, 0);
      out.argument({"\"Task Id\""}, task_id);
      out.end_complete();
    }
    warn_of_missing(db, document);
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

  static void write_metadata(std::int64_t device, const std::vector<Op>& ops,
                             TraceJsonWriter& out) {
    out.process_name(device, fmt::format("AA Core device {}", device));
    for (std::size_t lane = 0; lane < kLanes.size(); ++lane) {
      const bool is_used = std::any_of(ops.begin(), ops.end(), [&](const Op& op) {
        return !op.name.empty() && op.lane == lane;
      });
      if (is_used) out.thread_name(device, static_cast<std::int64_t>(lane), kLanes[lane].name);
    }
  }

  // An event needs a start and a duration; tasks of a device without a frequency have none.
  static void warn_of_missing(const Database& db, const Document& document) {
    Statement read = db.prepare(std::string("SELECT count(*)") + kFrom +
                                " AND (task.start_ns IS NULL OR task.duration_ns IS NULL)");
    read.bind(1, document.model_row).bind(2, document.key);
    if (read.step() && read.integer(0) > 0) {
      log::warn("{}: {} layer executions have no start or duration (no frequency) and are left out",
                document.stem, with_thousands(static_cast<std::uint64_t>(read.integer(0))));
    }
  }
};

}  // namespace

std::unique_ptr<TimelineLayer> make_svp_task_time() {
  return std::make_unique<SvpTaskTime>();
}

}  // namespace msprof
