// What the rules about clusters found, as sentences for `show` and the page.
#pragma once

#include <string>
#include <vector>

#include "cluster/clocks.hpp"
#include "cluster/products/cluster_view.hpp"

namespace msprof {

struct ClusterFinding {
  std::string severity;  // "problem", "hint", "info"
  std::string what;
  std::vector<std::string> evidence;  // the gravest first
  std::string remedy;                 // empty: none
};

// The rules of the product, in English; the gravest first.
std::vector<ClusterFinding> cluster_findings(const cluster::Part& part);

// What products take from the times of each host; those whose clocks are not aligned keep theirs.
cluster::ClockShifts clock_shifts(const cluster::HostClocks& clocks);

}  // namespace msprof
