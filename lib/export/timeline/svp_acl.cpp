// acl: the calls of the application's interface, one track per thread. One file per model.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "base/number.hpp"
#include "export/products.hpp"
#include "export/summary/svp_tables.hpp"
#include "export/timeline/svp_arrows.hpp"
#include "store/layout_origin.hpp"

namespace msprof {

namespace {

constexpr const char* kCalls =
    " FROM api_call WHERE model_row = ? AND start_ns IS NOT NULL AND end_ns IS NOT NULL";

// The batches of each model's captures.
class RecordedBatches {
 public:
  explicit RecordedBatches(const Database& db) {
    Statement read = db.prepare(
        "SELECT model_row, batch_num, max(EXISTS (SELECT 1 FROM task_run WHERE step_id = step.id))"
        " FROM step WHERE batch_num IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 2");
    while (read.step())
      of_model_[read.integer(0)].push_back({read.integer(1), read.integer(2) != 0});
  }

  // Returns the batch for the file name: that of the recorded executions, so that it matches the
  // model's task_time file. If there are several, the one of net.info, else the smallest. Without
  // executions that of net.info, else 1.
  std::int64_t find(const svp::SvpModel& model) const {
    const auto recorded = of_model_.find(model.row);
    if (recorded == of_model_.end()) return model.batch_num.value_or(1);
    const auto key = [&](const Batch& batch) {
      return std::tuple(!batch.has_tasks, batch.number != model.batch_num.value_or(0),
                        batch.number);
    };
    return std::min_element(recorded->second.begin(), recorded->second.end(),
                            [&](const Batch& a, const Batch& b) { return key(a) < key(b); })
        ->number;
  }

 private:
  struct Batch {
    std::int64_t number = 0;
    bool has_tasks = false;
  };
  std::map<std::int64_t, std::vector<Batch>> of_model_;  // by row of the model
};

// Assigns process ids: in a merged timeline none may equal the number of a device.
class Processes {
 public:
  Processes(const Database& db, const OutputFile& output_file) {
    if (!output_file.is_merged) return;
    Statement read = db.prepare("SELECT id FROM device ORDER BY id");
    while (read.step()) devices_.insert(read.integer(0));
  }
  std::int64_t lane_pid(std::int64_t pid) const {
    constexpr std::int64_t kBeyondLinux = 1 << 22;
    pid = std::max<std::int64_t>(pid, 0);
    return devices_.contains(pid) ? pid + kBeyondLinux : pid;
  }

 private:
  std::set<std::int64_t> devices_;
};

class SvpAcl : public TimelineLayer {
 public:
  SvpAcl()
      : TimelineLayer({.name = "acl",
                       .help = "calls of the ACL interface on the host",
                       .needs = {"acl_api", true},
                       .dialect = Dialect::svp}) {}

  std::vector<OutputFile> output_files(const Database& db) const override {
    std::vector<OutputFile> output_files;
    std::set<std::int64_t> with_calls;
    Statement read = db.prepare(
        "SELECT DISTINCT model_row FROM api_call WHERE model_row IS NOT NULL"
        " AND start_ns IS NOT NULL AND end_ns IS NOT NULL ORDER BY 1");
    while (read.step()) with_calls.insert(read.integer(0));
    const RecordedBatches batches(db);
    for (const svp::SvpModel& model : svp::models(db)) {
      if (!with_calls.contains(model.row)) continue;
      const std::int64_t batch = batches.find(model);
      output_files.push_back({fmt::format("acl_{}.{}", svp::model_stem(model), batch), kNull,
                              model.row, model.batch_num ? 0 : batch});
    }
    return output_files;
  }

  void write(const Database& db, const OutputFile& output_file, TraceWriter& out) const override {
    if (output_file.key != 0 && !output_file.is_merged) {
      log::info("{}: no batch size in net.info; using {} (the smallest of the captures, or 1)",
                output_file.stem, output_file.key);
    }
    // Calls have no device, so the device of their model decides.
    if (!takes_model(db, output_file)) return;
    svp::NameTexts names(db);
    const auto find_name = [&](std::int64_t id) -> const std::string& {
      const svp::NameText& name = names.find(id);
      if (!name) throw db.damaged("a call without its name");
      return *name;
    };
    Statement read = db.prepare(
        std::string(
            "SELECT ifnull(process_id, -1), ifnull(thread_id, -1), name_id, type_name_id, start_ns,"
            " end_ns - start_ns, id") +
        kCalls + " ORDER BY start_ns, end_ns DESC, id");
    read.bind(1, output_file.model_row);
    const Processes processes(db, output_file);
    std::optional<svp::ExecutionArrows> arrows;
    if (output_file.is_merged && output_file.has_arrows)
      arrows.emplace(db, output_file.model_row, output_file.scope);
    bool has_metadata = false;
    while (read.step()) {
      const std::int64_t pid = read.integer(0);
      const std::int64_t tid = read.integer(1);
      if (!output_file.scope.takes_host(read.integer(4),
                                        saturating_add(read.integer(4), read.integer(5))))
        continue;
      if (!out.draws(read.integer(5))) continue;
      if (!std::exchange(has_metadata, true)) write_metadata(db, output_file, processes, out);
      const TraceLane lane{processes.lane_pid(pid), std::max<std::int64_t>(tid, 0)};
      if (!out.begin_svp_slice(find_name(read.integer(2)), lane, read.integer(4),
                               read.integer(5))) {
        continue;
      }
      out.argument("Mode", find_name(read.integer(3)));
      number_or_missing(out, "Process_Id", pid);
      number_or_missing(out, "Thread_Id", tid);
      out.end_event();
      if (arrows) arrows->write_start(out, read.integer(6), lane, read.integer(4));
    }
  }

 private:
  static bool takes_model(const Database& db, const OutputFile& output_file) {
    Statement read = db.prepare("SELECT device_id FROM model WHERE id = ?");
    read.bind(1, output_file.model_row);
    return output_file.scope.takes_device(read.step() ? read.integer(0) : 0);
  }

  static void number_or_missing(TraceWriter& out, TraceText key, std::int64_t value) {
    value < 0 ? out.argument(key, "N/A") : out.argument(key, value);
  }

  static void write_metadata(const Database& db, const OutputFile& output_file,
                             const Processes& processes, TraceWriter& out) {
    Statement read =
        db.prepare(std::string("SELECT DISTINCT ifnull(process_id, 0), ifnull(thread_id, 0)") +
                   kCalls + " ORDER BY 1, 2");
    read.bind(1, output_file.model_row);
    const bool is_inferred = read_layout_origin(db) == LayoutOrigin::inferred;
    std::int64_t last_pid = -1;
    while (read.step()) {
      const std::int64_t pid = read.integer(0);
      const std::int64_t shown = processes.lane_pid(pid);
      if (pid != last_pid) {
        out.process_name({shown}, fmt::format("ACL process {}", pid));
        if (is_inferred) out.process_label({shown}, kInferredLabel);
      }
      last_pid = pid;
      out.thread_name({shown, read.integer(1)}, fmt::format("Thread {}", read.integer(1)));
    }
  }
};

}  // namespace

std::unique_ptr<TimelineLayer> make_svp_acl() {
  return std::make_unique<SvpAcl>();
}

}  // namespace msprof
