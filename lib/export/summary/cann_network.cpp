// nic, roce: bandwidth use of a port, its packets, and the share of bad ones. Source:
// cann_system.md 9.
#include <algorithm>
#include <vector>

#include "base/vendor_real.hpp"
#include "export/products.hpp"
#include "export/scope/counter_growth.hpp"
#include "export/scope/network_lines.hpp"
#include "export/summary/cann_counter_tables.hpp"

namespace msprof {

namespace {

struct PortDirection {
  CounterGrowth bytes;
  CounterGrowth packets;
  cann::Mean packet_rate;
  cann::Mean errors;
  cann::Mean dropped;
  double last_packets = 0;

  void add(const network::Line& line, std::size_t first) {
    bytes.add(line.value(first + network::kBytes));
    packets.add(line.value(first + network::kPackets));
    packet_rate.add(line.shown(first + network::kPacketRate));
    errors.add(line.shown(first + network::kErrors));
    dropped.add(line.shown(first + network::kDropped));
    last_packets = line.shown(first + network::kPackets);
  }
};

struct PortUse {
  const CounterTrack* track = nullptr;
  std::int64_t first_ns = 0;
  std::int64_t last_ns = 0;
  double bandwidth = 0;  // from the first sample
  PortDirection rx{};
  PortDirection tx{};

  void add(const network::Line& line) {
    if (rx.bytes.count() == 0) {
      first_ns = line.time_ns;
      bandwidth = line.shown(network::kBandwidth);
    }
    last_ns = line.time_ns;
    rx.add(line, network::kRx);
    tx.add(line, network::kTx);
  }
  double seconds() const {
    return static_cast<double>(saturating_subtract(last_ns, first_ns)) / 1e9;
  }
};

// Errors or dropped packets in percent, with the vendor's formula: the mean number of bad packets
// divided by the sum of the packet rates; for a single sample divided by the packets counted so
// far.
double packet_percent(const cann::Mean& bad, const PortDirection& direction) {
  const bool is_single = direction.packet_rate.count() == 1;
  const double whole = is_single ? direction.last_packets : direction.packet_rate.sum();
  return whole == 0 ? 0 : python_round(bad.value() / whole, 3) * 100;
}

class CannNetwork : public cann::CannTable {
 public:
  CannNetwork(const TableInfo& info)
      : CannTable(info, {"Device_id", "Timestamp(us)", "Bandwidth(MB/s)",
                         "Rx Bandwidth efficiency(%)", "rxPacket/s", "rxError rate(%)",
                         "rxDropped rate(%)", "Tx Bandwidth efficiency(%)", "txPacket/s",
                         "txError rate(%)", "txDropped rate(%)", "funcId"}) {}

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    CounterSamples samples(db, name(), output_file.scope);
    std::vector<PortUse> ports;
    std::vector<std::size_t> port_of(samples.tracks().size(), SIZE_MAX);
    const auto find = [&](const CounterTrack& track) -> PortUse& {
      std::size_t& at = port_of[track.index];
      if (at == SIZE_MAX) {
        for (at = 0; at < ports.size(); ++at) {
          const CounterTrack& other = *ports[at].track;
          if (other.device == track.device && other.number == track.number) break;
        }
        if (at == ports.size()) ports.push_back({.track = &track});
      }
      return ports[at];
    };
    for_each_counter_moment<network::kCells>(
        samples, network::find_cell,
        [&](const network::Line& line) { find(*line.track).add(line); });
    std::sort(ports.begin(), ports.end(),
              [](const PortUse& a, const PortUse& b) { return a.track->index < b.track->index; });
    for (const PortUse& port : ports) write_port(out, port);
  }

 private:
  static void write_port(RowBuilder& out, const PortUse& port) {
    cann::device_cell(out, *port.track);
    cann::us_timestamp(out, port.last_ns);
    cann::python_rounded3(out, port.bandwidth);
    write_direction(out, port, port.rx);
    write_direction(out, port, port.tx);
    out.number(port.track->number.value_or(0));
    out.end_row();
  }

  static void write_direction(RowBuilder& out, const PortUse& port,
                              const PortDirection& direction) {
    constexpr double kBits = 8;
    constexpr double kMegabyte = 1 << 20;
    const double seconds = port.seconds();
    const double capacity = seconds * port.bandwidth * kMegabyte;
    const auto bytes = static_cast<double>(direction.bytes.value());
    const auto packets = static_cast<double>(direction.packets.value());
    cann::python_rounded3(out, capacity > 0 ? bytes * kBits / capacity * 100 : 0);
    cann::python_rounded3(out, seconds > 0 ? packets / seconds : direction.packet_rate.value());
    cann::python_rounded3(out, packet_percent(direction.errors, direction));
    cann::python_rounded3(out, packet_percent(direction.dropped, direction));
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann_nic() {
  return std::make_unique<CannNetwork>(
      TableInfo{.name = "nic",
                .title = "NIC",
                .help = "utilization and bad packets of the NIC ports",
                .exists = exists_counters("nic"),
                .needs = {"nic"},
                .group = kCounterLayers});
}

std::unique_ptr<SummaryTable> make_cann_roce() {
  return std::make_unique<CannNetwork>(
      TableInfo{.name = "roce",
                .title = "RoCE",
                .help = "utilization and bad packets of the RoCE ports",
                .exists = exists_counters("roce"),
                .needs = {"roce"},
                .group = kCounterLayers});
}

}  // namespace msprof
