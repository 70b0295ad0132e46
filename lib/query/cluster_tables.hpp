// Fills the tables of cluster_views() that SQL cannot compute: collectives over all ranks,
// operators, and the results of cluster/cluster_analysis.hpp.
#pragma once

#include <set>
#include <string>

#include "cluster/part.hpp"
#include "store/database.hpp"

namespace msprof {

// Creates these tables, and the helper tables used by the views, in `db`, a second connection to
// the file of `part`. Fills only tables named in `words`, the words of the SQL to be run.
// `takes_all` is true if that SQL selects all columns ('*').
void fill_cluster_tables(const cluster::Part& part, Database& db,
                         const std::set<std::string>& words, bool takes_all);

}  // namespace msprof
