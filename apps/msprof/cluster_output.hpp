// What `rank`, `merge` and `cluster` say about parts and ranks.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/error.hpp"
#include "cluster/merge.hpp"

namespace msprof {

// A line on stderr a part that was refused; Exit::partial_data if there are any.
Exit print_refused(const cluster::MergeReport& report);

// Says on stderr which ranks a merged part has, lacks and has in part; Exit::partial_data for the
// latter two. `missing_is_fault`: false for one that will be merged again.
Exit print_ranks(cluster::Ranks ranks, bool missing_is_fault);

// The same for --json: "ranks", "hosts", "missing_ranks", "partial_ranks", "captures_without_rank".
nlohmann::ordered_json ranks_json(const cluster::Ranks& ranks);
nlohmann::ordered_json refused_json(const cluster::MergeReport& report);

}  // namespace msprof
