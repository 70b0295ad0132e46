// Layers nic and roce: what the ports of the network sent and received, as counters.
// Source: cann_system.md 9.
#include <cmath>

#include "export/json_text.hpp"
#include "export/network_lines.hpp"
#include "export/products.hpp"
#include "export/timeline/cann_counter_layer.hpp"

namespace msprof {

namespace {

class NetworkLayer : public cann::CounterLayer {
 public:
  using CounterLayer::CounterLayer;

  void write(const Database& db, const OutputFile& output_file,
             TraceJsonWriter& out) const override {
    CounterSamples samples(db, process().kind, output_file.scope);
    cann::CounterProcesses processes(db, output_file, process(), samples.tracks(), out);
    for_each_counter_moment<network::kCells>(
        samples, network::cell_of, [&](const network::Line& line) {
          // Of no bandwidth nothing is a part.
          if (line.shown(network::kBandwidth) == 0) return;
          processes.begin(*line.track);
          write_direction(out, processes, line, network::kRx, "Rx");
          write_direction(out, processes, line, network::kTx, "Tx");
        });
  }

 private:
  static void write_direction(TraceJsonWriter& out, const cann::CounterProcesses& processes,
                              const network::Line& line, std::size_t first,
                              const std::string& direction) {
    constexpr double kBits = 8;
    constexpr double kMegabyte = 1 << 20;
    const double bandwidth = line.shown(network::kBandwidth) * kMegabyte;
    const double bytes = std::trunc(line.shown(first + network::kByteRate));
    const double packets = line.shown(first + network::kPackets);
    const auto part = [&](network::Cell cell) {
      return packets == 0 ? 0 : line.shown(first + cell) / packets;
    };
    const std::string name = json_string(line.track->subject + "/" + direction);
    const auto value = [&](const char* what, double number) {
      out.argument_number({json_string(direction + what)}, number);
    };
    out.begin_counter({name}, processes.lane(*line.track), line.time_ns);
    value(" Bandwidth Efficiency", python_round(bytes * kBits / bandwidth, 3));
    value(" Packets", line.shown(first + network::kPacketRate));
    value(" Error Rate", part(network::kErrors));
    value(" Dropped Rate", part(network::kDropped));
    out.end_slice();
  }
};

}  // namespace

std::unique_ptr<TimelineLayer> make_cann_nic_counters() {
  return std::make_unique<NetworkLayer>(
      LayerInfo{.name = "nic",
                .help = "what the ports of the NIC sent and received",
                .exists = exists_counters("nic"),
                .needs = {"nic"},
                .group = kCounterLayers},
      cann::CounterProcess{"nic", cann::TraceProcess::nic, "NIC"});
}

std::unique_ptr<TimelineLayer> make_cann_roce_counters() {
  return std::make_unique<NetworkLayer>(
      LayerInfo{.name = "roce",
                .help = "what the ports of RoCE sent and received",
                .exists = exists_counters("roce"),
                .needs = {"roce"},
                .group = kCounterLayers},
      cann::CounterProcess{"roce", cann::TraceProcess::roce, "RoCE"});
}

}  // namespace msprof
