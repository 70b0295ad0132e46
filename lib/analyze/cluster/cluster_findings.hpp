// Formats the findings of the cluster rules as sentences for `show` and the HTML page.
#pragma once

#include <string>
#include <vector>

#include "cluster/clocks.hpp"
#include "cluster/products/cluster_view.hpp"

namespace msprof {

struct ClusterFinding {
  std::string severity;  // "problem", "hint", "info"
  std::string what;
  std::vector<std::string> evidence;  // most important first
  std::string remedy;                 // empty if there is none
};

// Applies the built-in rules. Texts are in English, most severe first.
std::vector<ClusterFinding> cluster_findings(const cluster::Part& part);

// Returns the clock offsets to subtract from times in products. Hosts with unaligned clocks are
// omitted.
cluster::ClockShifts clock_shifts(const cluster::HostClocks& clocks);

}  // namespace msprof
