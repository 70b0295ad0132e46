// SQL views of a merged cluster file. Their names, columns and units stay stable when the tables
// change. Used for SQL from users and for cluster rules.
//
// As in views.hpp, points in time are integers in ns, durations are reals in us. Times are in the
// clock of the recording host; `aligned_…` times are in the clock of the reference host
// (cluster/clocks.hpp), NULL if the host's clock offset is unknown.
#pragma once

#include <vector>

#include "query/views.hpp"

namespace msprof {

// Views without a `select` are tables, filled if the SQL names them (cluster_tables.hpp).
const std::vector<View>& cluster_views();

}  // namespace msprof
