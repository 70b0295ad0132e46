// Layers nic and roce: data sent and received by network ports, as counters. Source:
// cann_system.md 9.
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "base/vendor_real.hpp"
#include "export/products.hpp"
#include "export/scope/network_lines.hpp"
#include "export/timeline/cann_counter_layer.hpp"

namespace msprof {

namespace {

// Names for one direction.
struct DirectionNames {
  std::size_t first;  // index of its first cell
  std::string_view ending;
  TraceText efficiency;
  TraceText packets;
  TraceText errors;
  TraceText dropped;
};
constexpr std::array kDirections = {
    DirectionNames{network::kRx, "/Rx", "Rx Bandwidth Efficiency", "Rx Packets", "Rx Error Rate",
                   "Rx Dropped Rate"},
    DirectionNames{network::kTx, "/Tx", "Tx Bandwidth Efficiency", "Tx Packets", "Tx Error Rate",
                   "Tx Dropped Rate"},
};

class NetworkLayer : public cann::CounterLayer {
 public:
  using CounterLayer::CounterLayer;

  void write(const Database& db, const OutputFile& output_file, TraceWriter& out) const override {
    CounterSamples samples(db, process().kind, output_file.scope);
    cann::CounterProcesses processes(db, output_file, process(), samples.tracks(), out);
    struct PortLane {
      TraceLane lane;
      std::array<std::string, kDirections.size()> names;
    };
    std::vector<PortLane> ports;  // by track
    for (const CounterTrack& track : samples.tracks()) {
      PortLane& port = ports.emplace_back();
      port.lane = processes.lane(track);
      for (std::size_t i = 0; i < kDirections.size(); ++i)
        port.names[i] = track.subject + std::string(kDirections[i].ending);
    }
    for_each_counter_moment<network::kCells>(
        samples, network::find_cell, [&](const network::Line& line) {
          // Efficiency cannot be computed without a bandwidth.
          if (line.shown(network::kBandwidth) == 0) return;
          processes.begin(*line.track);
          const PortLane& port = ports[line.track->index];
          for (std::size_t i = 0; i < kDirections.size(); ++i) {
            out.begin_counter(port.names[i], port.lane, line.time_ns);
            write_values(out, line, kDirections[i]);
            out.end_event();
          }
        });
  }

 private:
  static void write_values(TraceWriter& out, const network::Line& line,
                           const DirectionNames& names) {
    constexpr double kBits = 8;
    constexpr double kMegabyte = 1 << 20;
    const double bandwidth = line.shown(network::kBandwidth) * kMegabyte;
    const double bytes = std::trunc(line.shown(names.first + network::kByteRate));
    const double packets = line.shown(names.first + network::kPackets);
    const auto part = [&](network::Cell cell) {
      return packets == 0 ? 0 : line.shown(names.first + cell) / packets;
    };
    out.argument_number(names.efficiency, python_round(bytes * kBits / bandwidth, 3));
    out.argument_number(names.packets, line.shown(names.first + network::kPacketRate));
    out.argument_number(names.errors, part(network::kErrors));
    out.argument_number(names.dropped, part(network::kDropped));
  }
};

}  // namespace

std::unique_ptr<TimelineLayer> make_cann_nic_counters() {
  return std::make_unique<NetworkLayer>(
      LayerInfo{.name = "nic",
                .help = "traffic of the NIC ports",
                .exists = exists_counters("nic"),
                .needs = {"nic"},
                .group = kCounterLayers},
      cann::CounterProcess{"nic", cann::TraceProcess::nic, "NIC"});
}

std::unique_ptr<TimelineLayer> make_cann_roce_counters() {
  return std::make_unique<NetworkLayer>(
      LayerInfo{.name = "roce",
                .help = "traffic of the RoCE ports",
                .exists = exists_counters("roce"),
                .needs = {"roce"},
                .group = kCounterLayers},
      cann::CounterProcess{"roce", cann::TraceProcess::roce, "RoCE"});
}

}  // namespace msprof
