// The tables of cluster_views() that SQL cannot compute: collectives over all their ranks,
// operators, and what the cluster is found to be (cluster/cluster_analysis.hpp). For QueryDb.
#pragma once

#include <set>
#include <string>

#include "cluster/part.hpp"
#include "store/database.hpp"

namespace msprof {

// Makes them in `db`, another connection to the file of `part`, and the tables that the views rest
// on. Only those are filled that `words`, the names in the SQL that will be asked, names;
// `takes_all`: it has a '*'.
void fill_cluster_tables(const cluster::Part& part, Database& db,
                         const std::set<std::string>& words, bool takes_all);

}  // namespace msprof
