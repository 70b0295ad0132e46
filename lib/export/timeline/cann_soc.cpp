// Layers acc_pmu, stars_soc, stars_chip_trans, sio, qos and ub: SoC counters of accelerators, dies,
// links and masters. Source: cann_system.md 13, 14, 22.
#include <algorithm>
#include <map>

#include "export/products.hpp"
#include "export/scope/counter_moments.hpp"
#include "export/timeline/cann_counter_layer.hpp"

namespace msprof {

namespace {

LayerInfo soc_layer(std::string_view name, std::string_view help, std::string_view needs,
                    std::string_view kind) {
  return {.name = name,
          .help = help,
          .exists = exists_counters(kind),
          .needs = {needs},
          .group = kCounterLayers};
}

// Each event has the largest value of all accelerators at its time.
class AccPmuLayer : public cann::CounterLayer {
 public:
  AccPmuLayer()
      : CounterLayer(soc_layer("acc_pmu", "bandwidth and outstanding commands of accelerators",
                               "stars_soc_profile", "acc_pmu"),
                     {"acc_pmu", cann::TraceProcess::acc_pmu, "Acc PMU"}) {}

  void write(const Database& db, const OutputFile& output_file, TraceWriter& out) const override {
    CounterSamples samples(db, process().kind, output_file.scope);
    cann::CounterProcesses processes(db, output_file, process(), samples.tracks(), out);
    std::map<std::string_view, std::int64_t> largest;
    for_each_time(samples, [&](std::span<const CounterSample> group) {
      const CounterTrack& track = *group.front().track;
      largest.clear();
      for (const CounterSample& sample : group) {
        const auto [at, is_new] = largest.try_emplace(sample.track->counter, sample.value);
        if (!is_new) at->second = std::max(at->second, sample.value);
      }
      processes.begin(track);
      for (const auto& [counter, value] : largest) {
        out.counter(counter, processes.lane(track), group.front().time_ns, "value", value);
      }
    });
  }
};

// Writes the stored value under a key.
class SocLevelLayer : public cann::CounterLayer {
 public:
  SocLevelLayer()
      : CounterLayer(soc_layer("stars_soc", "bandwidth levels of the L2 buffer and of MATA",
                               "stars_soc_profile", "stars_soc"),
                     {"stars_soc", cann::TraceProcess::stars_soc, "Stars Soc Info"}) {}

 private:
  std::string event_name(const CounterTrack& track) const override { return track.counter; }
  std::string value_key(const CounterTrack& track) const override { return track.counter; }
  void write_value(TraceWriter& out, TraceText key, const CounterSample& sample) const override {
    out.argument(key, sample.value);
  }
};

class ChipTransLayer : public cann::CounterLayer {
 public:
  ChipTransLayer()
      : CounterLayer(soc_layer("stars_chip_trans", "traffic over PA links and PCIe",
                               "stars_soc_profile", "stars_chip_trans"),
                     {"stars_chip_trans", cann::TraceProcess::chip_trans, "Stars Chip Trans"}) {}

  void write(const Database& db, const OutputFile& output_file, TraceWriter& out) const override {
    CounterSamples samples(db, process().kind, output_file.scope);
    cann::CounterProcesses processes(db, output_file, process(), samples.tracks(), out);
    struct Event {
      std::string name;
      std::string key;
      std::string_view id_key;  // empty: the key already identifies it
      TraceLane lane;
    };
    std::vector<Event> events;
    for (const CounterTrack& track : samples.tracks()) {
      constexpr std::int64_t kPaLink = 63;
      Event event;
      event.name = track.counter;
      event.key = track.part ? event.name : track.subject;
      const bool is_link = track.part == kPaLink;
      if (track.part) event.id_key = is_link ? "PA Link ID" : "PCIE ID";
      event.lane = processes.lane(track, !track.part ? 0 : is_link ? 111111 : 100010);
      events.push_back(std::move(event));
    }
    while (samples.next()) {
      const Event& event = events[samples->track->index];
      processes.begin(*samples->track);
      out.begin_counter(event.name, event.lane, samples->time_ns);
      out.argument(event.key, samples->value);
      if (!event.id_key.empty()) out.argument(event.id_key, samples->track->number.value_or(0));
      out.end_event();
    }
  }
};

// Writes one event per time with the values of all dies, each under the name of its die.
class DieLayer : public cann::CounterLayer {
 public:
  using CounterLayer::CounterLayer;

  void write(const Database& db, const OutputFile& output_file, TraceWriter& out) const override {
    CounterSamples samples(db, process().kind, output_file.scope);
    cann::CounterProcesses processes(db, output_file, process(), samples.tracks(), out);
    std::vector<std::string> names;
    std::vector<std::string> keys;
    for (const CounterTrack& track : samples.tracks()) {
      names.push_back(event_name(track));
      keys.push_back(value_key(track));
    }
    std::vector<const CounterSample*> sorted;
    for_each_time(samples, [&](std::span<const CounterSample> group) {
      const CounterTrack& track = *group.front().track;
      sorted.clear();
      for (const CounterSample& sample : group)
        if (draws(*sample.track)) sorted.push_back(&sample);
      if (sorted.empty()) return;
      processes.begin(track);
      const auto sample_name = [&](const CounterSample* sample) -> const std::string& {
        return names[sample->track->index];
      };
      std::stable_sort(sorted.begin(), sorted.end(), [&](const auto* a, const auto* b) {
        return sample_name(a) < sample_name(b);
      });
      for (std::size_t i = 0; i < sorted.size(); ++i) {
        if (i == 0 || sample_name(sorted[i]) != sample_name(sorted[i - 1])) {
          if (i > 0) out.end_event();
          out.begin_counter(sample_name(sorted[i]), processes.lane(track), group.front().time_ns);
        }
        write_value(out, keys[sorted[i]->track->index], *sorted[i]);
      }
      out.end_event();
    });
  }
};

class SioLayer : public DieLayer {
 public:
  SioLayer()
      : DieLayer(soc_layer("sio", "traffic between dies", "stars_soc_profile", "sio"),
                 {"sio", cann::TraceProcess::sio, "SIO"}) {}

 private:
  std::string event_name(const CounterTrack& track) const override { return track.counter; }
  std::string value_key(const CounterTrack& track) const override {
    return std::string(sio_die(track));
  }
  void write_value(TraceWriter& out, TraceText key, const CounterSample& sample) const override {
    out.argument_number(key, sio_megabytes(sample));
  }
};

class QosLayer : public DieLayer {
 public:
  QosLayer()
      : DieLayer(soc_layer("qos", "bandwidth of groups of masters", "qos|stars_soc_profile", "qos"),
                 {"qos", cann::TraceProcess::qos, "QoS"}) {}

 private:
  std::string event_name(const CounterTrack& track) const override { return track.subject; }
  std::string value_key(const CounterTrack& track) const override {
    return track.part ? "die " + std::to_string(*track.part) : "value";
  }
  void write_value(TraceWriter& out, TraceText key, const CounterSample& sample) const override {
    out.argument(key, sample.value);
  }
};

// One event per port and time.
class UbLayer : public DieLayer {
 public:
  UbLayer()
      : DieLayer(soc_layer("ub", "bandwidth of the ports of the unified bus", "ub", "ub"),
                 {"ub", cann::TraceProcess::ub, "UB"}) {}

 private:
  bool draws(const CounterTrack& track) const override {
    return track.counter == "bandwidth_rx" || track.counter == "bandwidth_tx";
  }
  std::string event_name(const CounterTrack& track) const override { return track.subject; }
  void write_value(TraceWriter& out, TraceText key, const CounterSample& sample) const override {
    out.argument(key, sample.value);
  }
};

}  // namespace

std::unique_ptr<TimelineLayer> make_cann_acc_pmu() {
  return std::make_unique<AccPmuLayer>();
}

std::unique_ptr<TimelineLayer> make_cann_stars_soc() {
  return std::make_unique<SocLevelLayer>();
}

std::unique_ptr<TimelineLayer> make_cann_chip_trans() {
  return std::make_unique<ChipTransLayer>();
}

std::unique_ptr<TimelineLayer> make_cann_sio() {
  return std::make_unique<SioLayer>();
}

std::unique_ptr<TimelineLayer> make_cann_qos() {
  return std::make_unique<QosLayer>();
}

std::unique_ptr<TimelineLayer> make_cann_ub_counters() {
  return std::make_unique<UbLayer>();
}

}  // namespace msprof
