// HostClocks: how far the clocks of hosts are apart, from the ends of collectives: a collective
// ends on all its ranks at once. For products and answers; a part keeps times as recorded.
//
// The ends on two hosts differ by the offset of their clocks and some noise: the offset is the
// median of the differences, the spread what lies between the 5th and the 95th percentile. Only
// collectives in which no rank can end before the last has arrived count (operation_kind.hpp).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/collectives.hpp"

namespace msprof::cluster {

enum class ClockState {
  reference,      // the lowest id of all hosts: the offsets of others are against it
  aligned,        //
  too_few,        // fewer than kLeastCollectives in common with a host that is aligned
  scattered,      // the ends differ now by this, now by that
  contradicting,  // another way over other hosts gives another offset
  apart           // no collective in common with a host that is aligned
};
std::string_view clock_state_name(ClockState state);

struct HostClock {
  std::int64_t host_name_id = kNull;
  ClockState state = ClockState::apart;
  std::int64_t offset_ns = kNull;     // its clock minus that of the reference; kNull: not known
  std::int64_t spread_ns = kNull;     // of the differences, added up on the way to the reference
  std::int64_t collective_count = 0;  // in common with `over_host_name_id`
  std::int64_t over_host_name_id = kNull;  // whose clock it was compared with
};

class HostClocks {
 public:
  static constexpr std::int64_t kLeastCollectives = 3;
  // A spread is too large above this, and above the time of the collectives themselves.
  static constexpr std::int64_t kToleratedSpreadNs = 100'000;

  HostClocks() = default;
  explicit HostClocks(std::vector<HostClock> hosts);

  // In order of the ids of their names, those of all members.
  const std::vector<HostClock>& hosts() const { return hosts_; }
  std::optional<std::int64_t> offset_ns(std::int64_t host_name_id) const;
  // A time of that host by the clock of the reference; kNull where its clock is not aligned.
  std::int64_t aligned_ns(std::int64_t host_name_id, std::int64_t time_ns) const;

 private:
  std::vector<HostClock> hosts_;
};

// Takes collectives, in any order, and gives the clocks. Memory is bounded: kKept differences a
// pair of hosts, spread evenly over all, and at most kPairs pairs; each host of a collective is
// compared with the lowest of it alone.
class ClockEstimator {
 public:
  static constexpr std::size_t kKept = 512;
  static constexpr std::size_t kPairs = 16384;

  // `names`: of the part, by id - 1; it outlives this.
  explicit ClockEstimator(const PartTexts& names) : names_(names) {}
  void add(const Collective& collective);
  HostClocks finish(std::span<const MemberRow> members) const;

 private:
  struct Difference {
    std::int64_t end_ns = 0;       // of the host minus that of the lowest
    std::int64_t transfer_ns = 0;  // the time of the rank that came last: all of it is transfer
  };
  struct Pair {
    std::int64_t seen = 0;
    std::int64_t stride = 1;  // every so many are kept
    std::vector<Difference> kept;
    void add(const Difference& difference);
  };
  using Hosts = std::pair<std::int64_t, std::int64_t>;  // lower, other
  class Alignment;

  const PartTexts& names_;
  std::map<Hosts, Pair> pairs_;
};

// The clocks of the hosts of a part.
HostClocks host_clocks(const Part& part);

}  // namespace msprof::cluster
