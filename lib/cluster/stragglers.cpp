#include "cluster/stragglers.hpp"

#include <algorithm>
#include <set>

#include "base/number.hpp"
#include "cluster/operation_kind.hpp"
#include "cluster/outlier.hpp"

namespace msprof::cluster {

namespace {

constexpr std::int64_t kAllRanks = kNull;  // in the place of a group whose ranks are not known

// Of an even count the lower one of the two in the middle: of a group of which one half is slow,
// this is one of the other half.
std::int64_t lower_median(std::vector<std::int64_t>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// True for the first of its step.
template <typename Counts>
bool enters_step(Counts& counts, std::int64_t step, bool is_first) {
  if (!is_first && counts.last_step == step) return false;
  counts.last_step = step;
  return true;
}

// part >= percent % of whole.
bool is_share(std::int64_t part, std::int64_t whole, std::int64_t percent) {
  return static_cast<int128>(part) * 100 >= static_cast<int128>(whole) * percent;
}

bool is_graver(const Straggler& a, const Straggler& b) {
  return a.delay_ns != b.delay_ns ? a.delay_ns > b.delay_ns : a.id < b.id;
}

LateCause cause_of(std::int64_t computing_ns, std::int64_t free_ns) {
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

StragglerFinder::StragglerFinder(std::span<const std::string> names,
                                 std::span<const MemberRow> members,
                                 std::span<const GroupMemberRow> groups)
    : names_(names), members_(members) {
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

std::int64_t StragglerFinder::host_of(std::int64_t member_id) const {
  if (member_id < 1 || static_cast<std::uint64_t>(member_id) > members_.size()) return kNull;
  return members_[static_cast<std::size_t>(member_id) - 1].host_name_id;
}

void StragglerFinder::add(const Collective& collective) {
  const CollectiveRow& total = collective.total;
  const std::int64_t operation = total.operation_name_id;
  if (operation < 1 || static_cast<std::uint64_t>(operation) > names_.size()) return;
  if (operation_kind(names_[static_cast<std::size_t>(operation) - 1]) != OperationKind::together)
    return;
  if (total.rank_count >= kLeastValues) vote_for_rank(total);
  if (collective.hosts.size() >= 2) vote_for_host(collective);
}

void StragglerFinder::vote_for_rank(const CollectiveRow& total) {
  GroupCount& group = groups_[total.group_name_id];
  if (enters_step(group, total.step, group.collectives++ == 0)) ++group.steps;
  const std::int64_t last = total.shortest_member[0];
  const bool is_member = last >= 1 && static_cast<std::uint64_t>(last) <= members_.size();
  if (!is_member || !is_smallest_outlier(spread_of(total))) return;
  vote(rank_votes_, last, total, saturating_subtract(total.shortest_ns[1], total.shortest_ns[0]));
}

// A host is late where even its first rank came late: that one's duration is compared with those
// of the first ranks of the others. Each host is asked by its own clock.
void StragglerFinder::vote_for_host(const Collective& collective) {
  struct Arrival {
    std::int64_t host = kNull;
    std::int64_t first_ns = 0;  // duration of the rank that came first
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
  std::sort(hosts.begin(), hosts.end(), [](const Arrival& a, const Arrival& b) {
    return a.first_ns != b.first_ns ? a.first_ns < b.first_ns : a.host < b.host;
  });
  const Arrival& late = hosts.front();
  std::int64_t others_last_ns = INT64_MAX;
  for (std::size_t i = 1; i < hosts.size(); ++i)
    others_last_ns = std::min(others_last_ns, hosts[i].last_ns);
  bool is_late = false;
  if (hosts.size() == 2) {
    // No test knows an outlier of two: their ranks must be apart by more than each is in itself.
    const Arrival& other = hosts.back();
    const std::int64_t within = std::max(saturating_subtract(late.first_ns, late.last_ns),
                                         saturating_subtract(other.first_ns, other.last_ns));
    is_late = late.rank_count >= 2 && other.rank_count >= 2 &&
              saturating_subtract(other.last_ns, late.first_ns) > within;
  } else {
    std::vector<std::int64_t> values;
    for (const Arrival& host : hosts) values.push_back(host.first_ns);
    is_late = is_smallest_outlier(spread_of(values));
  }
  if (!is_late) return;
  vote(host_votes_, late.host, collective.total,
       std::max<std::int64_t>(saturating_subtract(others_last_ns, late.last_ns), 0));
}

void StragglerFinder::vote(Tally& tally, std::int64_t id, const CollectiveRow& total,
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
  return votes.votes >= kLeastVotes && votes.steps >= std::min(kLeastVotes, group.steps) &&
         is_share(votes.votes, group.collectives, kVotePercent) &&
         is_share(votes.steps, group.steps, kVotePercent);
}

// Those with enough votes in a group, each with the group in which it has most delay.
void StragglerFinder::take_candidates(const Tally& tally, bool is_host) {
  const auto& counts = is_host ? host_groups_ : groups_;
  for (const auto& [key, votes] : tally) {
    const auto& [id, group] = key;
    const GroupCount& count = counts.at(group);
    if (!has_enough(votes, count)) continue;
    Straggler found{.id = id, .votes = votes.votes, .collective_count = count.collectives};
    found.group_name_id = group;
    found.step = votes.worst_step;
    found.operation_name_id = votes.worst_operation;
    found.sequence = votes.worst_sequence;
    found.delay_ns = votes.delay_ns;
    found.wait_ns = votes.wait_ns;
    const bool is_known = !candidates_.empty() && candidates_.back().is_host == is_host &&
                          candidates_.back().found.id == id;
    if (!is_known) {
      candidates_.push_back({found, is_host});
    } else if (candidates_.back().found.delay_ns < found.delay_ns) {
      candidates_.back().found = found;
    }
  }
}

void StragglerFinder::begin_steps() {
  is_in_steps_ = true;
  take_candidates(host_votes_, true);
  take_candidates(rank_votes_, false);
  std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
    return a.is_host != b.is_host ? a.is_host : is_graver(a.found, b.found);
  });
  if (candidates_.size() > kCandidates) candidates_.resize(kCandidates);
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    const Candidate& candidate = candidates_[i];
    if (!candidate.is_host) {
      compare(i, candidate.found.id);
    } else {
      for (const std::int64_t member : members_of_host_[candidate.found.id]) compare(i, member);
    }
  }
  now_.assign(members_.size(), nullptr);
}

// A rank is compared with the group in which it is late. A rank of a host that is late with several
// groups: with that of them to which it belongs and which is delayed most.
void StragglerFinder::compare(std::size_t candidate, std::int64_t member_id) {
  const Candidate& one = candidates_[candidate];
  std::int64_t group = kAllRanks;
  std::int64_t delay_ns = -1;
  const auto offer = [&](std::int64_t offered, std::int64_t offered_delay_ns) {
    const auto ids = members_of_group_.find(offered);
    if (offered_delay_ns <= delay_ns || ids == members_of_group_.end() ||
        ids->second.size() < static_cast<std::size_t>(kLeastValues) ||
        !std::binary_search(ids->second.begin(), ids->second.end(), member_id))
      return;
    group = offered;
    delay_ns = offered_delay_ns;
  };
  if (one.is_host) {
    const auto first = host_votes_.lower_bound({one.found.id, INT64_MIN});
    for (auto at = first; at != host_votes_.end() && at->first.first == one.found.id; ++at)
      offer(at->first.second, at->second.delay_ns);
  } else {
    offer(one.found.group_name_id, one.found.delay_ns);
  }
  excesses_.push_back({.member_id = member_id, .group_name_id = group, .candidate = candidate});
}

std::optional<StragglerFinder::Medians> StragglerFinder::medians_of(std::int64_t group) const {
  std::vector<std::int64_t> computing;
  std::vector<std::int64_t> free;
  std::vector<std::int64_t> preparing;
  const auto take = [&](const RankStepRow* row) {
    if (row == nullptr) return;
    computing.push_back(row->computing_ns);
    free.push_back(row->free_ns);
    preparing.push_back(row->preparing_ns);
  };
  if (group == kAllRanks) {
    for (const RankStepRow* row : now_) take(row);
  } else {
    for (const std::int64_t member : members_of_group_.at(group))
      take(now_[static_cast<std::size_t>(member) - 1]);
  }
  if (computing.size() < 2) return std::nullopt;
  return Medians{lower_median(computing), lower_median(free), lower_median(preparing)};
}

void StragglerFinder::add_step(std::span<const RankStepRow> ranks) {
  if (!is_in_steps_) begin_steps();
  if (ranks.empty()) return;
  std::fill(now_.begin(), now_.end(), nullptr);
  std::int64_t longest_ns = 0;
  for (const RankStepRow& row : ranks) {
    if (row.member_id < 1 || static_cast<std::uint64_t>(row.member_id) > members_.size()) continue;
    now_[static_cast<std::size_t>(row.member_id) - 1] = &row;
    longest_ns = std::max(longest_ns, row.duration_ns);
  }
  std::int64_t& elapsed = ranks.front().step == kNull ? whole_ns_ : steps_ns_;
  elapsed = saturating_add(elapsed, longest_ns);
  std::map<std::int64_t, std::optional<Medians>> medians;
  for (Excess& excess : excesses_) {
    const RankStepRow* row = now_[static_cast<std::size_t>(excess.member_id) - 1];
    if (row == nullptr) continue;
    const auto [at, is_new] = medians.try_emplace(excess.group_name_id);
    if (is_new) at->second = medians_of(excess.group_name_id);
    if (!at->second) continue;
    const auto add_to = [](std::int64_t& sum, std::int64_t value, std::int64_t median) {
      sum = saturating_add(sum, saturating_subtract(value, median));
    };
    ++excess.steps;
    add_to(excess.computing_ns, row->computing_ns, at->second->computing_ns);
    add_to(excess.free_ns, row->free_ns, at->second->free_ns);
    add_to(excess.preparing_ns, row->preparing_ns, at->second->preparing_ns);
  }
}

// What a rank does itself: computing, or being free because nothing was given to it. Waiting for
// others is communication.
bool StragglerFinder::is_explained(const Candidate& candidate, const Excess& excess) const {
  const std::int64_t work_ns = saturating_add(excess.computing_ns, excess.free_ns);
  return work_ns > 0 && is_share(work_ns, candidate.found.delay_ns, kWorkPercent);
}

bool StragglerFinder::judge_rank(Candidate& candidate, std::span<const Excess> excesses) const {
  if (excesses.empty() || excesses.front().steps == 0) return true;
  const Excess& excess = excesses.front();
  if (!is_explained(candidate, excess)) return false;
  candidate.found.cause = cause_of(excess.computing_ns, excess.free_ns);
  candidate.found.computing_ns = excess.computing_ns;
  candidate.found.free_ns = excess.free_ns;
  candidate.found.preparing_ns = excess.preparing_ns;
  return true;
}

// Most of its ranks must be slow by themselves: one that is makes those late that work with it.
bool StragglerFinder::judge_host(Candidate& candidate, std::span<const Excess> excesses) const {
  if (excesses.size() < 2) return false;
  std::vector<std::int64_t> computing;
  std::vector<std::int64_t> free;
  std::vector<std::int64_t> preparing;
  std::size_t explained = 0;
  for (const Excess& excess : excesses) {
    if (excess.steps == 0) continue;
    if (is_explained(candidate, excess)) ++explained;
    computing.push_back(excess.computing_ns);
    free.push_back(excess.free_ns);
    preparing.push_back(excess.preparing_ns);
  }
  if (computing.empty()) return true;
  if (explained < 2 || 2 * explained <= computing.size()) return false;
  candidate.found.computing_ns = lower_median(computing);
  candidate.found.free_ns = lower_median(free);
  candidate.found.preparing_ns = lower_median(preparing);
  candidate.found.cause = cause_of(candidate.found.computing_ns, candidate.found.free_ns);
  return true;
}

// Ranks that wait for a slower one in one group are late in their other groups: they go, unless
// they have about as much work of their own.
void StragglerFinder::drop_those_behind(std::vector<Straggler>& ranks) const {
  const auto work_of = [](const Straggler& rank) {
    return rank.computing_ns == kNull ? kNull : saturating_add(rank.computing_ns, rank.free_ns);
  };
  std::set<std::int64_t> behind;
  for (const Straggler& rank : ranks) {
    const std::int64_t work_ns = work_of(rank);
    const auto first = rank_votes_.lower_bound({rank.id, INT64_MIN});
    for (auto at = first; at != rank_votes_.end() && at->first.first == rank.id; ++at) {
      const std::int64_t group = at->first.second;
      const auto ids = members_of_group_.find(group);
      if (ids == members_of_group_.end() || !has_enough(at->second, groups_.at(group))) continue;
      for (const Straggler& other : ranks) {
        const bool is_in_group =
            std::binary_search(ids->second.begin(), ids->second.end(), other.id);
        if (other.id != rank.id && is_in_group && work_of(other) < work_ns / 2)
          behind.insert(other.id);
      }
    }
  }
  std::erase_if(ranks, [&](const Straggler& rank) { return behind.contains(rank.id); });
}

// A host of which most ranks are named stands in their place.
void StragglerFinder::name_hosts_of(Stragglers& found) const {
  std::map<std::int64_t, std::vector<const Straggler*>> by_host;
  for (const Straggler& rank : found.ranks) by_host[host_of(rank.id)].push_back(&rank);
  std::set<std::int64_t> named;
  for (const Straggler& host : found.hosts) named.insert(host.id);
  for (const auto& [host, ranks] : by_host) {
    if (host == kNull || named.contains(host)) continue;
    if (ranks.size() < 2 || 2 * ranks.size() <= members_of_host_.at(host).size()) continue;
    Straggler whole = *ranks.front();  // the gravest
    whole.id = host;
    found.hosts.push_back(whole);
    named.insert(host);
  }
  std::erase_if(found.ranks,
                [&](const Straggler& rank) { return named.contains(host_of(rank.id)); });
}

Stragglers StragglerFinder::finish() {
  if (!is_in_steps_) begin_steps();
  const std::int64_t elapsed_ns = steps_ns_ > 0 ? steps_ns_ : whole_ns_;
  Stragglers found;
  std::size_t first = 0;
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    std::size_t end = first;
    while (end < excesses_.size() && excesses_[end].candidate == i) ++end;
    const auto excesses = std::span<const Excess>(excesses_).subspan(first, end - first);
    first = end;
    Candidate& candidate = candidates_[i];
    candidate.found.elapsed_ns = elapsed_ns;
    if (!is_share(candidate.found.delay_ns, elapsed_ns, kDelayPercent)) continue;
    const bool is_late =
        candidate.is_host ? judge_host(candidate, excesses) : judge_rank(candidate, excesses);
    if (is_late) (candidate.is_host ? found.hosts : found.ranks).push_back(candidate.found);
  }
  drop_those_behind(found.ranks);
  name_hosts_of(found);
  std::sort(found.hosts.begin(), found.hosts.end(), is_graver);
  return found;
}

}  // namespace msprof::cluster
