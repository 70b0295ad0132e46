#include "cluster/stragglers.hpp"

#include <algorithm>
#include <set>

#include "base/number.hpp"
#include "cluster/lower_median.hpp"
#include "cluster/operation_kind.hpp"
#include "cluster/outlier.hpp"

namespace msprof::cluster {

namespace {

constexpr std::int64_t kAllRanks = kNull;  // used instead of a group with unknown ranks

std::int64_t saturating_multiply(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
}

// Returns true and updates last_step if this is the first item of its step.
template <typename Counts>
bool enters_step(Counts& counts, std::int64_t step, bool is_first) {
  if (!is_first && counts.last_step == step) return false;
  counts.last_step = step;
  return true;
}

// Returns true if part >= percent % of whole.
bool is_share(std::int64_t part, std::int64_t whole, std::int64_t percent) {
  return static_cast<int128>(part) * 100 >= static_cast<int128>(whole) * percent;
}

bool is_graver(const Straggler& a, const Straggler& b) {
  return a.delay_ns != b.delay_ns ? a.delay_ns > b.delay_ns : a.id < b.id;
}

LateCause late_cause(std::int64_t computing_ns, std::int64_t free_ns) {
  return computing_ns >= free_ns ? LateCause::computing : LateCause::starting;
}

}  // namespace

std::string_view late_cause_name(LateCause cause) {
  switch (cause) {
    case LateCause::computing:
      return "computing";
    case LateCause::starting:
      return "starting";
    case LateCause::unknown:
      return "unknown";
  }
  return "";
}

StragglerFinder::StragglerFinder(const PartTexts& names, std::span<const MemberRow> members,
                                 std::span<const GroupMemberRow> groups)
    : names_(names), members_(members), work_(members.size()) {
  for (const MemberRow& member : members)
    if (member.host_name_id != kNull) members_of_host_[member.host_name_id].push_back(member.id);
  for (const GroupMemberRow& row : groups) {
    const bool is_known =
        row.member_id >= 1 && static_cast<std::uint64_t>(row.member_id) <= members.size();
    if (is_known) members_of_group_[row.group_name_id].push_back(row.member_id);
  }
  for (auto& [group, ids] : members_of_group_) {
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  }
}

std::int64_t StragglerFinder::find_host(std::int64_t member_id) const {
  if (member_id < 1 || static_cast<std::uint64_t>(member_id) > members_.size()) return kNull;
  return members_[static_cast<std::size_t>(member_id) - 1].host_name_id;
}

void StragglerFinder::add(const Collective& collective) {
  const CollectiveRow& total = collective.total;
  const std::int64_t operation = total.operation_name_id;
  if (operation < 1 || static_cast<std::uint64_t>(operation) > names_.size()) return;
  if (operation_kind(names_[static_cast<std::size_t>(operation) - 1]) != OperationKind::together)
    return;
  if (total.rank_count >= 2) vote_for_rank(total);
  if (collective.hosts.size() >= 2) vote_for_host(collective);
}

void StragglerFinder::vote_for_rank(const CollectiveRow& total) {
  GroupCount& group = groups_[total.group_name_id];
  if (enters_step(group, total.step, group.collectives++ == 0)) ++group.steps;
  if (total.rank_count > 2) group.is_pair = false;
  const std::int64_t last = total.shortest_member[0];
  const bool is_member = last >= 1 && static_cast<std::uint64_t>(last) <= members_.size();
  const bool is_late = total.rank_count == 2 ? total.shortest_ns[1] > total.shortest_ns[0]
                                             : is_smallest_outlier(compute_spread(total));
  if (!is_member || !is_late) return;
  vote(rank_votes_, last, total, saturating_subtract(total.shortest_ns[1], total.shortest_ns[0]));
}

// A host is late if even its first rank arrived late, so the duration of that rank is compared with
// those of the first ranks of the other hosts. Each duration is measured by one host's own clock.
void StragglerFinder::vote_for_host(const Collective& collective) {
  struct Arrival {
    std::int64_t host = kNull;
    std::int64_t first_ns = 0;  // duration of the rank that arrived first
    std::int64_t last_ns = 0;
    std::int64_t rank_count = 0;
  };
  std::vector<Arrival> hosts;
  for (const CollectiveHostRow& row : collective.hosts) {
    if (row.host_name_id == kNull || row.first_start_ns == kNull || row.last_start_ns == kNull ||
        row.last_end_ns == kNull)
      continue;
    hosts.push_back({row.host_name_id, saturating_subtract(row.last_end_ns, row.first_start_ns),
                     saturating_subtract(row.last_end_ns, row.last_start_ns), row.rank_count});
  }
  if (hosts.size() < 2) return;
  GroupCount& group = host_groups_[collective.total.group_name_id];
  if (enters_step(group, collective.total.step, group.collectives++ == 0)) ++group.steps;
  // With two hosts, the one with the later mean arrival is late.
  const bool is_pair = hosts.size() == 2;
  const auto place = [is_pair](const Arrival& host) {
    return static_cast<int128>(host.first_ns) + (is_pair ? host.last_ns : 0);
  };
  std::stable_sort(hosts.begin(), hosts.end(),
                   [&](const Arrival& a, const Arrival& b) { return place(a) < place(b); });
  const Arrival& late = hosts.front();
  std::int64_t others_last_ns = INT64_MAX;
  for (std::size_t i = 1; i < hosts.size(); ++i)
    others_last_ns = std::min(others_last_ns, hosts[i].last_ns);
  if (hosts.size() > 2) group.is_pair = false;
  bool is_late = true;
  if (hosts.size() > 2) {
    std::vector<std::int64_t> values;
    for (const Arrival& host : hosts) values.push_back(host.first_ns);
    is_late = is_smallest_outlier(compute_spread(values));
  }
  if (!is_late) return;
  vote(host_votes_, late.host, collective.total,
       std::max<std::int64_t>(saturating_subtract(others_last_ns, late.last_ns), 0));
}

void StragglerFinder::vote(VoteTally& tally, std::int64_t id, const CollectiveRow& total,
                           std::int64_t delay_ns) {
  Votes& votes = tally[{id, total.group_name_id}];
  if (enters_step(votes, total.step, votes.votes++ == 0)) ++votes.steps;
  votes.delay_ns = saturating_add(votes.delay_ns, delay_ns);
  const int128 wait =
      total.duration_ns - static_cast<int128>(total.rank_count) * total.shortest_ns[0];
  if (wait > 0 && wait < INT64_MAX)
    votes.wait_ns = saturating_add(votes.wait_ns, static_cast<std::int64_t>(wait));
  if (delay_ns <= votes.worst_ns) return;
  votes.worst_ns = delay_ns;
  votes.worst_step = total.step;
  votes.worst_operation = total.operation_name_id;
  votes.worst_sequence = total.sequence;
}

bool StragglerFinder::has_enough(const Votes& votes, const GroupCount& group) {
  const std::int64_t least = group.is_pair ? kLeastPairVotes : kLeastVotes;
  const std::int64_t percent = group.is_pair ? kPairVotePercent : kVotePercent;
  return votes.votes >= least && votes.steps >= std::min(kLeastVotes, group.steps) &&
         is_share(votes.votes, group.collectives, percent) &&
         is_share(votes.steps, group.steps, percent);
}

// Returns members or hosts with enough votes and enough delay. Each appears once, with the group in
// which it causes the most delay.
std::vector<Straggler> StragglerFinder::find_candidates(
    const VoteTally& tally, const std::map<std::int64_t, GroupCount>& counts) const {
  const std::int64_t elapsed_ns = steps_ns_ > 0 ? steps_ns_ : whole_ns_;
  std::vector<Straggler> candidates;
  for (const auto& [key, votes] : tally) {
    const auto& [id, group] = key;
    const GroupCount& count = counts.at(group);
    if (!has_enough(votes, count) || !is_share(votes.delay_ns, elapsed_ns, kDelayPercent)) continue;
    Straggler found{.id = id, .votes = votes.votes, .collective_count = count.collectives};
    found.group_name_id = group;
    found.step = votes.worst_step;
    found.operation_name_id = votes.worst_operation;
    found.sequence = votes.worst_sequence;
    found.delay_ns = votes.delay_ns;
    found.wait_ns = votes.wait_ns;
    found.elapsed_ns = elapsed_ns;
    if (candidates.empty() || candidates.back().id != id) {
      candidates.push_back(found);
    } else if (candidates.back().delay_ns < found.delay_ns) {
      candidates.back() = found;
    }
  }
  std::sort(candidates.begin(), candidates.end(), is_graver);
  return candidates;
}

void StragglerFinder::add_step(std::span<const RankStepRow> ranks) {
  if (ranks.empty()) return;
  std::int64_t longest_ns = 0;
  for (const RankStepRow& row : ranks) {
    if (row.member_id < 1 || static_cast<std::uint64_t>(row.member_id) > members_.size()) continue;
    longest_ns = std::max(longest_ns, row.duration_ns);
    RankWork& work = work_[static_cast<std::size_t>(row.member_id) - 1];
    ++work.steps;
    work.computing_ns = saturating_add(work.computing_ns, row.computing_ns);
    work.free_ns = saturating_add(work.free_ns, row.free_ns);
    work.preparing_ns = saturating_add(work.preparing_ns, row.preparing_ns);
  }
  std::int64_t& elapsed = ranks.front().step == kNull ? whole_ns_ : steps_ns_;
  elapsed = saturating_add(elapsed, longest_ns);
}

// Returns the typical work of the ranks of a group per step; null if fewer than two have steps.
const StragglerFinder::Usual* StragglerFinder::find_usual(std::int64_t group) {
  const auto [at, is_new] = usual_.try_emplace(group);
  if (!is_new) return at->second ? &*at->second : nullptr;
  std::vector<std::int64_t> computing, free, preparing, work;
  const auto take = [&](const RankWork& of) {
    if (of.steps == 0) return;
    computing.push_back(of.computing_ns / of.steps);
    free.push_back(of.free_ns / of.steps);
    preparing.push_back(of.preparing_ns / of.steps);
    work.push_back(saturating_add(computing.back(), free.back()));
  };
  const auto ids = members_of_group_.find(group);
  if (ids == members_of_group_.end()) {
    for (const RankWork& of : work_) take(of);
  } else {
    for (const std::int64_t id : ids->second) take(work_[static_cast<std::size_t>(id) - 1]);
  }
  if (work.size() < 2) return nullptr;
  Usual usual{lower_median(computing), lower_median(free), lower_median(preparing)};
  usual.work_ns = lower_median(work);
  std::vector<std::int64_t> distances;
  for (const std::int64_t one : work) {
    const std::int64_t distance = saturating_subtract(one, usual.work_ns);
    distances.push_back(distance < 0 ? saturating_subtract(0, distance) : distance);
  }
  usual.deviation_ns = lower_median(distances);
  at->second = usual;
  return &*at->second;
}

// Compares the rank's own work with the group: computing, and idle time without queued work.
// Waiting for other ranks counts as communication and is excluded.
StragglerFinder::Excess StragglerFinder::compute_excess(const Straggler& candidate,
                                                        std::int64_t member_id,
                                                        std::int64_t group) {
  const RankWork& work = work_[static_cast<std::size_t>(member_id) - 1];
  const Usual* usual = find_usual(group);
  if (usual == nullptr || work.steps == 0) return {};
  const auto beyond = [&](std::int64_t sum, std::int64_t median) {
    return saturating_subtract(sum, saturating_multiply(median, work.steps));
  };
  Excess excess{.is_known = true};
  excess.computing_ns = beyond(work.computing_ns, usual->computing_ns);
  excess.free_ns = beyond(work.free_ns, usual->free_ns);
  excess.preparing_ns = beyond(work.preparing_ns, usual->preparing_ns);
  const std::int64_t all_ns =
      beyond(saturating_add(work.computing_ns, work.free_ns), usual->work_ns);
  const int128 deviations =
      static_cast<int128>(usual->deviation_ns) * work.steps * kWorkDeviations * 14826;
  excess.explains =
      all_ns > 0 && is_share(all_ns, candidate.delay_ns, kWorkOfDelayPercent) &&
      is_share(all_ns, saturating_multiply(usual->work_ns, work.steps), kWorkPercent) &&
      static_cast<int128>(all_ns) * 10000 > deviations;
  return excess;
}

bool StragglerFinder::judge_rank(Straggler& rank) {
  const Excess excess = compute_excess(rank, rank.id, rank.group_name_id);
  if (!excess.is_known) return true;
  if (!excess.explains) return false;
  rank.cause = late_cause(excess.computing_ns, excess.free_ns);
  rank.computing_ns = excess.computing_ns;
  rank.free_ns = excess.free_ns;
  rank.preparing_ns = excess.preparing_ns;
  return true;
}

// Returns the group to use for a rank of a late host: of the groups that contain the rank and in
// which the host is late, the one with the most delay.
std::int64_t StragglerFinder::find_group(const Straggler& host, std::int64_t member_id) const {
  std::int64_t group = kAllRanks;
  std::int64_t delay_ns = -1;
  const auto first = host_votes_.lower_bound({host.id, INT64_MIN});
  for (auto at = first; at != host_votes_.end() && at->first.first == host.id; ++at) {
    const auto ids = members_of_group_.find(at->first.second);
    if (at->second.delay_ns <= delay_ns || ids == members_of_group_.end() ||
        !std::binary_search(ids->second.begin(), ids->second.end(), member_id))
      continue;
    group = at->first.second;
    delay_ns = at->second.delay_ns;
  }
  return group;
}

// Returns true if most ranks of the host are slow themselves: a single slow rank also delays the
// ranks that work with it. False without step times.
bool StragglerFinder::judge_host(Straggler& host) {
  const auto ranks = members_of_host_.find(host.id);
  if (ranks == members_of_host_.end() || ranks->second.size() < 2) return false;
  std::vector<std::int64_t> computing, free, preparing;
  std::size_t explained = 0;
  for (const std::int64_t member : ranks->second) {
    const Excess excess = compute_excess(host, member, find_group(host, member));
    if (!excess.is_known) continue;
    if (excess.explains) ++explained;
    computing.push_back(excess.computing_ns);
    free.push_back(excess.free_ns);
    preparing.push_back(excess.preparing_ns);
  }
  if (explained < 2 || 2 * explained <= computing.size()) return false;
  host.computing_ns = lower_median(computing);
  host.free_ns = lower_median(free);
  host.preparing_ns = lower_median(preparing);
  host.cause = late_cause(host.computing_ns, host.free_ns);
  return true;
}

// Removes ranks that are late only because they wait for a slower rank in one group and therefore
// arrive late in their other groups. Keeps ranks with at least half as much excess work as the
// slower rank.
void StragglerFinder::drop_those_behind(std::vector<Straggler>& ranks) const {
  const auto own_work_ns = [](const Straggler& rank) {
    return rank.computing_ns == kNull ? kNull : saturating_add(rank.computing_ns, rank.free_ns);
  };
  std::set<std::int64_t> behind;
  for (const Straggler& rank : ranks) {
    const std::int64_t work_ns = own_work_ns(rank);
    const auto first = rank_votes_.lower_bound({rank.id, INT64_MIN});
    for (auto at = first; at != rank_votes_.end() && at->first.first == rank.id; ++at) {
      const std::int64_t group = at->first.second;
      const auto ids = members_of_group_.find(group);
      if (ids == members_of_group_.end() || !has_enough(at->second, groups_.at(group))) continue;
      for (const Straggler& other : ranks) {
        const bool is_in_group =
            std::binary_search(ids->second.begin(), ids->second.end(), other.id);
        if (other.id != rank.id && is_in_group && own_work_ns(other) < work_ns / 2)
          behind.insert(other.id);
      }
    }
  }
  std::erase_if(ranks, [&](const Straggler& rank) { return behind.contains(rank.id); });
}

// Replaces ranks by their host if most ranks of the host are in the list.
void StragglerFinder::replace_by_hosts(Stragglers& found) const {
  std::map<std::int64_t, std::vector<const Straggler*>> by_host;
  for (const Straggler& rank : found.ranks) by_host[find_host(rank.id)].push_back(&rank);
  std::set<std::int64_t> named;
  for (const Straggler& host : found.hosts) named.insert(host.id);
  for (const auto& [host, ranks] : by_host) {
    if (host == kNull || named.contains(host)) continue;
    if (ranks.size() < 2 || 2 * ranks.size() <= members_of_host_.at(host).size()) continue;
    Straggler whole = *ranks.front();  // the rank with the most delay
    whole.id = host;
    found.hosts.push_back(whole);
    named.insert(host);
  }
  std::erase_if(found.ranks,
                [&](const Straggler& rank) { return named.contains(find_host(rank.id)); });
}

Stragglers StragglerFinder::finish() {
  Stragglers found;
  for (Straggler& host : find_candidates(host_votes_, host_groups_))
    if (judge_host(host)) found.hosts.push_back(host);
  for (Straggler& rank : find_candidates(rank_votes_, groups_))
    if (judge_rank(rank)) found.ranks.push_back(rank);
  drop_those_behind(found.ranks);
  replace_by_hosts(found);
  std::sort(found.hosts.begin(), found.hosts.end(), is_graver);
  return found;
}

}  // namespace msprof::cluster
