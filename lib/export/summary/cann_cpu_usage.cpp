// cpu_usage: time in each state of the CPUs of a device and of the host during the collection, by
// CPU type. Source: cann_system.md 11.
#include <array>
#include <map>

#include "export/products.hpp"
#include "export/scope/cann_rules.hpp"
#include "export/scope/counter_samples.hpp"
#include "export/summary/cann_counter_tables.hpp"

namespace msprof {

namespace {

constexpr std::array<std::string_view, 6> kShownStates = {"User", "Sys",  "IoWait",
                                                          "Irq",  "Soft", "Idle"};

struct CpuTime {
  std::array<int128, kShownStates.size()> states{};
  int128 total = 0;  // includes states that are not shown
};

class CannCpuUsage : public cann::CannTable {
 public:
  CannCpuUsage()
      : CannTable({.name = "cpu_usage",
                   .title = "CPU usage",
                   .help = "CPU usage of devices and host during the collection",
                   .exists = exists_counters("cpu_usage"),
                   .needs = {"cpu_usage"},
                   .group = kCounterLayers},
                  {"Device_id", "Cpu Type", "User(%)", "Sys(%)", "IoWait(%)", "Irq(%)", "Soft(%)",
                   "Idle(%)"}) {}

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    CounterSamples samples(db, "cpu_usage", output_file.scope);
    const std::int64_t begin_ns = cann::window_begin_ns(db);
    const auto& tracks = samples.tracks();
    // If there is a track of all host CPUs, which includes them, single CPUs are skipped.
    bool has_host_total = false;
    for (const CounterTrack& track : tracks)
      has_host_total = has_host_total || (!track.device && !track.number);

    struct TypeGroup {
      const CounterTrack* track = nullptr;
      CpuTime time;
    };
    // By device, host last, and type.
    std::map<std::pair<std::int64_t, std::string>, TypeGroup> groups;
    while (samples.next()) {
      const CounterTrack& track = *samples->track;
      const bool is_repeated = !track.device && has_host_total && track.number;
      if (track.detail.empty() || is_repeated || samples->begin_ns.value_or(INT64_MIN) < begin_ns)
        continue;
      TypeGroup& group = groups[{track.device.value_or(INT64_MAX), track.detail}];
      group.track = &track;
      group.time.total += samples->value;
      for (std::size_t i = 0; i < kShownStates.size(); ++i) {
        if (kShownStates[i] == track.counter) group.time.states[i] += samples->value;
      }
    }
    for (const auto& [key, group] : groups) {
      if (group.time.total == 0) continue;
      cann::device_cell(out, *group.track);
      out.text(key.second);
      for (const int128 state : group.time.states) {
        cann::python_rounded3(
            out, static_cast<double>(state) / static_cast<double>(group.time.total) * 100);
      }
      out.end_row();
    }
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann_cpu_usage() {
  return std::make_unique<CannCpuUsage>();
}

}  // namespace msprof
