// StragglerFinder finds ranks and hosts that delay others. A collective starts when its last rank
// arrives, so the rank with the shortest duration came last; if that duration is an outlier
// (outlier.hpp), the rank gets a vote. A rank is reported if it has many votes, costs time and
// itself works longer than its group. Ranks that came last because they waited elsewhere are not
// reported.
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

enum class LateCause {
  computing,  // its operators take longer
  starting,   // it is idle for longer: its host launches work later
  unknown     // there are no step times
};
std::string_view late_cause_name(LateCause cause);

struct Straggler {
  std::int64_t id = 0;  // member_id of a rank or host_name_id of a host
  std::int64_t votes = 0;
  std::int64_t collective_count = 0;   // collectives of the group in which it causes the most delay
  std::int64_t group_name_id = kNull;  // that group
  std::int64_t step = kNull;  // step, operation and sequence of its worst collective in that group
  std::int64_t operation_name_id = kNull;
  std::int64_t sequence = 0;
  std::int64_t delay_ns = 0;    // how much earlier its collectives would have started without it
  std::int64_t wait_ns = 0;     // total wait of the others for the last rank
  std::int64_t elapsed_ns = 0;  // total time of the steps, each as long as on its slowest rank
  LateCause cause = LateCause::unknown;
  std::int64_t computing_ns = kNull;  // difference from its group's median, all steps
  std::int64_t free_ns = kNull;       // the same; for a host, both are medians over its ranks
  std::int64_t preparing_ns = kNull;  // part of free_ns before the first work of a step
};

struct Stragglers {
  std::vector<Straggler> ranks;  // most delay first; without ranks of hosts listed below
  std::vector<Straggler> hosts;
};

class StragglerFinder {
 public:
  // Minimum votes in a group: a number, a percentage of its collectives, and a percentage of its
  // steps.
  static constexpr std::int64_t kLeastVotes = 3;
  static constexpr std::int64_t kVotePercent = 10;
  // For groups of two, in which one rank is always last and no outlier test applies.
  static constexpr std::int64_t kLeastPairVotes = 6;
  static constexpr std::int64_t kPairVotePercent = 80;
  static constexpr std::int64_t kDelayPercent = 1;  // minimum delay, in % of the time of all steps
  // Minimum excess over the group's median work: in % of the delay, in % of that median, and in
  // median deviations (times 1.4826).
  static constexpr std::int64_t kWorkOfDelayPercent = 50;
  static constexpr std::int64_t kWorkPercent = 2;
  static constexpr std::int64_t kWorkDeviations = 3;

  // All arguments belong to the part and must outlive this object.
  StragglerFinder(const PartTexts& names, std::span<const MemberRow> members,
                  std::span<const GroupMemberRow> groups);

  // Call in the order in which Collectives iterates.
  void add(const Collective& collective);
  // Adds all ranks of one step; call in step order.
  void add_step(std::span<const RankStepRow> ranks);
  Stragglers finish();

 private:
  struct Votes {
    std::int64_t votes = 0;
    std::int64_t steps = 0;
    std::int64_t last_step = kNull;
    std::int64_t delay_ns = 0;
    std::int64_t wait_ns = 0;
    std::int64_t worst_ns = -1;
    std::int64_t worst_step = kNull;
    std::int64_t worst_operation = kNull;
    std::int64_t worst_sequence = 0;
  };
  struct GroupCount {
    std::int64_t collectives = 0;
    std::int64_t steps = 0;
    std::int64_t last_step = kNull;
    bool is_pair = true;  // no collective of the group has more than two ranks
  };
  // A rank's own work, summed over its steps.
  struct RankWork {
    std::int64_t steps = 0;
    std::int64_t computing_ns = 0;
    std::int64_t free_ns = 0;
    std::int64_t preparing_ns = 0;
  };
  // Typical work of a group per step.
  struct Usual {
    std::int64_t computing_ns = 0;
    std::int64_t free_ns = 0;
    std::int64_t preparing_ns = 0;
    std::int64_t work_ns = 0;  // computing and free time
    std::int64_t deviation_ns = 0;
  };
  // Work of a rank above the median of its group, summed over its steps.
  struct Excess {
    std::int64_t computing_ns = 0;
    std::int64_t free_ns = 0;
    std::int64_t preparing_ns = 0;
    bool is_known = false;
    bool explains = false;  // true if the excess explains the delay
  };
  using Counted = std::pair<std::int64_t, std::int64_t>;  // member or host, and group
  using VoteTally = std::map<Counted, Votes>;

  void vote_for_rank(const CollectiveRow& total);
  void vote_for_host(const Collective& collective);
  void vote(VoteTally& tally, std::int64_t id, const CollectiveRow& total, std::int64_t delay_ns);
  static bool has_enough(const Votes& votes, const GroupCount& group);
  std::vector<Straggler> find_candidates(const VoteTally& tally,
                                         const std::map<std::int64_t, GroupCount>& counts) const;
  std::int64_t find_group(const Straggler& host, std::int64_t member_id) const;
  const Usual* find_usual(std::int64_t group);
  Excess compute_excess(const Straggler& candidate, std::int64_t member_id, std::int64_t group);
  bool judge_rank(Straggler& rank);
  bool judge_host(Straggler& host);
  void drop_those_behind(std::vector<Straggler>& ranks) const;
  void replace_by_hosts(Stragglers& found) const;
  std::int64_t find_host(std::int64_t member_id) const;

  const PartTexts& names_;
  std::span<const MemberRow> members_;
  std::map<std::int64_t, std::vector<std::int64_t>> members_of_group_;
  std::map<std::int64_t, std::vector<std::int64_t>> members_of_host_;
  std::map<std::int64_t, GroupCount> groups_;
  std::map<std::int64_t, GroupCount> host_groups_;  // groups with collectives of several hosts
  VoteTally rank_votes_;
  VoteTally host_votes_;
  std::vector<RankWork> work_;                          // work by member_id - 1
  std::map<std::int64_t, std::optional<Usual>> usual_;  // typical work by group
  std::int64_t steps_ns_ = 0;                           // total time of numbered steps
  std::int64_t whole_ns_ = 0;                           // total time outside of steps
};

}  // namespace msprof::cluster
