#include "cluster/clocks.hpp"

#include <algorithm>
#include <set>

#include "base/number.hpp"
#include "cluster/operation_kind.hpp"

namespace msprof::cluster {

namespace {

// Nearest-rank percentile: the value at rank ceil(n * percent / 100).
std::int64_t percentile(const std::vector<std::int64_t>& sorted, std::size_t percent) {
  const std::size_t place = (sorted.size() * percent + 99) / 100;
  return sorted[place == 0 ? 0 : place - 1];
}

struct Edge {
  std::int64_t lower = kNull;
  std::int64_t other = kNull;
  std::int64_t offset_ns = 0;  // clock of `other` minus clock of `lower`
  std::int64_t spread_ns = 0;
  std::int64_t count = 0;
  ClockState state = ClockState::aligned;  // if not `aligned`: why this pair cannot be used
};

}  // namespace

std::string_view clock_state_name(ClockState state) {
  switch (state) {
    case ClockState::reference:
      return "reference";
    case ClockState::aligned:
      return "aligned";
    case ClockState::too_few:
      return "too few collectives";
    case ClockState::scattered:
      return "ends scatter";
    case ClockState::contradicting:
      return "contradicting";
    case ClockState::apart:
      return "no collective in common";
  }
  return "";
}

HostClocks::HostClocks(std::vector<HostClock> hosts) : hosts_(std::move(hosts)) {}

std::optional<std::int64_t> HostClocks::offset_ns(std::int64_t host_name_id) const {
  const auto at = std::lower_bound(
      hosts_.begin(), hosts_.end(), host_name_id,
      [](const HostClock& host, std::int64_t id) { return host.host_name_id < id; });
  if (at == hosts_.end() || at->host_name_id != host_name_id) return std::nullopt;
  return given(at->offset_ns);
}

std::int64_t HostClocks::aligned_ns(std::int64_t host_name_id, std::int64_t time_ns) const {
  const auto offset = offset_ns(host_name_id);
  if (!offset || time_ns == kNull) return kNull;
  return saturating_subtract(time_ns, *offset);
}

// Keeps every stride-th difference. If `kept` is full, drops every second one and doubles the
// stride.
void ClockEstimator::Pair::add(const Difference& difference) {
  if (seen++ % stride != 0) return;
  if (kept.size() == kKept) {
    for (std::size_t i = 0; 2 * i < kept.size(); ++i) kept[i] = kept[2 * i];
    kept.resize(kKept / 2);
    stride *= 2;
    if ((seen - 1) % stride != 0) return;
  }
  kept.push_back(difference);
}

void ClockEstimator::add(const Collective& collective) {
  const std::int64_t operation = collective.total.operation_name_id;
  if (operation < 1 || static_cast<std::uint64_t>(operation) > names_.size()) return;
  if (operation_kind(names_[static_cast<std::size_t>(operation) - 1]) != OperationKind::together)
    return;
  const CollectiveHostRow* lowest = nullptr;
  for (const CollectiveHostRow& host : collective.hosts) {
    if (host.host_name_id == kNull || host.last_end_ns == kNull) continue;
    if (lowest == nullptr) {
      lowest = &host;
      continue;
    }
    const Hosts key{lowest->host_name_id, host.host_name_id};
    auto pair = pairs_.find(key);
    if (pair == pairs_.end()) {
      if (pairs_.size() == kPairs) continue;
      pair = pairs_.emplace(key, Pair()).first;
    }
    pair->second.add({saturating_subtract(host.last_end_ns, lowest->last_end_ns),
                      std::max<std::int64_t>(collective.total.shortest_ns[0], 0)});
  }
}

// Computes the clock of each host from the pairs, along the shortest path from the reference; if
// several are shortest, along the one with the smallest spread.
class ClockEstimator::Alignment {
 public:
  Alignment(std::span<const MemberRow> members, const std::map<Hosts, Pair>& pairs) {
    for (const MemberRow& member : members) {
      if (member.host_name_id != kNull)
        clocks_[member.host_name_id].host_name_id = member.host_name_id;
    }
    for (const auto& [hosts, pair] : pairs) {
      if (clocks_.contains(hosts.first) && clocks_.contains(hosts.second))
        edges_.push_back(make_edge(hosts, pair));
    }
    for (const Edge& edge : edges_) {
      edges_of_[edge.lower].push_back(&edge);
      edges_of_[edge.other].push_back(&edge);
    }
  }

  std::vector<HostClock> run() {
    if (clocks_.empty()) return {};
    HostClock& reference = clocks_.begin()->second;
    reference.state = ClockState::reference;
    reference.offset_ns = reference.spread_ns = 0;
    std::vector<std::int64_t> level = {reference.host_name_id};
    while (!level.empty()) level = next_level(level);
    refuse_contradictions();
    say_why_not();
    std::vector<HostClock> all;
    for (const auto& [id, clock] : clocks_) all.push_back(clock);
    return all;
  }

 private:
  static Edge make_edge(const Hosts& hosts, const Pair& pair) {
    std::vector<std::int64_t> ends;
    std::vector<std::int64_t> transfers;
    for (const Difference& difference : pair.kept) {
      ends.push_back(difference.end_ns);
      transfers.push_back(difference.transfer_ns);
    }
    std::sort(ends.begin(), ends.end());
    std::sort(transfers.begin(), transfers.end());
    Edge edge{.lower = hosts.first, .other = hosts.second, .count = pair.seen};
    edge.offset_ns = percentile(ends, 50);
    edge.spread_ns = saturating_subtract(percentile(ends, 95), percentile(ends, 5));
    const std::int64_t tolerated =
        std::max(HostClocks::kToleratedSpreadNs, percentile(transfers, 50));
    if (edge.count < HostClocks::kLeastCollectives) {
      edge.state = ClockState::too_few;
    } else if (edge.spread_ns > tolerated) {
      edge.state = ClockState::scattered;
    }
    return edge;
  }

  // Computes the clocks of the unvisited neighbours of `level` and returns these hosts.
  std::vector<std::int64_t> next_level(const std::vector<std::int64_t>& level) {
    std::map<std::int64_t, HostClock> found;
    for (const std::int64_t id : level) {
      const HostClock& from = clocks_.at(id);
      for (const Edge* edge : edges_of_[id]) {
        const bool is_forward = edge->lower == id;
        const std::int64_t to = is_forward ? edge->other : edge->lower;
        if (edge->state != ClockState::aligned || clocks_.at(to).offset_ns != kNull) continue;
        HostClock clock{.host_name_id = to, .state = ClockState::aligned};
        clock.offset_ns = is_forward ? saturating_add(from.offset_ns, edge->offset_ns)
                                     : saturating_subtract(from.offset_ns, edge->offset_ns);
        clock.spread_ns = saturating_add(from.spread_ns, edge->spread_ns);
        clock.collective_count = edge->count;
        clock.over_host_name_id = id;
        const auto [at, is_new] = found.emplace(to, clock);
        if (!is_new && clock.spread_ns < at->second.spread_ns) at->second = clock;
      }
    }
    std::vector<std::int64_t> next;
    for (const auto& [id, clock] : found) {
      clocks_[id] = clock;
      next.push_back(id);
    }
    return next;
  }

  // Rejects hosts whose offsets contradict each other: the measured difference of a pair is not the
  // difference of the two offsets. Rejects the host with the larger spread, and every host that was
  // aligned through it.
  void refuse_contradictions() {
    std::set<std::int64_t> refused;
    for (const Edge& edge : edges_) {
      if (edge.state != ClockState::aligned) continue;
      const HostClock& a = clocks_.at(edge.lower);
      const HostClock& b = clocks_.at(edge.other);
      if (a.offset_ns == kNull || b.offset_ns == kNull) continue;
      const int128 by_tree = static_cast<int128>(b.offset_ns) - a.offset_ns;
      const int128 apart =
          by_tree < edge.offset_ns ? edge.offset_ns - by_tree : by_tree - edge.offset_ns;
      const int128 tolerated = static_cast<int128>(a.spread_ns) + b.spread_ns + edge.spread_ns +
                               HostClocks::kToleratedSpreadNs;
      if (apart > tolerated) refused.insert(a.spread_ns > b.spread_ns ? edge.lower : edge.other);
    }
    while (!refused.empty()) {
      std::set<std::int64_t> behind;
      for (auto& [id, clock] : clocks_) {
        if (refused.contains(id)) {
          if (clock.state != ClockState::aligned) continue;
          clock.state = ClockState::contradicting;
          clock.offset_ns = clock.spread_ns = kNull;
        } else if (clock.state == ClockState::aligned &&
                   refused.contains(clock.over_host_name_id)) {
          behind.insert(id);
        }
      }
      refused = std::move(behind);
    }
  }

  // Hosts without a path to the reference get the state of their pair with the most collectives.
  void say_why_not() {
    for (const Edge& edge : edges_) {
      if (edge.state == ClockState::aligned) continue;
      for (const std::int64_t id : {edge.lower, edge.other}) {
        HostClock& clock = clocks_.at(id);
        const bool is_open = clock.state == ClockState::apart || clock.state == ClockState::too_few;
        if (!is_open || clock.collective_count > edge.count) continue;
        clock.state = edge.state;
        clock.collective_count = edge.count;
        clock.over_host_name_id = id == edge.lower ? edge.other : edge.lower;
        if (edge.state == ClockState::scattered) clock.spread_ns = edge.spread_ns;
      }
    }
  }

  std::map<std::int64_t, HostClock> clocks_;  // by host_name_id
  std::vector<Edge> edges_;
  std::map<std::int64_t, std::vector<const Edge*>> edges_of_;
};

HostClocks ClockEstimator::finish(std::span<const MemberRow> members) const {
  return HostClocks(Alignment(members, pairs_).run());
}

HostClocks host_clocks(const Part& part) {
  const auto names = part.names();
  ClockEstimator estimator(names);
  for (Collectives collectives(part); collectives.next();) estimator.add(*collectives);
  return estimator.finish(part.members());
}

}  // namespace msprof::cluster
