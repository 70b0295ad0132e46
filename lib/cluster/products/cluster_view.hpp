// ClusterView provides the ranks, texts, groups and pipeline stages of a rank summary (Part) as
// shown in products.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/merge.hpp"
#include "cluster/part.hpp"

namespace msprof::cluster {

// Maps a host name id to the offset to subtract from times of the host to convert them to the clock
// of the reference host. Times of other hosts are unchanged.
using ClockShifts = std::map<std::int64_t, std::int64_t>;

// "step3"; "step" without a step number.
std::string step_key(std::int64_t step);

struct CommGroup {
  std::int64_t name_id = 0;
  bool has_collectives = false;
  bool has_pairs = false;                            // contains sends and receives
  std::vector<std::int64_t> ranks;                   // sorted
  std::map<std::int64_t, std::int64_t> local_ranks;  // maps rank within the group to rank
};

class ClusterView {
 public:
  // Throws Error(partial_data) if the rows of `part` are inconsistent.
  explicit ClusterView(const Part& part, ClockShifts shifts = {});

  const Part& part() const { return *part_; }
  const std::vector<MemberRow>& members() const { return members_; }
  const MemberRow& member(std::int64_t member_id) const {
    return members_[checked(member_id, members_.size(), "rank")];
  }
  // The rank number that products show for a member. Members without a rank, or with the rank of
  // another member, get numbers after the largest one.
  std::int64_t product_rank(std::int64_t member_id) const {
    return ranks_[checked(member_id, ranks_.size(), "rank")];
  }
  // Members that got a number instead of their recorded rank, in order.
  const std::vector<std::int64_t>& renumbered() const { return renumbered_; }
  // Present, missing and partial ranks.
  const Ranks& ranks() const { return rank_sets_; }

  // Empty for kNull.
  std::string_view text(std::int64_t name_id) const {
    if (name_id == kNull) return "";
    return names_[checked(name_id, names_.size(), "text")];
  }
  // The host name, or the host's unique id if it has no name.
  std::string_view host_name(const MemberRow& member) const {
    return text(member.hostname_name_id != kNull ? member.hostname_name_id : member.host_name_id);
  }
  bool is_pair_operation(std::int64_t name_id) const;
  bool has_pair_operations() const { return has_pairs_; }
  // Converts a time of a member to the clock of the reference host.
  std::int64_t aligned(std::int64_t time_ns, std::int64_t member_id) const;

  // Sorted by name.
  const std::vector<CommGroup>& groups() const { return groups_; }
  const CommGroup* find_group(std::int64_t name_id) const;
  // The ranks of each pipeline stage. Ranks are in the same stage if groups with collectives
  // connect them; groups of all ranks are ignored. Without such groups, one stage with all ranks.
  const std::vector<std::vector<std::int64_t>>& stages() const { return stages_; }

 private:
  std::size_t checked(std::int64_t id, std::size_t count, std::string_view what) const {
    if (id < 1 || static_cast<std::uint64_t>(id) > count) fail(what);
    return static_cast<std::size_t>(id - 1);
  }
  [[noreturn]] void fail(std::string_view what) const;
  void number_members();
  void read_groups();
  void find_stages();

  const Part* part_;
  ClockShifts shifts_;
  PartTexts names_;
  std::vector<MemberRow> members_;
  std::vector<std::int64_t> ranks_;
  std::vector<std::int64_t> renumbered_;
  Ranks rank_sets_;
  std::vector<bool> is_pair_;  // by name id - 1
  bool has_pairs_ = false;
  std::vector<CommGroup> groups_;
  std::vector<std::vector<std::int64_t>> stages_;
};

}  // namespace msprof::cluster
