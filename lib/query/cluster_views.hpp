// Readable views of a cluster: contents of a part, under names, columns and units that stay when
// its tables change. For SQL of users on a merged file, and for the rules about clusters.
//
// As those of a capture (views.hpp): points in time are integers in ns, durations reals in us. A
// time is by the clock of its host, as recorded; `aligned_…` is by that of the reference host
// (cluster/clocks.hpp), NULL where the clock of the host is not known.
#pragma once

#include <vector>

#include "query/views.hpp"

namespace msprof {

// Those without a `select` are tables, filled when SQL names them (cluster_tables.hpp).
const std::vector<View>& cluster_views();

}  // namespace msprof
