// process_cpu_usage: share of the time of all CPUs that a process used since its start, averaged
// over the samples. Source: cann_system.md 11.
#include <algorithm>
#include <vector>

#include "export/products.hpp"
#include "export/scope/counter_moments.hpp"
#include "export/summary/cann_counter_tables.hpp"

namespace msprof {

namespace {

constexpr std::array<std::string_view, 5> kProcessTimeCounters = {
    "User Time", "Sys Time", "Children User Time", "Children Sys Time", "All CPUs"};
constexpr std::size_t kAllCpusCell = 4;

struct ProcessShare {
  const CounterTrack* track = nullptr;
  cann::Mean share{};
};

class CannProcessCpuUsage : public cann::CannTable {
 public:
  CannProcessCpuUsage()
      : CannTable({.name = "process_cpu_usage",
                   .title = "CPU usage of processes",
                   .help = "share of each process in the time of all CPUs",
                   .exists = exists_counters("process_cpu_usage"),
                   .needs = {"process_cpu_usage"},
                   .group = kCounterLayers},
                  {"Device_id", "PID", "Name", "CPU(%)"}) {}

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    CounterSamples samples(db, "process_cpu_usage", output_file.scope);
    std::vector<ProcessShare> processes;
    const auto find_cell = [](const CounterTrack& track) {
      return static_cast<std::size_t>(
          std::find(kProcessTimeCounters.begin(), kProcessTimeCounters.end(), track.counter) -
          kProcessTimeCounters.begin());
    };
    for_each_counter_moment<kProcessTimeCounters.size()>(
        samples, find_cell, [&](const CounterMoment<kProcessTimeCounters.size()>& moment) {
          const auto is_it = [&](const ProcessShare& process) {
            return process.track->device == moment.track->device &&
                   process.track->number == moment.track->number;
          };
          // Samples of a process are consecutive, so the search starts at the last one.
          auto found = std::find_if(processes.rbegin(), processes.rend(), is_it);
          if (found == processes.rend()) {
            processes.push_back({moment.track});
            found = processes.rbegin();
          }
          double own = 0;
          for (std::size_t i = 0; i < kAllCpusCell; ++i)
            own += static_cast<double>(moment.value(i));
          const auto all = static_cast<double>(moment.value(kAllCpusCell));
          if (all > 0) found->share.add(own / all);
        });
    std::stable_sort(
        processes.begin(), processes.end(), [](const ProcessShare& a, const ProcessShare& b) {
          if (a.track->device != b.track->device)
            return a.track->device.value_or(INT64_MAX) < b.track->device.value_or(INT64_MAX);
          return a.share.value() > b.share.value();
        });
    for (const ProcessShare& process : processes) {
      cann::device_cell(out, *process.track);
      out.number(process.track->number.value_or(0));
      out.text(process.track->detail);
      const auto count = static_cast<double>(process.share.count());
      process.share.count() == 0 ? out.missing()
                                 : cann::python_rounded3(out, 100 * process.share.sum() / count);
      out.end_row();
    }
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann_process_cpu_usage() {
  return std::make_unique<CannProcessCpuUsage>();
}

}  // namespace msprof
