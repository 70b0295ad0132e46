#include "cluster/products/cluster_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "base/number.hpp"
#include "cluster/operation_kind.hpp"
#include "store/row_cursor.hpp"

namespace msprof::cluster {

namespace {

// Disjoint sets (union-find). The root of each set is its smallest index.
class JoinedSets {
 public:
  explicit JoinedSets(std::size_t count) : parents_(count) {
    std::iota(parents_.begin(), parents_.end(), std::size_t{0});
  }
  std::size_t find_root(std::size_t place) {
    while (parents_[place] != place) place = parents_[place] = parents_[parents_[place]];
    return place;
  }
  void join(std::size_t a, std::size_t b) {
    a = find_root(a);
    b = find_root(b);
    parents_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::size_t> parents_;
};

}  // namespace

std::string step_key(std::int64_t step) {
  return step == kNull ? std::string("step") : fmt::format("step{}", step);
}

ClusterView::ClusterView(const Part& part, ClockShifts shifts)
    : part_(&part),
      shifts_(std::move(shifts)),
      names_(part.names()),
      members_(part.members()),
      rank_sets_(read_ranks(part)) {
  is_pair_.reserve(names_.size());
  for (std::size_t i = 0; i < names_.size(); ++i)
    is_pair_.push_back(operation_kind(names_[i]) == OperationKind::pair);
  number_members();
  read_groups();
  find_stages();
}

void ClusterView::fail(std::string_view what) const {
  throw part_->damaged(fmt::format("a row has an unknown {}", what));
}

void ClusterView::number_members() {
  std::set<std::int64_t> taken;
  for (const MemberRow& member : members_) {
    const bool is_own = member.rank >= 0 && member.rank <= RankSet::kMaxRank;
    ranks_.push_back(is_own && taken.insert(member.rank).second ? member.rank : kNull);
  }
  std::int64_t next = taken.empty() ? 0 : *taken.rbegin() + 1;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    if (ranks_[i] != kNull) continue;
    ranks_[i] = next++;
    renumbered_.push_back(members_[i].id);
  }
}

bool ClusterView::is_pair_operation(std::int64_t name_id) const {
  return name_id != kNull && is_pair_[checked(name_id, is_pair_.size(), "text")];
}

std::int64_t ClusterView::aligned(std::int64_t time_ns, std::int64_t member_id) const {
  const auto shift = shifts_.find(member(member_id).host_name_id);
  if (time_ns == kNull || shift == shifts_.end()) return time_ns;
  return saturating_subtract(time_ns, shift->second);
}

const CommGroup* ClusterView::find_group(std::int64_t name_id) const {
  const auto at =
      std::lower_bound(groups_.begin(), groups_.end(), name_id,
                       [](const CommGroup& g, std::int64_t id) { return g.name_id < id; });
  return at != groups_.end() && at->name_id == name_id ? &*at : nullptr;
}

void ClusterView::read_groups() {
  std::map<std::int64_t, CommGroup> groups;
  RowCursor<GroupMemberRow> rows(part_->db());
  while (rows.next()) {
    CommGroup& group = groups[rows->group_name_id];
    const std::int64_t rank = product_rank(rows->member_id);
    group.ranks.push_back(rank);
    if (rows->local_rank != kNull) group.local_ranks.emplace(rows->local_rank, rank);
  }
  Statement used = part_->db().prepare(
      part_->facts().has_detail
          ? "SELECT DISTINCT group_name_id, operation_name_id FROM rank_collective ORDER BY 1, 2"
          : "SELECT DISTINCT group_name_id, operation_name_id FROM collective_total ORDER BY 1, 2");
  while (used.step()) {
    const auto group = groups.find(used.maybe_integer(0).value_or(kNull));
    const bool is_pair = is_pair_operation(used.maybe_integer(1).value_or(kNull));
    has_pairs_ = has_pairs_ || is_pair;
    if (group == groups.end()) continue;
    (is_pair ? group->second.has_pairs : group->second.has_collectives) = true;
  }
  for (auto& [name_id, group] : groups) {
    group.name_id = name_id;
    text(name_id);  // throws if the name does not exist
    std::sort(group.ranks.begin(), group.ranks.end());
    group.ranks.erase(std::unique(group.ranks.begin(), group.ranks.end()), group.ranks.end());
    groups_.push_back(std::move(group));
  }
}

void ClusterView::find_stages() {
  std::vector<std::int64_t> all = ranks_;
  std::sort(all.begin(), all.end());
  const auto find_index = [&all](std::int64_t rank) {
    return static_cast<std::size_t>(std::lower_bound(all.begin(), all.end(), rank) - all.begin());
  };
  JoinedSets sets(all.size());
  std::vector<bool> is_joined(all.size());
  for (const CommGroup& group : groups_) {
    if (!group.has_collectives || group.ranks.size() == all.size()) continue;
    for (const std::int64_t rank : group.ranks) {
      sets.join(find_index(group.ranks.front()), find_index(rank));
      is_joined[find_index(rank)] = true;
    }
  }
  std::map<std::size_t, std::vector<std::int64_t>> stages;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (is_joined[i]) stages[sets.find_root(i)].push_back(all[i]);
  }
  for (auto& [first, ranks] : stages) stages_.push_back(std::move(ranks));
  if (stages_.empty() && !all.empty()) stages_.push_back(std::move(all));
}

}  // namespace msprof::cluster
