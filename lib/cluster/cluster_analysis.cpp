#include "cluster/cluster_analysis.hpp"

#include "store/row_cursor.hpp"

namespace msprof::cluster {

namespace {

std::vector<GroupMemberRow> read_group_members(const Part& part) {
  std::vector<GroupMemberRow> rows;
  for (RowCursor<GroupMemberRow> read(part.db()); read.next();) rows.push_back(*read);
  return rows;
}

}  // namespace

ClusterAnalysis analyse(const Part& part) {
  const auto names = part.names();
  const auto members = part.members();
  const auto groups = read_group_members(part);
  ClusterAnalysis found;

  ClockEstimator clocks(names);
  StragglerFinder stragglers(names, members, groups);
  for (Collectives collectives(part); collectives.next();) {
    clocks.add(*collectives);
    stragglers.add(*collectives);
  }
  found.clocks = clocks.finish(members);

  SlowLinkFinder links(groups);
  for (RowCursor<LinkRow> read(part.db()); read.next();) links.add(*read);
  found.slow_links = links.finish();

  StepGrowthFinder growth;
  std::vector<RankStepRow> step;
  const auto take_step = [&] {
    stragglers.add_step(step);
    growth.add_step(step);
    step.clear();
  };
  for (RowCursor<RankStepRow> read(part.db()); read.next();) {
    if (!step.empty() && step.front().step != read->step) take_step();
    if (step.size() > members.size()) throw part.damaged("a step with more ranks than exist");
    step.push_back(*read);
  }
  take_step();
  found.growth = growth.finish();
  found.stragglers = stragglers.finish();
  return found;
}

}  // namespace msprof::cluster
