// Tables of CANN 5 with its records unchanged: dp, msprof_tx; and for data that its other tables
// show only in part: ge, l2_raw, hccl_raw. Source: cann5_classic.md 5.5, 6.2, 7, 10.
#include <array>
#include <map>
#include <tuple>

#include "export/old/tables.hpp"

namespace msprof {

namespace {

class OldDp : public cann::CannTable {
 public:
  OldDp()
      : CannTable({.name = "dp",
                   .title = "Data pipeline",
                   .help = "data that the pipeline passed to each device, and data still queued",
                   .exists = "SELECT 1 FROM data_queue WHERE action_name_id IS NOT NULL",
                   .needs = {"data_preprocess"}},
                  {"Timestamp", "Action", "Source", "Cached Buffer Size"}) {}

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    cann::Texts texts(db);
    Statement read = db.prepare(
        "SELECT device_id, start_us, action_name_id, source_name_id, queue_size FROM data_queue"
        " WHERE action_name_id IS NOT NULL ORDER BY device_id, id");
    while (read.step()) {
      if (!output_file.scope.takes_device(read.integer(0))) continue;
      out.number_or_missing(read.maybe_integer(1));
      for (const int name : {2, 3}) cann::text_or_missing(out, texts, read.maybe_integer(name));
      out.number_or_missing(read.maybe_integer(4));
      out.end_row();
    }
  }
};

// Times of the graph engine for each execution of a model.
class OldGe : public cann::CannTable {
 public:
  OldGe()
      : CannTable({.name = "ge",
                   .title = "Graph engine",
                   .help = "times of input, inference and output of each model execution",
                   .exists = "SELECT 1 FROM call_detail WHERE request IS NOT NULL"},
                  {"Model Name", "Model ID", "Request ID", "Thread ID", "Input Start", "Input End",
                   "Infer Start", "Infer End", "Output Start", "Output End"}) {}

  void write(const Database& db, const OutputFile&, RowBuilder& out) const override {
    const old::OldTimes times(db);
    cann::Texts texts(db);
    struct Execution {
      std::array<std::int64_t, 6> times{kNull, kNull, kNull, kNull, kNull, kNull};
    };
    // Model, request, thread; rows are in the order of their starts.
    using RequestKey = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
    std::map<RequestKey, Execution> all;
    std::vector<RequestKey> order;
    Statement read = db.prepare(
        "SELECT item_name_id, request, thread_id, name_id, start_ns, end_ns FROM call_detail"
        " JOIN api_call ON api_call.id = api_id WHERE request IS NOT NULL ORDER BY api_id");
    while (read.step()) {
      const RequestKey key{read.maybe_integer(0).value_or(kNull), read.integer(1),
                           read.maybe_integer(2).value_or(kNull)};
      const auto [at, is_new] = all.try_emplace(key);
      if (is_new) order.push_back(key);
      const std::string& phase = texts(read.integer(3));
      const std::size_t place = phase == "Input" ? 0 : phase == "Infer" ? 2 : 4;
      at->second.times[place] = times.host_ns(read.integer(4));
      at->second.times[place + 1] = times.host_ns(read.integer(5));
    }
    Statement model = db.prepare("SELECT model_id FROM model WHERE name_id = ? ORDER BY id");
    for (const RequestKey& key : order) {
      model.reset();
      model.bind(1, std::get<0>(key));
      cann::text_or_missing(out, texts, given(std::get<0>(key)));
      out.number_or_missing(model.step() ? model.maybe_integer(0) : std::nullopt);
      out.number(std::get<1>(key));
      out.number_or_missing(given(std::get<2>(key)));
      for (const std::int64_t time : all.at(key).times) out.number_or_missing(given(time));
      out.end_row();
    }
  }
};

class OldL2Raw : public cann::CannTable {
 public:
  OldL2Raw()
      : CannTable({.name = "l2_raw",
                   .title = "L2 cache events",
                   .help = "L2 cache events, in the order of the request",
                   .exists = "SELECT 1 FROM l2_cache"},
                  {"Stream Id", "Task Id", "event0", "event1", "event2", "event3", "event4",
                   "event5", "event6", "event7"}) {}

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    Statement read = db.prepare(
        "SELECT device_id, stream_id, task_number, e0, e1, e2, e3, e4, e5, e6, e7 FROM l2_cache"
        " ORDER BY id");
    while (read.step()) {
      if (!output_file.scope.takes_device(read.integer(0))) continue;
      for (int cell = 1; cell < 11; ++cell) out.number_or_missing(read.maybe_integer(cell));
      out.end_row();
    }
  }
};

class OldHcclRaw : public cann::CannTable {
 public:
  OldHcclRaw()
      : CannTable(
            {.name = "hccl_raw",
             .title = "Tasks of collectives",
             .help = "tasks of collectives, as planned by the communication library",
             .exists = "SELECT 1 FROM comm_task"},
            {"name", "plane", "stream", "task", "ts", "durationEstimated", "size", "remoteRank"}) {}

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    const old::OldTimes times(db);
    cann::Texts texts(db);
    Statement read = db.prepare(
        "SELECT device_id, item_name_id, plane_id, stream_id, task_number, start_ns,"
        " duration_estimated_ps, size_bytes, remote_rank FROM comm_task"
        " JOIN task ON task.id = task_id JOIN comm_call ON comm_call.id = comm_call_id"
        " ORDER BY comm_call.id");
    while (read.step()) {
      if (!output_file.scope.takes_device(read.integer(0))) continue;
      cann::text_or_missing(out, texts, read.maybe_integer(1));
      for (int cell = 2; cell < 5; ++cell) out.number_or_missing(read.maybe_integer(cell));
      out.number(cann::trimmed(times.host_ns(read.integer(5)), 1000, 3));
      const auto estimated = read.maybe_integer(6);
      estimated ? out.number(cann::trimmed(*estimated, 1'000'000, 6)) : out.missing();
      const auto size = read.maybe_integer(7);
      size ? out.number(*size) : out.text("");
      out.number_or_missing(read.maybe_integer(8));
      out.end_row();
    }
  }
};

// Rows are in the order in which the application closed the ranges and marks.
class OldMsprofTx : public cann::CannTable {
 public:
  OldMsprofTx()
      : CannTable({.name = "msprof_tx",
                   .title = "Ranges of the application",
                   .help = "ranges and marks of the application",
                   .exists = "SELECT 1 FROM user_range"},
                  {"pid", "tid", "category", "event_type", "payload_type", "payload_value",
                   "Start_time(ns)", "End_time(ns)", "message_type", "message"}) {}

  void write(const Database& db, const OutputFile&, RowBuilder& out) const override {
    const old::OldTimes times(db);
    cann::Texts texts(db);
    Statement read = db.prepare(
        "SELECT process_id, thread_id, category, event_type, payload_type, payload_value,"
        " start_ns, end_ns, message_type, message_name_id FROM user_range ORDER BY id");
    while (read.step()) {
      for (int cell = 0; cell < 3; ++cell) out.number_or_missing(read.maybe_integer(cell));
      out.text(cann::event_type_text(read.maybe_integer(3).value_or(kNull)));
      out.number_or_missing(read.maybe_integer(4));
      out.number_or_missing(read.maybe_integer(5));
      for (int cell = 6; cell < 8; ++cell) {
        const auto ns = read.maybe_integer(cell);
        ns ? out.number(times.host_ns(*ns)) : out.missing();
      }
      out.number_or_missing(read.maybe_integer(8));
      cann::text_or_missing(out, texts, read.maybe_integer(9));
      out.end_row();
    }
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_old_msprof_tx() {
  return std::make_unique<OldMsprofTx>();
}
std::unique_ptr<SummaryTable> make_old_dp() {
  return std::make_unique<OldDp>();
}
std::unique_ptr<SummaryTable> make_old_ge() {
  return std::make_unique<OldGe>();
}
std::unique_ptr<SummaryTable> make_old_l2_raw() {
  return std::make_unique<OldL2Raw>();
}
std::unique_ptr<SummaryTable> make_old_hccl_raw() {
  return std::make_unique<OldHcclRaw>();
}

}  // namespace msprof
