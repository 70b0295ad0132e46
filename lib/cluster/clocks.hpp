// HostClocks estimates the clock offsets between hosts from the end times of collectives, because a
// collective ends on all its ranks at the same time. Rank summaries (Part) keep times as recorded;
// products and queries align them with these offsets.
//
// End times on two hosts differ by the clock offset and some noise: the offset is the median of the
// differences, the spread is the range from the 5th to the 95th percentile. Only collectives in
// which no rank can end before the last one arrives are used (operation_kind.hpp).
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
  reference,      // the host with the lowest id; other offsets are relative to it
  aligned,        // the offset is known
  too_few,        // fewer than kLeastCollectives in common with an aligned host
  scattered,      // the measured clock differences vary too much
  contradicting,  // a path through other hosts gives a different offset
  apart           // no collective in common with an aligned host
};
std::string_view clock_state_name(ClockState state);

struct HostClock {
  std::int64_t host_name_id = kNull;
  ClockState state = ClockState::apart;
  std::int64_t offset_ns = kNull;     // its clock minus the clock of the reference; kNull: unknown
  std::int64_t spread_ns = kNull;     // spread, summed along the path to the reference
  std::int64_t collective_count = 0;  // collectives in common with `over_host_name_id`
  std::int64_t over_host_name_id = kNull;  // host that this host was compared with
};

class HostClocks {
 public:
  static constexpr std::int64_t kLeastCollectives = 3;
  // Largest accepted spread; if the collectives themselves take longer, that time is the limit.
  static constexpr std::int64_t kToleratedSpreadNs = 100'000;

  HostClocks() = default;
  explicit HostClocks(std::vector<HostClock> hosts);

  // All hosts, in the order of host_name_id.
  const std::vector<HostClock>& hosts() const { return hosts_; }
  std::optional<std::int64_t> offset_ns(std::int64_t host_name_id) const;
  // Converts a time of a host to the clock of the reference; kNull if the host is not aligned.
  std::int64_t aligned_ns(std::int64_t host_name_id, std::int64_t time_ns) const;

 private:
  std::vector<HostClock> hosts_;
};

// Computes clock offsets from collectives added in any order. Memory is bounded: at most kPairs
// pairs of hosts and kKept evenly sampled differences per pair. In each collective, hosts are
// compared only with the host with the lowest id.
class ClockEstimator {
 public:
  static constexpr std::size_t kKept = 512;
  static constexpr std::size_t kPairs = 16384;

  // `names` are the texts of the part; they must outlive this object.
  explicit ClockEstimator(const PartTexts& names) : names_(names) {}
  void add(const Collective& collective);
  HostClocks finish(std::span<const MemberRow> members) const;

 private:
  struct Difference {
    std::int64_t end_ns = 0;       // end on the host minus end on the lowest host
    std::int64_t transfer_ns = 0;  // duration on the rank that arrived last: transfer only, no wait
  };
  struct Pair {
    std::int64_t seen = 0;
    std::int64_t stride = 1;  // every stride-th difference is kept
    std::vector<Difference> kept;
    void add(const Difference& difference);
  };
  using Hosts = std::pair<std::int64_t, std::int64_t>;  // lower host, other host
  class Alignment;

  const PartTexts& names_;
  std::map<Hosts, Pair> pairs_;
};

HostClocks host_clocks(const Part& part);

}  // namespace msprof::cluster
