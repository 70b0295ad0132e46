// soc_pmu, page_fault: hit and miss rate of address translation, and page faults, per task. Records
// have no time: a time range includes all of them, an iteration those of the tasks that ran in it.
// Source: cann_system.md 15.
#include <map>
#include <unordered_map>

#include "base/vendor_real.hpp"
#include "export/products.hpp"
#include "export/scope/counter_samples.hpp"
#include "export/scope/scoped_rows.hpp"
#include "export/summary/cann_counter_tables.hpp"

namespace msprof {

namespace {

// Events needed for the rates, and other cells of a record.
enum SocPmuCell : std::size_t { kRequests, kHits, kMoreHits, kMisses, kStream, kTask, kCells };
constexpr std::string_view kSocPmuCounters[kCells] = {"0x8a", "0x8c",      "0x8d",
                                                      "0x2",  "Stream Id", "Task Id"};

std::size_t soc_pmu_cell(const CounterTrack& track) {
  for (std::size_t cell = 0; cell < kCells; ++cell)
    if (kSocPmuCounters[cell] == track.counter) return cell;
  return kCells;
}

// Returns for each device whether all events for the rates were counted.
std::map<std::int64_t, bool> soc_pmu_devices(const std::vector<CounterTrack>& tracks) {
  constexpr unsigned kAll = (1U << kCells) - 1;
  std::map<std::int64_t, unsigned> found;
  for (const CounterTrack& track : tracks)
    if (track.device) found[*track.device] |= 1U << soc_pmu_cell(track);
  std::map<std::int64_t, bool> devices;
  for (const auto& [device, cells] : found) devices[device] = (cells & kAll) == kAll;
  return devices;
}

bool has_operators(const Database& db) {
  return cann::has_rows(db, "SELECT 1 FROM op");
}

// Finds the last operator with a stream and task number on a device.
class LastOperators {
 public:
  LastOperators(const Database& db, const ExportScope& scope) {
    cann::OpNames ops(db);
    cann::TaskCursor tasks(
        db, scope,
        {&TaskRow::device_id, &TaskRow::stream_id, &TaskRow::task_number, &TaskRow::op_id}, {},
        cann::TaskWindow::any);
    while (tasks.next()) {
      auto& name = names_[{tasks->device_id, tasks->stream_id, tasks->task_number}];
      if (const auto op = ops.find(given(tasks->op_id))) name = op;
    }
  }
  struct LastOperatorKey {
    std::int64_t device, stream, task;
    bool operator==(const LastOperatorKey&) const = default;
  };
  bool has_run(const LastOperatorKey& key) const { return names_.contains(key); }
  std::optional<std::int64_t> find(const LastOperatorKey& key) const {
    const auto at = names_.find(key);
    return at == names_.end() ? std::nullopt : at->second;
  }

 private:
  struct LastOperatorKeyHash {
    std::size_t operator()(const LastOperatorKey& key) const {
      return cann::hash_of({key.device, key.stream, key.task});
    }
  };
  std::unordered_map<LastOperatorKey, std::optional<std::int64_t>, LastOperatorKeyHash> names_;
};

class CannSocPmu : public cann::CannTable {
 public:
  CannSocPmu()
      : CannTable({.name = "soc_pmu",
                   .title = "SoC PMU",
                   .help = "hit and miss rate of address translation per task",
                   .exists = exists_counters("soc_pmu"),
                   .needs = {"socpmu"},
                   .group = kCounterLayers},
                  {"Device_id", "Stream Id", "Task Id", "TLB Hit Rate", "TLB Miss Rate"}) {}

  std::vector<std::string> columns(const Database& db) const override {
    auto all = CannTable::columns(db);
    if (has_operators(db)) all.emplace_back("Op Name");
    return all;
  }

  std::vector<OutputFile> output_files(const Database& db) const override {
    for (const auto& [device, is_known] : soc_pmu_devices(counter_tracks(db, "soc_pmu")))
      if (is_known) return CannTable::output_files(db);
    return {};
  }

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    const bool has_names = has_operators(db);
    const bool is_iteration = output_file.scope.iteration.has_value();
    std::optional<LastOperators> operators;
    if (has_names || is_iteration) operators.emplace(db, output_file.scope);
    cann::Texts texts(db);
    CounterSamples samples(db, "soc_pmu", output_file.scope, true);
    auto devices = soc_pmu_devices(samples.tracks());
    std::vector<std::size_t> cells;
    for (const CounterTrack& track : samples.tracks()) cells.push_back(soc_pmu_cell(track));
    std::int64_t values[kCells] = {};
    const CounterTrack* track = nullptr;  // of the current record
    const auto end = [&] {
      if (track == nullptr || !devices[*track->device]) return;
      const LastOperators::LastOperatorKey key{*track->device, values[kStream], values[kTask]};
      if (is_iteration && !operators->has_run(key)) return;
      out.number(key.device);
      out.number(key.stream);
      out.number(key.task);
      const double requests = static_cast<double>(values[kRequests]);
      write_rate(out, static_cast<double>(values[kHits]) + static_cast<double>(values[kMoreHits]),
                 requests);
      write_rate(out, static_cast<double>(values[kMisses]), requests);
      if (has_names) cann::text_or_missing(out, texts, operators->find(key));
      out.end_row();
    };
    while (samples.next()) {
      const std::size_t cell = cells[samples->track->index];
      if (cell == kCells || !samples->track->device) continue;
      if (cell == kStream) {
        end();
        track = samples->track;
        std::fill(std::begin(values), std::end(values), 0);
      }
      values[cell] = samples->value;
    }
    end();
  }

 private:
  static void write_rate(RowBuilder& out, double part, double whole) {
    if (whole == 0) return out.number(std::int64_t{0});
    constexpr int kPlaces = 6;
    out.real(python_round(part / whole, kPlaces));
  }
};

// One row per record, in the order of the file; records have no time.
class CannPageFault : public cann::CannTable {
 public:
  CannPageFault()
      : CannTable({.name = "page_fault",
                   .title = "Page faults",
                   .help = "page faults of tasks",
                   .exists = "SELECT 1 FROM page_fault",
                   .needs = {"socpmu"},
                   .group = kCounterLayers},
                  {"Device Id", "Stream Id", "Task Id", "Page Fault Num", "Op Name"}) {}

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    const ScopeFilter scope(output_file.scope);
    const LastOperators operators(db, output_file.scope);
    cann::Texts texts(db);
    Statement read = db.prepare(
        "SELECT device_id, stream_id, task_number, fault_count FROM page_fault ORDER BY id");
    while (read.step()) {
      if (!scope.takes_device(read.integer(0))) continue;
      const LastOperators::LastOperatorKey key{read.integer(0), read.integer(1), read.integer(2)};
      if (output_file.scope.iteration && !operators.has_run(key)) continue;
      for (const int cell : {0, 1, 2, 3}) out.number(read.integer(cell));
      cann::text_or_missing(out, texts, operators.find(key));
      out.end_row();
    }
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann_page_fault() {
  return std::make_unique<CannPageFault>();
}

std::unique_ptr<SummaryTable> make_cann_soc_pmu() {
  return std::make_unique<CannSocPmu>();
}

}  // namespace msprof
