// Layer ai_core_utilization: utilization of each AI core and their mean, as counters, from sampled
// counters. Source: cann_device.md 6.4.
#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "base/vendor_real.hpp"
#include "export/products.hpp"
#include "export/scope/core_sums.hpp"
#include "export/timeline/cann_counter_layer.hpp"

namespace msprof {

namespace {

// Averages the n-th values of all cores, because the cores are not sampled at exactly the same
// time. A core without an n-th value is left out.
class CoreMeans {
 public:
  struct Value {
    std::int64_t time_ns = 0;
    double shown = 0;
  };

  explicit CoreMeans(std::size_t cores) : waiting_(cores) {}

  // `visit` receives the time of the first core that has a value, and the mean.
  template <typename Visit>
  void add(std::size_t core, Value value, Visit&& visit) {
    constexpr std::size_t kMaxWaiting = 1 << 16;
    if (waiting_[core].empty()) ++filled_;
    waiting_[core].push_back(value);
    if (filled_ == waiting_.size() || waiting_[core].size() > kMaxWaiting) give(visit);
  }
  template <typename Visit>
  void finish(Visit&& visit) {
    while (filled_ > 0) give(visit);
  }

 private:
  template <typename Visit>
  void give(Visit&& visit) {
    double sum = 0;
    std::int64_t count = 0;
    std::int64_t time_ns = 0;
    for (auto& values : waiting_) {
      if (values.empty()) continue;
      if (count == 0) time_ns = values.front().time_ns;
      sum += values.front().shown;
      ++count;
      values.pop_front();
      if (values.empty()) --filled_;
    }
    visit(time_ns, sum / static_cast<double>(count));
  }

  std::vector<std::deque<Value>> waiting_;  // by index of the core
  std::size_t filled_ = 0;
};

class CoreUtilizationLayer : public cann::CounterLayer {
 public:
  CoreUtilizationLayer()
      : CounterLayer(
            {.name = "ai_core_utilization",
             .help = "utilization of the AI cores, from sampled counters",
             .exists = exists_counters(kSampledCores),
             .needs = {"core_samples"},
             .group = kCounterLayers},
            {kSampledCores, cann::TraceProcess::core_utilization, "AI Core Utilization", true}) {}

  void write(const Database& db, const OutputFile& output_file, TraceWriter& out) const override {
    CounterSamples samples(db, process().kind, output_file.scope);
    cann::CounterProcesses processes(db, output_file, process(), samples.tracks(), out);
    struct Core {
      const CounterTrack* track = nullptr;
      std::string name;
      std::size_t place = 0;  // index among the cores of its device
    };
    std::vector<Core> cores;
    for (const CounterTrack& track : samples.tracks()) {
      if (track.part == 0 && track.is_rate)
        cores.push_back({&track, fmt::format("Core {}", track.number.value_or(0))});
    }
    std::sort(cores.begin(), cores.end(), [](const Core& a, const Core& b) {
      return std::tie(a.track->device, a.track->number, a.track->index) <
             std::tie(b.track->device, b.track->number, b.track->index);
    });
    std::vector<const Core*> of_track(samples.tracks().size(), nullptr);
    std::map<std::optional<std::int64_t>, std::size_t> counts;
    for (Core& core : cores) {
      core.place = counts[core.track->device]++;
      of_track[core.track->index] = &core;
    }
    const CounterTrack* last = nullptr;
    std::optional<CoreMeans> means;
    const auto write_mean = [&](std::int64_t time_ns, double mean) {
      write_event(out, "Average", processes.lane(*last), time_ns, mean);
    };
    while (samples.next()) {
      const Core* core = of_track[samples->track->index];
      // The interval of a core's first sample is unknown.
      if (core == nullptr || !samples->begin_ns) continue;
      if (last == nullptr || last->device != core->track->device) {
        if (means) means->finish(write_mean);
        means.emplace(counts[core->track->device]);
        last = core->track;
        processes.begin(*last);
      }
      const double shown = python_round(samples->shown(), 6);
      write_event(out, core->name, processes.lane(*core->track), samples->time_ns, shown);
      means->add(core->place, {samples->time_ns, shown}, write_mean);
    }
    if (means) means->finish(write_mean);
  }

 private:
  static void write_event(TraceWriter& out, TraceText name, TraceLane lane, std::int64_t time_ns,
                          double percent) {
    out.begin_counter(name, lane, time_ns);
    out.argument("Utilization(%)", fmt::format("{:.6f}", percent));
    out.end_event();
  }
};

}  // namespace

std::unique_ptr<TimelineLayer> make_cann_core_utilization_counters() {
  return std::make_unique<CoreUtilizationLayer>();
}

}  // namespace msprof
