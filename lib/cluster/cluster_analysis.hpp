// ClusterAnalysis: all that a part says about its ranks, links, clocks and steps. For query, advice
// and products; how each is decided: docs/cluster.md.
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

// Reads the collectives, the links and the steps once each. Throws Error(partial_data) for rows
// that contradict each other.
ClusterAnalysis analyse(const Part& part);

}  // namespace msprof::cluster
