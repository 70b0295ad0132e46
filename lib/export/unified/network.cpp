// Tables of the network: NIC, ROCE, NETDEV_STATS. Source: cann_system.md 9, 12.
#include <algorithm>
#include <array>

#include "export/scope/network_lines.hpp"
#include "export/unified/unified_counters.hpp"

namespace msprof::unified {

namespace {

constexpr std::string_view kNetworkColumns =
    "deviceId INTEGER, timestampNs INTEGER, bandwidth INTEGER, rxPacketRate NUMERIC,"
    " rxByteRate NUMERIC, rxPackets INTEGER, rxBytes INTEGER, rxErrors INTEGER, rxDropped INTEGER,"
    " txPacketRate NUMERIC, txByteRate NUMERIC, txPackets INTEGER, txBytes INTEGER,"
    " txErrors INTEGER, txDropped INTEGER, funcId INTEGER";
constexpr std::uint32_t kRateColumns = 1U << 3 | 1U << 4 | 1U << 9 | 1U << 10;
constexpr UnifiedTable kNic{"NIC", kNetworkColumns, {}, kRateColumns};
constexpr UnifiedTable kRoce{"ROCE", kNetworkColumns, {}, kRateColumns};

constexpr UnifiedTable kNetdevStats{
    "NETDEV_STATS",
    "deviceId INTEGER, timestampNs INTEGER, macTxPfcPkt INTEGER, macRxPfcPkt INTEGER,"
    " macTxByte INTEGER, macTxBandwidth NUMERIC, macRxByte INTEGER, macRxBandwidth NUMERIC,"
    " macTxBadByte INTEGER, macRxBadByte INTEGER, roceTxPkt INTEGER, roceRxPkt INTEGER,"
    " roceTxErrPkt INTEGER, roceRxErrPkt INTEGER, roceTxCnpPkt INTEGER, roceRxCnpPkt INTEGER,"
    " roceNewPktRty INTEGER, nicTxByte INTEGER, nicTxBandwidth NUMERIC, nicRxByte INTEGER,"
    " nicRxBandwidth NUMERIC",
    {},
    1U << 5 | 1U << 7 | 1U << 18 | 1U << 20};

struct NetdevTrack {
  std::string_view subject;
  std::string_view counter;
};
constexpr std::array<NetdevTrack, 15> kNetdevTracks = {{{"MAC", "Tx PFC Packets"},
                                                        {"MAC", "Rx PFC Packets"},
                                                        {"MAC", "Tx"},
                                                        {"MAC", "Rx"},
                                                        {"MAC", "Tx Bad"},
                                                        {"MAC", "Rx Bad"},
                                                        {"RoCE", "Tx Packets"},
                                                        {"RoCE", "Rx Packets"},
                                                        {"RoCE", "Tx Error Packets"},
                                                        {"RoCE", "Rx Error Packets"},
                                                        {"RoCE", "Tx CNP Packets"},
                                                        {"RoCE", "Rx CNP Packets"},
                                                        {"RoCE", "New Packet Retries"},
                                                        {"NIC", "Tx"},
                                                        {"NIC", "Rx"}}};

std::size_t netdev_cell(const CounterTrack& track) {
  const auto* const found =
      std::find_if(kNetdevTracks.begin(), kNetdevTracks.end(), [&](const NetdevTrack& wanted) {
        return wanted.subject == track.subject && wanted.counter == track.counter;
      });
  return static_cast<std::size_t>(found - kNetdevTracks.begin());
}

void write_network(UnifiedWriter& out, const UnifiedTable& table, std::string_view kind) {
  using namespace network;
  UnifiedRows rows(out, table);
  CounterSamples samples(out.store(), kind, {});
  for_each_counter_moment<kCells>(samples, find_cell, [&](const Line& line) {
    const auto rate = [&](std::size_t cell) { return real_cell(line.shown(cell)); };
    const auto count = [&](std::size_t cell) { return line.value(cell); };
    const CounterSample& bandwidth = line.cells[kBandwidth];
    constexpr std::int64_t kMegabyte = 1 << 20;
    const std::int64_t bytes_per_second =
        line.has(kBandwidth)
            ? wide_cell(bandwidth.numerator() * kMegabyte / bandwidth.denominator())
            : 0;
    rows.add({device_or_host(*line.track), line.time_ns, bytes_per_second, rate(kRx + kPacketRate),
              rate(kRx + kByteRate), count(kRx + kPackets), count(kRx + kBytes),
              count(kRx + kErrors), count(kRx + kDropped), rate(kTx + kPacketRate),
              rate(kTx + kByteRate), count(kTx + kPackets), count(kTx + kBytes),
              count(kTx + kErrors), count(kTx + kDropped), line.track->number.value_or(0)});
  });
}

}  // namespace

void write_nic(UnifiedWriter& out) {
  write_network(out, kNic, "nic");
}

void write_roce(UnifiedWriter& out) {
  write_network(out, kRoce, "roce");
}

void write_netdev_stats(UnifiedWriter& out) {
  UnifiedRows rows(out, kNetdevStats);
  CounterSamples samples(out.store(), "netdev_stats", {});
  constexpr std::size_t kTracks = kNetdevTracks.size();
  for_each_counter_moment<kTracks>(samples, netdev_cell, [&](const CounterMoment<kTracks>& moment) {
    const auto amount = [&](std::size_t cell) { return moment.value(cell); };
    const double seconds = static_cast<double>(saturating_subtract(
                               moment.time_ns, moment.begin_ns.value_or(moment.time_ns))) /
                           1e9;
    const auto rate = [&](std::size_t cell) {
      return real_cell(seconds > 0 ? static_cast<double>(amount(cell)) / seconds : 0);
    };
    rows.add({device_or_host(*moment.track),
              moment.time_ns,
              amount(0),
              amount(1),
              amount(2),
              rate(2),
              amount(3),
              rate(3),
              amount(4),
              amount(5),
              amount(6),
              amount(7),
              amount(8),
              amount(9),
              amount(10),
              amount(11),
              amount(12),
              amount(13),
              rate(13),
              amount(14),
              rate(14)});
  });
}

}  // namespace msprof::unified
