// The counters of a NIC or RoCE port as the cells of a CounterMoment. Source: cann_system.md 9.
#pragma once

#include <array>
#include <string_view>

#include "export/scope/counter_moments.hpp"

namespace msprof::network {

// Cells of one direction, in this order.
enum Cell : std::size_t {
  kPacketRate,
  kByteRate,
  kPackets,
  kBytes,
  kErrors,
  kDropped,
  kCellsOfOne
};

inline constexpr std::size_t kBandwidth = 0;
inline constexpr std::size_t kRx = 1;
inline constexpr std::size_t kTx = kRx + kCellsOfOne;
inline constexpr std::size_t kCells = kTx + kCellsOfOne;
using Line = CounterMoment<kCells>;

inline constexpr std::array<std::string_view, kCells> kCounters = {
    "Bandwidth", "Rx Packet Rate", "Rx Byte Rate",   "Rx Packets",   "Rx Bytes",
    "Rx Errors", "Rx Dropped",     "Tx Packet Rate", "Tx Byte Rate", "Tx Packets",
    "Tx Bytes",  "Tx Errors",      "Tx Dropped"};

inline std::size_t find_cell(const CounterTrack& track) {
  std::size_t cell = 0;
  while (cell < kCells && kCounters[cell] != track.counter) ++cell;
  return cell;
}

}  // namespace msprof::network
