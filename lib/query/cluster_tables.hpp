// Fills the tables of cluster_views() that SQL cannot compute: collectives over all ranks,
// operators, and the results of cluster/cluster_analysis.hpp.
#pragma once

#include <set>
#include <string>

#include "cluster/part.hpp"
#include "store/database.hpp"

namespace msprof {

// Creates the tables described above and the views' helper tables in `db`, another connection to
// the file of `part`. Fills only tables whose name is in `words`, the tokens of the SQL.
// `takes_all` is true if that SQL selects all columns ('*').
void fill_cluster_tables(const cluster::Part& part, Database& db,
                         const std::set<std::string>& words, bool takes_all);

}  // namespace msprof
