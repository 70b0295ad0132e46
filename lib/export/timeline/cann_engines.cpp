// Layers of V6 chips: parts of fused tasks, communication units, data units, busy units of cores.
// Source: cann_new_kinds.md 4.
#include <fmt/format.h>

#include <iterator>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "base/number.hpp"
#include "export/products.hpp"
#include "export/scope/cann_rules.hpp"
#include "export/scope/engine_words.hpp"
#include "export/timeline/cann_trace.hpp"

namespace msprof {

namespace {

class CannFusion : public cann::CannLayer {
 public:
  CannFusion()
      : CannLayer({.name = "fusion_task",
                   .help = "subtasks of fused tasks on each engine",
                   .exists = "SELECT 1 FROM fusion_part",
                   .needs = {"stars_soc"},
                   .group = kEngineLayers}) {}

  void write(const Database& db, const OutputFile& output_file, TraceWriter& out) const override {
    const cann::TraceProcesses processes(db);
    Statement read = db.prepare(
        "SELECT device_id, start_ns, end_ns, task_number, acc_id, engine, mission_id"
        " FROM fusion_part ORDER BY id");
    std::set<std::int64_t> devices;
    while (read.step()) {
      const std::int64_t device = read.integer(0);
      if (!output_file.scope.takes(device, read.integer(1), read.integer(2))) continue;
      const std::int64_t duration = saturating_subtract(read.integer(2), read.integer(1));
      if (!out.draws(duration)) continue;
      const TraceLane lane{processes.pid(cann::TraceProcess::fusion, device), 0};
      if (devices.insert(device).second) {
        processes.write(out, cann::TraceProcess::fusion, device, "Fusion Task");
        out.thread(lane, "Fusion Task", 0);
      }
      const std::int64_t engine = read.integer(5);
      const std::string_view word = cann::fusion_engine_text(engine);
      const std::string type = word.empty() ? std::to_string(engine) : std::string(word);
      if (!out.begin_slice("Fusion " + type, lane, read.integer(1), duration)) continue;
      out.argument("Task Id", read.integer(3));
      out.argument("Acc Id", read.integer(4));
      out.argument("Task Type", "FUSION");
      out.argument("Fusion Task Type", type);
      if (cann::fusion_die(engine) >= 0) {
        out.argument("Mission Id", read.integer(6));
        out.argument("Ccu Die Id", cann::fusion_die(engine));
      }
      out.end_event();
    }
  }
};

class CannCcu : public cann::CannLayer {
 public:
  CannCcu()
      : CannLayer({.name = "ccu",
                   .help = "loops and waits of the communication units",
                   .exists = "SELECT 1 FROM ccu_span",
                   .needs = {"ccu"},
                   .group = kEngineLayers}) {}

  void write(const Database& db, const OutputFile& output_file, TraceWriter& out) const override {
    const cann::TraceProcesses processes(db);
    Statement read = db.prepare(
        "SELECT device_id, start_ns, end_ns, is_wait, stream_id, task_number, instruction_id, die,"
        " size_bytes, reduce_type, input_type, output_type, mask, rank, channel, channel_delay"
        " FROM ccu_span ORDER BY id");
    std::set<std::int64_t> devices;
    while (read.step()) {
      const std::int64_t device = read.integer(0);
      if (!output_file.scope.takes(device, read.integer(1), read.integer(2))) continue;
      const std::int64_t duration = saturating_subtract(read.integer(2), read.integer(1));
      if (!out.draws(duration)) continue;
      const TraceLane lane{processes.pid(cann::TraceProcess::ccu, device), 0};
      if (devices.insert(device).second) {
        processes.write(out, cann::TraceProcess::ccu, device, "CCU");
        out.thread(lane, "Communication", 0);
      }
      const bool is_wait = read.integer(3) != 0;
      if (!out.begin_slice(is_wait ? TraceText("Wait") : TraceText("LoopGroup"), lane,
                           read.integer(1), duration))
        continue;
      out.argument("Physic Stream Id", read.integer(4));
      out.argument("Task Id", read.integer(5));
      is_wait ? write_wait(read, out) : write_loop(read, duration, out);
      out.end_event();
    }
  }

 private:
  static void write_loop(const Statement& read, std::int64_t duration, TraceWriter& out) {
    out.argument("Instruction ID", read.integer(6));
    if (read.is_null(8)) return;
    out.argument("Die Id", read.integer(7));
    out.argument("Data Size", read.integer(8));
    constexpr double kNsPerSecond = 1e9;
    constexpr double kMegabyte = 1048576;
    const double bytes = static_cast<double>(read.integer(8));
    out.argument_number(
        "Bandwidth (MB/s)",
        duration > 0 ? bytes / static_cast<double>(duration) * kNsPerSecond / kMegabyte : 0);
    if (read.is_null(9)) return;
    write_word(out, "Reduce Op Type", cann::reduce_text(read.integer(9)), read.integer(9));
    const auto write_type = [&](TraceText key, std::int64_t type) {
      write_word(out, key, cann::find_text(cann::comm_data_types(), type), type);
    };
    write_type("Input Data Type", read.integer(10));
    write_type("Output Data Type", read.integer(11));
  }
  static void write_word(TraceWriter& out, TraceText key, std::string_view word,
                         std::int64_t number) {
    out.argument(key, word.empty() ? std::to_string(number) : std::string(word));
  }
  static void write_wait(const Statement& read, TraceWriter& out) {
    out.argument("Notify Instruction ID", read.integer(6));
    if (!read.is_null(13)) out.argument("Notify Rank ID", read.integer(13));
    if (read.is_null(12)) return;
    out.argument("Die Id", read.integer(7));
    out.argument("Mask", read.integer(12));
    if (read.is_null(14)) return;
    out.argument("Maximum Delay Channel", read.integer(14));
    out.argument("Maximum Channel Delay", read.integer(15));
  }
};

class CannDpu : public cann::CannLayer {
 public:
  CannDpu()
      : CannLayer({.name = "dpu",
                   .help = "kernels of data units that the host drives",
                   .exists = "SELECT 1 FROM dpu_task",
                   .needs = {"dpu_track"},
                   .group = kEngineLayers}) {}

  void write(const Database& db, const OutputFile& output_file, TraceWriter& out) const override {
    const cann::TraceProcesses processes(db);
    cann::Texts names(db);
    cann::Texts types(db);
    Statement read = db.prepare(
        "SELECT dpu_id, start_ns, end_ns, stream_id, task_number, thread_id, name_id, type_name_id"
        " FROM dpu_task ORDER BY id");
    std::set<std::int64_t> units;
    std::set<std::pair<std::int64_t, std::int64_t>> streams;
    while (read.step()) {
      if (!output_file.scope.takes_host(read.integer(1), read.integer(2))) continue;
      const std::int64_t duration = saturating_subtract(read.integer(2), read.integer(1));
      if (!out.draws(duration)) continue;
      const std::int64_t unit = read.integer(0);
      const TraceLane lane{processes.pid(cann::TraceProcess::dpu, unit), read.integer(3)};
      if (units.insert(unit).second)
        out.process(lane.pid, "CANN", fmt::format("DPU {}", unit),
                    static_cast<std::int64_t>(cann::TraceProcess::dpu));
      if (streams.emplace(unit, lane.tid).second)
        out.thread(lane, fmt::format("Stream {}", lane.tid), lane.tid);
      const std::string name = read.is_null(6) ? "N/A" : names(read.integer(6));
      if (!out.begin_slice(name, lane, read.integer(1), duration)) continue;
      out.argument("Thread Id", read.integer(5));
      out.argument("Physic Stream Id", read.integer(3));
      out.argument("Task Id", read.integer(4));
      out.argument("Task Type", cann::kernel_type_text(types(read.integer(7))));
      out.end_event();
    }
  }
};

class CannBiu : public cann::CannLayer {
 public:
  CannBiu()
      : CannLayer({.name = "biu_perf",
                   .help = "busy units of each core",
                   .exists = "SELECT 1 FROM biu_span",
                   .needs = {"biu_perf"},
                   .group = kEngineLayers}) {}

  void write(const Database& db, const OutputFile& output_file, TraceWriter& out) const override {
    constexpr std::string_view kUnits[] = {"SU", "VEC", "CUBE", "MTE1", "MTE2", "MTE3", "FIXP"};
    const cann::TraceProcesses processes(db);
    cann::Texts cores(db);
    Statement read = db.prepare(
        "SELECT device_id, start_ns, end_ns, core_group, core_name_id, unit, block_id"
        " FROM biu_span ORDER BY id");
    std::set<std::int64_t> devices;
    std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::int64_t> threads;
    while (read.step()) {
      const std::int64_t device = read.integer(0);
      if (!output_file.scope.takes(device, read.integer(1), read.integer(2))) continue;
      const std::int64_t duration = saturating_subtract(read.integer(2), read.integer(1));
      const std::int64_t unit = read.integer(5);
      if (unit < 0 || unit >= static_cast<std::int64_t>(std::size(kUnits)))
        throw db.damaged("an invalid core unit");
      if (!out.draws(duration)) continue;
      const std::int64_t pid = processes.pid(cann::TraceProcess::biu, device);
      if (devices.insert(device).second)
        processes.write(out, cann::TraceProcess::biu, device, "Biu Perf");
      const auto [thread, is_new] = threads.try_emplace({device, read.integer(3), read.integer(4)},
                                                        static_cast<std::int64_t>(threads.size()));
      const TraceLane lane{pid, thread->second};
      const std::string core = cores(read.integer(4));
      if (is_new) out.thread(lane, fmt::format("Group{}-{}", read.integer(3), core), lane.tid);
      if (!out.begin_slice(kUnits[unit], lane, read.integer(1), duration)) continue;
      out.argument("Core Type", core);
      out.argument("Block Id", read.integer(6));
      out.end_event();
    }
  }
};

// For each task and kind of core, the block that started first and the one that started last.
class CannBlockDetail : public cann::CannLayer {
 public:
  CannBlockDetail()
      : CannLayer({.name = "block_detail",
                   .help = "the first and the last block of each task",
                   .exists = "SELECT 1 FROM task_blocks",
                   .needs = {"ffts_profile"},
                   .group = kEngineLayers}) {}

  void write(const Database& db, const OutputFile& output_file, TraceWriter& out) const override {
    const cann::TraceProcesses processes(db);
    cann::OpNames ops(db);
    cann::Texts texts(db);
    Statement read = db.prepare(
        "SELECT device_id, start_ns, duration_ns, stream_id, task_number, op_id, is_vector,"
        " first_start_ns, first_end_ns, first_core, last_start_ns, last_end_ns, last_core"
        " FROM task_blocks CROSS JOIN task ON task.id = task_id ORDER BY task_blocks.id");
    std::set<std::pair<std::int64_t, std::int64_t>> threads;
    while (read.step()) {
      const std::int64_t device = read.integer(0);
      if (!output_file.scope.takes(device, read.integer(1),
                                   saturating_add(read.integer(1), read.integer(2))))
        continue;
      const auto name_id = ops.find(read.maybe_integer(5));
      const std::string name =
          fmt::format("Stream {} {}", read.integer(3), name_id ? texts(*name_id) : "N/A");
      const std::int64_t pid = processes.pid(cann::TraceProcess::block_detail, device);
      for (const int first_cell : {7, 10}) {
        const std::int64_t start = read.integer(first_cell);
        const std::int64_t duration = saturating_subtract(read.integer(first_cell + 1), start);
        if (!out.draws(duration)) continue;
        const std::int64_t number = saturating_add(saturating_add(read.integer(6), read.integer(6)),
                                                   first_cell == 7 ? 1 : 2);
        const TraceLane lane{pid, number};
        if (threads.empty() || threads.lower_bound({device, 0}) == threads.end() ||
            threads.lower_bound({device, 0})->first != device)
          processes.write(out, cann::TraceProcess::block_detail, device, "Block Detail");
        if (threads.emplace(device, number).second)
          out.thread(lane,
                     fmt::format("{} {}", read.integer(6) != 0 ? "AIV" : "AIC",
                                 first_cell == 7 ? "Earliest" : "Latest"),
                     number);
        if (!out.begin_slice(name, lane, start, duration)) continue;
        out.argument("Physic Stream Id", read.integer(3));
        out.argument("Task Id", read.integer(4));
        out.argument("Batch Id", 0);
        out.argument("Subtask Id", kInvalidId);
        out.argument("Core Id", read.integer(first_cell + 2));
        out.end_event();
      }
    }
  }
};

}  // namespace

std::unique_ptr<TimelineLayer> make_cann_fusion() {
  return std::make_unique<CannFusion>();
}

std::unique_ptr<TimelineLayer> make_cann_ccu() {
  return std::make_unique<CannCcu>();
}

std::unique_ptr<TimelineLayer> make_cann_dpu() {
  return std::make_unique<CannDpu>();
}

std::unique_ptr<TimelineLayer> make_cann_biu() {
  return std::make_unique<CannBiu>();
}

std::unique_ptr<TimelineLayer> make_cann_block_detail() {
  return std::make_unique<CannBlockDetail>();
}

}  // namespace msprof
