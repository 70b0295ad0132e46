// SketchedPart: a rank summary from hand-written rows, with texts instead of text ids.
#pragma once

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "cluster/part.hpp"

namespace msprof::test {

class SketchedPart {
 public:
  // `names` must contain every text used by the rows.
  explicit SketchedPart(const std::set<std::string>& names) : names_(names.begin(), names.end()) {}

  std::int64_t operator[](const std::string& text) const {
    const auto at = std::lower_bound(names_.begin(), names_.end(), text);
    return at != names_.end() && *at == text ? at - names_.begin() + 1 : 1'000'000;
  }

  std::vector<cluster::MemberRow> members;
  std::vector<cluster::GroupMemberRow> group_members;
  std::vector<cluster::RankStepRow> steps;
  std::vector<cluster::RankCollectiveRow> collectives;
  std::vector<cluster::PacketRow> packets;
  std::vector<cluster::LinkRow> links;
  std::vector<cluster::CollectiveTotalRow> totals;
  std::vector<cluster::CollectiveRow> over_ranks;
  std::vector<cluster::CollectiveHostRow> on_hosts;
  std::vector<cluster::OpTotal> ops;
  cluster::PartFacts facts;

  cluster::Part written(const std::filesystem::path& file) const {
    cluster::PartWriter out(file, names_);
    const auto add = [&out](const auto& rows) {
      for (const auto& row : rows) out.add(row);
    };
    add(members);
    add(group_members);
    add(steps);
    add(collectives);
    add(packets);
    add(links);
    add(totals);
    add(over_ranks);
    add(on_hosts);
    add(ops);
    out.publish(facts);
    return cluster::Part::open(file);
  }

 private:
  std::vector<std::string> names_;
};

// Two ranks on two hosts, in two steps: one all-reduce, one send, over HCCS and RDMA. Tests that
// compute cells rely on these numbers.
inline SketchedPart two_ranks() {
  SketchedPart part({"1234567855", "PROF_A", "PROF_B", "hcom_allReduce_", "hcom_send_", "host-a",
                     "host-b", "uid-a", "uid-b", "Ascend910B", "complete", "MatMul", "AI_CORE"});
  for (std::int64_t i = 0; i < 2; ++i) {
    cluster::MemberRow member;
    member.rank = i;
    member.host_name_id = part[i == 0 ? "uid-a" : "uid-b"];
    member.hostname_name_id = part[i == 0 ? "host-a" : "host-b"];
    member.device_id = 4 + i;
    member.capture_name_id = part[i == 0 ? "PROF_A" : "PROF_B"];
    member.chip_name_id = part["Ascend910B"];
    member.verdict_text_name_id = part["complete"];
    member.task_count = 100;
    part.members.push_back(member);
    part.group_members.push_back({0, part["1234567855"], i + 1, i, 2});
  }
  part.steps = {{0, 1, 1, 1'000, 10'000, 4'000, 5'000, 3'000, 3'000, 500, 200, 100},
                {0, 1, 2, 1'000, 10'000, 6'000, 2'000, 1'000, 3'000, 0, 0, 50},
                {0, 2, 1, 12'000, 8'000, 8'000, 0, 0, 0, 0, 0, 0},
                {0, 2, 2, 12'000, 9'000, 8'001, 1, 1, 998, 0, 0, 7}};
  const std::int64_t group = part["1234567855"];
  const std::int64_t reduce = part["hcom_allReduce_"];
  const std::int64_t send = part["hcom_send_"];
  part.collectives = {
      {0, 1, group, reduce, 0, 1, 1'700'000'000'000'001'234, 2'000'000, 500'000, 250'000, 1'000'000,
       68'000'000},
      {0, 1, group, reduce, 0, 2, 1'700'000'000'000'500'000, 1'500'000, 0, 0, 1'500'000, 1'000'000},
      {0, 1, group, reduce, 1, 1, 1'700'000'000'003'000'000, 1'000'000, 1'000'000, 0, 0, 0},
      {0, 1, group, send, 0, 2, 1'700'000'000'009'000'000, 400'000, 0, 0, 400'000, 2'000'000}};
  // HCCS by SDMA: four packets of 1 MB, one of 64 MB. RDMA: two of 500 kB. A copy on the chip.
  part.packets = {{0, 1, group, reduce, 0, 1, 0, 2, 5'000, 1, 9},
                  {0, 1, group, reduce, 0, 1, 1, 0, 1'000'000, 4, 400'000},
                  {0, 1, group, reduce, 0, 1, 1, 0, 64'000'000, 1, 600'000},
                  {0, 1, group, reduce, 0, 2, 3, 1, 500'000, 2, 100'000},
                  {0, 1, group, send, 0, 2, 2, 0, 2'000'000, 1, 400'000}};
  part.links = {{0, 1, group, reduce, 1, 0, 0, 0, 2, 12, 1, 5'000, 9},
                {0, 1, group, reduce, 1, 0, 1, 1, 0, 19, 4, 4'000'000, 400'000},
                {0, 1, group, reduce, 1, 0, 1, 1, 0, 25, 1, 64'000'000, 600'000},
                {0, 1, group, reduce, 2, 1, 0, 3, 1, 18, 2, 1'000'000, 100'000},
                {0, 1, group, reduce, 2, 1, 7, 3, 1, 18, 2, 1'000'000, 100'000},
                {0, 1, group, send, 2, 1, 0, 2, 0, 20, 1, 2'000'000, 400'000}};
  return part;
}

}  // namespace msprof::test
