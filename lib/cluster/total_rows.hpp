// Rows that replace RankCollectiveRow if that table would be too large: totals and extremes. Also
// stores 128-bit sums in 64-bit columns. Part of cluster/rows.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/number.hpp"
#include "store/cells.hpp"

namespace msprof::cluster {

// A sum of squares in two columns: the high and the low 64 bits.
struct SquareHalves {
  std::int64_t high = 0;
  std::int64_t low = 0;
};

constexpr SquareHalves to_halves(uint128 sum) {
  return {static_cast<std::int64_t>(sum >> 64), static_cast<std::int64_t>(sum)};
}

constexpr uint128 joined(const SquareHalves& halves) {
  return static_cast<uint128>(static_cast<std::uint64_t>(halves.high)) << 64 |
         static_cast<std::uint64_t>(halves.low);
}

// Total of one rank in the collectives of one operation, group and step.
struct CollectiveTotalRow {
  std::int64_t id = 0;
  std::int64_t step = kNull;
  std::int64_t group_name_id = kNull;
  std::int64_t operation_name_id = kNull;
  std::int64_t member_id = 0;
  std::int64_t count = 0;
  std::int64_t first_start_ns = kNull;
  std::int64_t duration_ns = 0;
  std::int64_t wait_ns = 0;
  std::int64_t synchronization_ns = 0;
  std::int64_t transit_ns = 0;
  std::int64_t size_bytes = 0;

  static constexpr const char* kTable = "collective_total";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY", "step",        "group_name_id",
                                          "operation_name_id",      "member_id",   "count",
                                          "first_start_ns",         "duration_ns", "wait_ns",
                                          "synchronization_ns",     "transit_ns",  "size_bytes"};
};

// A collective over all its ranks, with the three shortest and the three longest durations. Equal
// durations are ordered by member id; unused elements are kNull.
inline constexpr std::size_t kKeptExtremes = 3;
struct CollectiveRow {
  std::int64_t id = 0;
  std::int64_t step = kNull;
  std::int64_t group_name_id = kNull;
  std::int64_t operation_name_id = kNull;
  std::int64_t sequence = 0;
  std::int64_t rank_count = 0;   // number of ranks that recorded it
  std::int64_t duration_ns = 0;  // sum over all ranks
  std::int64_t square_high = 0;  // sum of squares, see SquareHalves
  std::int64_t square_low = 0;
  std::int64_t shortest_ns[kKeptExtremes] = {kNull, kNull, kNull};
  std::int64_t shortest_member[kKeptExtremes] = {kNull, kNull, kNull};
  std::int64_t longest_ns[kKeptExtremes] = {kNull, kNull, kNull};
  std::int64_t longest_member[kKeptExtremes] = {kNull, kNull, kNull};

  static constexpr const char* kTable = "collective";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY",
                                          "step",
                                          "group_name_id",
                                          "operation_name_id",
                                          "sequence",
                                          "rank_count",
                                          "duration_ns",
                                          "square_high",
                                          "square_low",
                                          "shortest_1_ns",
                                          "shortest_2_ns",
                                          "shortest_3_ns",
                                          "shortest_1_member",
                                          "shortest_2_member",
                                          "shortest_3_member",
                                          "longest_1_ns",
                                          "longest_2_ns",
                                          "longest_3_ns",
                                          "longest_1_member",
                                          "longest_2_member",
                                          "longest_3_member"};

  uint128 square_sum() const { return joined({square_high, square_low}); }
  void set_square_sum(uint128 sum) {
    const SquareHalves halves = to_halves(sum);
    square_high = halves.high;
    square_low = halves.low;
  }
};

// A collective on one host; used to compare the clocks of hosts.
struct CollectiveHostRow {
  std::int64_t id = 0;
  std::int64_t step = kNull;
  std::int64_t group_name_id = kNull;
  std::int64_t operation_name_id = kNull;
  std::int64_t sequence = 0;
  std::int64_t host_name_id = kNull;
  std::int64_t rank_count = 0;
  std::int64_t first_start_ns = kNull;
  std::int64_t last_start_ns = kNull;
  std::int64_t last_end_ns = kNull;

  static constexpr const char* kTable = "collective_host";
  static constexpr std::array kColumns = {
      "id INTEGER PRIMARY KEY", "step",       "group_name_id",  "operation_name_id", "sequence",
      "host_name_id",           "rank_count", "first_start_ns", "last_start_ns",     "last_end_ns"};
};

}  // namespace msprof::cluster
