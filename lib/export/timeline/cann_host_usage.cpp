// Layers cpu_usage, memory_usage, disk_usage, network_usage: host usage of the process, as
// counters; os_runtime_api: its system calls and pthread calls, as slices. A counter value is valid
// from its event on, so the value of an interval is written at its start. Source:
// cann_system.md 1.5, 16, 17.
#include <algorithm>
#include <set>

#include "export/products.hpp"
#include "export/scope/host_usage.hpp"
#include "export/timeline/cann_counter_layer.hpp"

namespace msprof {

namespace {

using cann::TraceProcess;

// Draws one counter, "Usage(%)". `UseOf` calls the given function with times and percentages.
template <typename UseOf>
class HostUsageLayer : public cann::CannLayer {
 public:
  HostUsageLayer(const LayerInfo& info, TraceProcess process, std::string_view name, UseOf use_of)
      : CannLayer(info), process_(process), name_(name), use_of_(use_of) {}

  void write(const Database& db, const OutputFile& output_file, TraceWriter& out) const override {
    const cann::TraceProcesses processes(db);
    const TraceLane lane{processes.pid(process_, cann::kHostDevice), 0};
    bool is_begun = false;
    use_of_(db, output_file.scope, [&](std::int64_t time_ns, double percent) {
      if (!is_begun) processes.write(out, process_, cann::kHostDevice, name_);
      is_begun = true;
      out.begin_counter(name_, lane, time_ns);
      out.argument_number("Usage(%)", percent);
      out.end_event();
    });
  }

 private:
  TraceProcess process_;
  std::string_view name_;
  UseOf use_of_;
};

class CpuUsageLayer : public cann::CannLayer {
 public:
  CpuUsageLayer()
      : CannLayer({.name = "cpu_usage",
                   .help = "CPU usage of the host",
                   .exists = exists_counter("host_cpu", "Usage"),
                   .needs = {"host_cpu"},
                   .group = kCounterLayers}) {}

  void write(const Database& db, const OutputFile& output_file, TraceWriter& out) const override {
    WholeIntervals samples(db, "host_cpu", output_file.scope);
    cann::CounterProcesses processes(
        db, output_file, {"host_cpu", TraceProcess::cpu_usage, "CPU Usage"}, samples.tracks(), out);
    std::vector<std::string> names;
    for (const CounterTrack& track : samples.tracks()) names.push_back(track.subject);
    while (samples.next()) {
      const CounterTrack& track = *samples->track;
      processes.begin(track);
      out.begin_counter(names[track.index], processes.lane(track), *samples->begin_ns);
      out.argument_number("Usage(%)", samples->shown());
      out.end_event();
    }
  }
};

class OsRuntimeLayer : public cann::CannLayer {
 public:
  OsRuntimeLayer()
      : CannLayer({.name = "os_runtime_api",
                   .help = "system calls and thread library calls",
                   .exists = "SELECT 1 FROM track JOIN name ON name.id = kind_name_id"
                             " WHERE name.text IN ('host_syscall', 'host_pthreadcall')",
                   .needs = {"host_syscall|host_pthreadcall"},
                   .group = kCounterLayers}) {}

  void write(const Database& db, const OutputFile& output_file, TraceWriter& out) const override {
    const cann::TraceProcesses processes(db);
    const std::int64_t pid = processes.pid(TraceProcess::os_runtime, cann::kHostDevice);
    const std::set<std::int64_t> threads = list_threads(db);
    if (threads.empty()) return;
    processes.write(out, TraceProcess::os_runtime, cann::kHostDevice, "OS Runtime API");
    for (const std::int64_t thread : threads)
      out.thread_name({pid, thread}, "Thread " + std::to_string(thread));
    for (const std::string_view kind : {"host_syscall", "host_pthreadcall"}) {
      WholeIntervals samples(db, kind, output_file.scope);
      std::vector<std::string> names;
      for (const CounterTrack& track : samples.tracks())
        names.push_back(shows_call(kind, track.counter) ? track.counter : "");
      while (samples.next()) {
        const CounterTrack& track = *samples->track;
        const std::string& name = names[track.index];
        if (!name.empty() && out.begin_slice(name, {pid, track.number.value_or(0)},
                                             *samples->begin_ns, samples->value))
          out.end_event();
      }
    }
  }

 private:
  static std::set<std::int64_t> list_threads(const Database& db) {
    std::set<std::int64_t> threads;
    for (const std::string_view kind : {"host_syscall", "host_pthreadcall"}) {
      for (const CounterTrack& track : counter_tracks(db, kind)) {
        if (shows_call(kind, track.counter)) threads.insert(track.number.value_or(0));
      }
    }
    return threads;
  }
};

using Percent = std::function<void(std::int64_t time_ns, double percent)>;

template <typename UseOf>
std::unique_ptr<TimelineLayer> usage_layer(const LayerInfo& info, TraceProcess process,
                                           std::string_view name, UseOf use_of) {
  return std::make_unique<HostUsageLayer<UseOf>>(info, process, name, use_of);
}

}  // namespace

std::unique_ptr<TimelineLayer> make_cann_cpu_usage_counters() {
  return std::make_unique<CpuUsageLayer>();
}

std::unique_ptr<TimelineLayer> make_cann_memory_usage_counters() {
  return usage_layer({.name = "memory_usage",
                      .help = "memory usage of the host",
                      .exists = exists_counter("host_mem", "Total"),
                      .needs = {"host_mem"},
                      .group = kCounterLayers},
                     TraceProcess::memory_usage, "Memory Usage",
                     [](const Database& db, const ExportScope& scope, const Percent& draw) {
                       for_each_memory_use(db, scope, [&](const MemoryUse& use) {
                         draw(use.time_ns, use.percent);
                       });
                     });
}

std::unique_ptr<TimelineLayer> make_cann_disk_usage_counters() {
  return usage_layer({.name = "disk_usage",
                      .help = "time that the process waited for disks of the host",
                      .exists = exists_counters("host_disk"),
                      .needs = {"host_disk"},
                      .group = kCounterLayers},
                     TraceProcess::disk_usage, "Disk Usage",
                     [](const Database& db, const ExportScope& scope, const Percent& draw) {
                       for_each_disk_use(
                           db, scope, [&](const DiskUse& use) { draw(use.begin_ns, use.percent); });
                     });
}

std::unique_ptr<TimelineLayer> make_cann_network_usage_counters() {
  return usage_layer({.name = "network_usage",
                      .help = "network usage of the host",
                      .exists = exists_counter("host_network", "Speed"),
                      .needs = {"host_network"},
                      .group = kCounterLayers},
                     TraceProcess::network_usage, "Network Usage",
                     [](const Database& db, const ExportScope& scope, const Percent& draw) {
                       for_each_network_use(db, scope, [&](const NetworkUse& use) {
                         draw(use.begin_ns, use.percent);
                       });
                     });
}

std::unique_ptr<TimelineLayer> make_cann_os_runtime_api() {
  return std::make_unique<OsRuntimeLayer>();
}

}  // namespace msprof
