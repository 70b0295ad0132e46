// Layers npu_mem, ddr, llc and pcie: memory in use, and traffic of memory, caches and PCIe, as
// counters. Source: cann_system.md 2, 5, 6, 7.
#include <array>

#include "export/products.hpp"
#include "export/scope/pcie_records.hpp"
#include "export/timeline/cann_counter_layer.hpp"

namespace msprof {

namespace {

class NpuMemLayer : public cann::CounterLayer {
 public:
  NpuMemLayer()
      : CounterLayer({.name = "npu_mem",
                      .help = "memory in use, of the application and of the device",
                      .exists = exists_counters("npu_mem"),
                      .needs = {"npu_mem"},
                      .group = kCounterLayers},
                     {"npu_mem", cann::TraceProcess::npu_memory, "NPU MEM"}) {}

 private:
  std::string event_name(const CounterTrack& track) const override {
    return track.detail + "/" + track.counter;
  }
  std::string value_key(const CounterTrack& track) const override { return track.unit; }
  void write_value(TraceWriter& out, TraceText key, const CounterSample& sample) const override {
    out.argument_number(key, sample.shown());
  }
};

class DdrLayer : public cann::CounterLayer {
 public:
  DdrLayer()
      : CounterLayer({.name = "ddr",
                      .help = "bandwidth of the DDR",
                      .exists = exists_counters("ddr"),
                      .needs = {"ddr"},
                      .group = kCounterLayers},
                     {"ddr", cann::TraceProcess::ddr, "DDR"}) {}

 private:
  // Tracks of single masters are not drawn.
  bool draws(const CounterTrack& track) const override { return !track.number; }
  void write_value(TraceWriter& out, TraceText key, const CounterSample& sample) const override {
    out.argument_number(key, sample.shown());
  }
};

// A process of the layer llc, for the tracks that `takes` selects.
class LlcProcess : public cann::CounterLayer {
 public:
  using Takes = bool (*)(const CounterTrack& track);
  LlcProcess(const LayerInfo& info, const cann::CounterProcess& process, Takes takes)
      : CounterLayer(info, process), takes_(takes) {}

 private:
  bool draws(const CounterTrack& track) const override { return takes_(track); }
  std::string event_name(const CounterTrack& track) const override {
    return track.counter == "Capacity" ? "Core " + std::to_string(track.number.value_or(0))
                                       : CounterLayer::event_name(track);
  }
  Takes takes_;
};

class LlcLayer : public cann::CannLayer {
 public:
  LlcLayer()
      : CannLayer({.name = "llc",
                   .help = "hit rate and throughput of the last level caches",
                   .exists = exists_counters("llc"),
                   .needs = {"llc"},
                   .group = kCounterLayers}) {}

  void write(const Database& db, const OutputFile& output_file, TraceWriter& out) const override {
    struct LlcLane {
      std::string_view name;
      cann::TraceProcess process;
      LlcProcess::Takes takes;
    };
    // The last three are for the 310, which has no SIO.
    static constexpr LlcLane kParts[] = {
        {"LLC", cann::TraceProcess::llc,
         [](const CounterTrack& track) {
           return track.counter == "Hit Rate" || track.counter == "Throughput";
         }},
        {"LLC Bandwidth", cann::TraceProcess::llc,
         [](const CounterTrack& track) {
           return track.subject == "LLC" && (track.counter == "Read" || track.counter == "Write");
         }},
        {"LLC of AI CPU", cann::TraceProcess::llc,
         [](const CounterTrack& track) { return track.detail == "AI CPU"; }},
        {"LLC of Ctrl CPU", cann::TraceProcess::sio,
         [](const CounterTrack& track) { return track.detail == "Ctrl CPU"; }}};
    const auto tracks = counter_tracks(db, "llc");
    for (const LlcLane& part : kParts) {
      if (std::any_of(tracks.begin(), tracks.end(), part.takes))
        LlcProcess(info(), {"llc", part.process, part.name}, part.takes)
            .write(db, output_file, out);
    }
  }
};

class PcieLayer : public cann::CannLayer {
 public:
  PcieLayer()
      : CannLayer({.name = "pcie",
                   .help = "traffic and latency of PCIe",
                   .exists = exists_counters("pcie"),
                   .needs = {"pcie"},
                   .group = kCounterLayers}) {}

  void write(const Database& db, const OutputFile& output_file, TraceWriter& out) const override {
    struct Event {
      TraceText name;
      std::size_t tx;
      std::size_t rx;  // kGroups: always 0
    };
    const std::array<Event, 4> events = {
        Event{"PCIe_post", 0, 4}, Event{"PCIe_nonpost", 1, 5}, Event{"PCIe_cpl", 2, 6},
        Event{"PCIe_nonpost_latency", PcieRecord::kLatency, PcieRecord::kGroups}};
    const auto tracks = counter_tracks(db, "pcie");
    cann::CounterProcesses processes(db, output_file,
                                     {"pcie", cann::TraceProcess::pcie, "PCIe", true}, tracks, out);
    PcieRecords records(db, output_file.scope);
    while (records.next()) {
      processes.begin(*records->track);
      const TraceLane lane = processes.lane(*records->track);
      for (const Event& event : events) {
        out.begin_counter(event.name, lane, records->time_ns);
        out.argument_number("Tx", mean_value(*records, event.tx));
        out.argument_number("Rx", mean_value(*records, event.rx));
        out.end_event();
      }
    }
  }

 private:
  // Returns MB/s; latency in us.
  static double mean_value(const PcieRecord& record, std::size_t group) {
    if (group == PcieRecord::kGroups) return 0;
    const auto value = static_cast<double>(record.values[group][2].value_or(0));
    return group == PcieRecord::kLatency ? value / 1000 : value / 1024 / 1024;
  }
};

}  // namespace

std::unique_ptr<TimelineLayer> make_cann_npu_mem_counters() {
  return std::make_unique<NpuMemLayer>();
}

std::unique_ptr<TimelineLayer> make_cann_ddr_counters() {
  return std::make_unique<DdrLayer>();
}

std::unique_ptr<TimelineLayer> make_cann_llc_counters() {
  return std::make_unique<LlcLayer>();
}

std::unique_ptr<TimelineLayer> make_cann_pcie_counters() {
  return std::make_unique<PcieLayer>();
}

}  // namespace msprof
