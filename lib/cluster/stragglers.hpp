// Stragglers: ranks and hosts that others wait for. A collective begins when its last rank has
// arrived, so the rank with the shortest duration came last; where its duration is an outlier
// (outlier.hpp), it gets a vote. Who has many votes, costs time, and itself works longer than the
// others of its group is named; who came last because it waited elsewhere is not.
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
  starting,   // it is free for longer: its host gives it work later
  unknown     // there are no times of steps
};
std::string_view late_cause_name(LateCause cause);

struct Straggler {
  std::int64_t id = 0;  // member_id of a rank, host_name_id of a host
  std::int64_t votes = 0;
  std::int64_t collective_count = 0;   // of the group in which it has most delay, as the next
  std::int64_t group_name_id = kNull;  //
  std::int64_t step = kNull;           // of its worst collective there, as the next
  std::int64_t operation_name_id = kNull;
  std::int64_t sequence = 0;
  std::int64_t delay_ns = 0;    // by which its collectives would have begun earlier without it
  std::int64_t wait_ns = 0;     // of all others for the last, added up
  std::int64_t elapsed_ns = 0;  // of the steps, the slowest rank of each
  LateCause cause = LateCause::unknown;
  std::int64_t computing_ns = kNull;  // by which it took longer than the median of its group, in
  std::int64_t free_ns = kNull;       // all steps; of a host: the median of its ranks
  std::int64_t preparing_ns = kNull;  // of free_ns that before its first work of a step
};

struct Stragglers {
  std::vector<Straggler> ranks;  // the gravest first; without those of hosts that are named
  std::vector<Straggler> hosts;
};

class StragglerFinder {
 public:
  // Votes in a group: at least so many, of its collectives and of its steps.
  static constexpr std::int64_t kLeastVotes = 3;
  static constexpr std::int64_t kVotePercent = 10;
  // In a group of two, where one of them is always last and no test knows an outlier.
  static constexpr std::int64_t kLeastPairVotes = 6;
  static constexpr std::int64_t kPairVotePercent = 80;
  static constexpr std::int64_t kDelayPercent = 1;  // of the time of the steps
  // What it works longer than the median of its group: of the delay, of that median, and in median
  // deviations (times 1.4826) of the group.
  static constexpr std::int64_t kWorkOfDelayPercent = 50;
  static constexpr std::int64_t kWorkPercent = 2;
  static constexpr std::int64_t kWorkDeviations = 3;

  // `names`, `members` and `groups` are those of the part and outlive this.
  StragglerFinder(const PartTexts& names, std::span<const MemberRow> members,
                  std::span<const GroupMemberRow> groups);

  // The collectives in order.
  void add(const Collective& collective);
  // The ranks of a step, step after step.
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
    bool is_pair = true;  // until there are more than two in a collective
  };
  // What a rank did by itself, in all its steps.
  struct Work {
    std::int64_t steps = 0;
    std::int64_t computing_ns = 0;
    std::int64_t free_ns = 0;
    std::int64_t preparing_ns = 0;
  };
  // That of a rank against its group, in the mean of a step.
  struct Usual {
    std::int64_t computing_ns = 0;
    std::int64_t free_ns = 0;
    std::int64_t preparing_ns = 0;
    std::int64_t work_ns = 0;  // computing and free
    std::int64_t deviation_ns = 0;
  };
  // By how much a rank is beyond that, in all its steps.
  struct Excess {
    std::int64_t computing_ns = 0;
    std::int64_t free_ns = 0;
    std::int64_t preparing_ns = 0;
    bool is_known = false;
    bool explains = false;  // the delay
  };
  using Counted = std::pair<std::int64_t, std::int64_t>;  // member or host, group
  using Tally = std::map<Counted, Votes>;

  void vote_for_rank(const CollectiveRow& total);
  void vote_for_host(const Collective& collective);
  void vote(Tally& tally, std::int64_t id, const CollectiveRow& total, std::int64_t delay_ns);
  static bool has_enough(const Votes& votes, const GroupCount& group);
  std::vector<Straggler> candidates_of(const Tally& tally,
                                       const std::map<std::int64_t, GroupCount>& counts) const;
  std::int64_t group_of(const Straggler& host, std::int64_t member_id) const;
  const Usual* usual_of(std::int64_t group);
  Excess excess_of(const Straggler& candidate, std::int64_t member_id, std::int64_t group);
  bool judge_rank(Straggler& rank);
  bool judge_host(Straggler& host);
  void drop_those_behind(std::vector<Straggler>& ranks) const;
  void name_hosts_of(Stragglers& found) const;
  std::int64_t host_of(std::int64_t member_id) const;

  const PartTexts& names_;
  std::span<const MemberRow> members_;
  std::map<std::int64_t, std::vector<std::int64_t>> members_of_group_;
  std::map<std::int64_t, std::vector<std::int64_t>> members_of_host_;
  std::map<std::int64_t, GroupCount> groups_;
  std::map<std::int64_t, GroupCount> host_groups_;  // collectives of several hosts
  Tally rank_votes_;
  Tally host_votes_;
  std::vector<Work> work_;                              // by member_id - 1
  std::map<std::int64_t, std::optional<Usual>> usual_;  // by group
  std::int64_t steps_ns_ = 0;                           // of numbered steps
  std::int64_t whole_ns_ = 0;                           // of what is in none
};

}  // namespace msprof::cluster
