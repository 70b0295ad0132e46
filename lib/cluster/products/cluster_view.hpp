// ClusterView: the ranks, texts, groups and pipeline stages of a part as products show them. For
// the products of a cluster, `show` and the page.
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

// What is to be taken from the times of a host, by its name id, so that they are of the clock of
// the reference host. A host that is not in it keeps its times.
using ClockShifts = std::map<std::int64_t, std::int64_t>;

// "step3"; "step" where there is none.
std::string step_key(std::int64_t step);

struct CommGroup {
  std::int64_t name_id = 0;
  bool has_collectives = false;
  bool has_pairs = false;                            // sends and receives
  std::vector<std::int64_t> ranks;                   // in order
  std::map<std::int64_t, std::int64_t> local_ranks;  // within the group -> rank
};

class ClusterView {
 public:
  // Throws Error(partial_data) where the rows of `part` contradict each other.
  explicit ClusterView(const Part& part, ClockShifts shifts = {});

  const Part& part() const { return *part_; }
  const std::vector<MemberRow>& members() const { return members_; }
  const MemberRow& member(std::int64_t member_id) const {
    return members_[checked(member_id, members_.size(), "rank")];
  }
  // The number under which products show a member: its rank. One whose capture does not say its
  // rank, or says that of another, is numbered behind the largest.
  std::int64_t rank_of(std::int64_t member_id) const {
    return ranks_[checked(member_id, ranks_.size(), "rank")];
  }
  // Members that are numbered here, in order.
  const std::vector<std::int64_t>& renumbered() const { return renumbered_; }
  // Ranks that are there, that are missing and that are partial.
  const Ranks& ranks() const { return rank_sets_; }

  // The empty text for kNull.
  std::string_view text(std::int64_t name_id) const {
    if (name_id == kNull) return "";
    return names_[checked(name_id, names_.size(), "text")];
  }
  // The name of its host that people know, else its unique id.
  std::string_view host_of(const MemberRow& member) const {
    return text(member.hostname_name_id != kNull ? member.hostname_name_id : member.host_name_id);
  }
  bool is_pair_operation(std::int64_t name_id) const;
  bool has_pair_operations() const { return has_pairs_; }
  // A time of a member on the clock of the reference host.
  std::int64_t aligned(std::int64_t time_ns, std::int64_t member_id) const;

  // In order of their names.
  const std::vector<CommGroup>& groups() const { return groups_; }
  const CommGroup* group(std::int64_t name_id) const;
  // Ranks of each pipeline stage: those that groups of collectives connect, groups of all ranks
  // left aside. One stage of all ranks where no groups tell stages.
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
