// Hand-made collectives for the tests of cluster findings.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cluster/collectives.hpp"

namespace msprof::test {

// Sorted texts of a rank summary, with their ids.
struct SceneNames {
  cluster::PartTexts texts = std::vector<std::string>{
      "g1",         "g2",     "g3",     "hcom_allReduce_", "hcom_broadcast_",
      "hcom_send_", "host_a", "host_b", "host_c",          "host_d"};
  std::int64_t id(std::string_view text) const {
    for (std::size_t i = 0; i < texts.size(); ++i)
      if (texts[i] == text) return static_cast<std::int64_t>(i) + 1;
    return kNull;
  }
};

// Makes consecutive ranks, one per entry of `hosts`; member 1 is rank 0.
inline std::vector<cluster::MemberRow> members_on(const SceneNames& names,
                                                  const std::vector<std::string>& hosts) {
  std::vector<cluster::MemberRow> members;
  for (const std::string& host : hosts) {
    cluster::MemberRow row;
    row.id = static_cast<std::int64_t>(members.size()) + 1;
    row.rank = row.id - 1;
    row.host_name_id = names.id(host);
    members.push_back(row);
  }
  return members;
}

inline std::vector<cluster::GroupMemberRow> make_group(const SceneNames& names,
                                                       std::string_view group,
                                                       const std::vector<std::int64_t>& ranks) {
  std::vector<cluster::GroupMemberRow> rows;
  for (const std::int64_t rank : ranks) {
    cluster::GroupMemberRow row;
    row.group_name_id = names.id(group);
    row.member_id = rank + 1;
    row.local_rank = static_cast<std::int64_t>(rows.size());
    row.rank_count = static_cast<std::int64_t>(ranks.size());
    rows.push_back(row);
  }
  return rows;
}

// One rank in a collective, from arrival at `start_ns` to completion at `end_ns`, by its host's
// clock.
struct Arrival {
  std::int64_t rank = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

inline cluster::Collective collective(const SceneNames& names,
                                      const std::vector<cluster::MemberRow>& members,
                                      std::int64_t step, std::int64_t sequence,
                                      const std::vector<Arrival>& ranks,
                                      std::string_view group = "g1",
                                      std::string_view operation = "hcom_allReduce_") {
  cluster::Collective one;
  one.total.step = step;
  one.total.group_name_id = names.id(group);
  one.total.operation_name_id = names.id(operation);
  one.total.sequence = sequence;
  for (const Arrival& rank : ranks) {
    cluster::RankCollectiveRow row;
    row.member_id = rank.rank + 1;
    row.start_ns = rank.start_ns;
    row.duration_ns = rank.end_ns - rank.start_ns;
    cluster::add_rank(one, row, members[static_cast<std::size_t>(rank.rank)].host_name_id);
  }
  return one;
}

}  // namespace msprof::test
