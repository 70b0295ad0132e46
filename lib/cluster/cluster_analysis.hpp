// ClusterAnalysis holds all results derived from a rank summary (Part): clocks, slow ranks, slow
// links and step growth. Criteria: internals/cluster.md.
#pragma once

#include <vector>

#include "cluster/clocks.hpp"
#include "cluster/part.hpp"
#include "cluster/slow_links.hpp"
#include "cluster/step_growth.hpp"
#include "cluster/stragglers.hpp"

namespace msprof::cluster {

struct ClusterAnalysis {
  HostClocks clocks;
  Stragglers stragglers;
  std::vector<SlowLink> slow_links;
  StepGrowth growth;
};

// Reads collectives, links and steps once each. Throws Error(partial_data) for inconsistent rows.
ClusterAnalysis analyse(const Part& part);

}  // namespace msprof::cluster
