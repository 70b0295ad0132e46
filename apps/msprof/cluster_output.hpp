// Output of `rank`, `merge` and `cluster` about rank summaries and ranks.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/error.hpp"
#include "cluster/merge.hpp"

namespace msprof {

// Prints a line on stderr for each rejected rank summary; Exit::partial_data if there are any.
Exit print_refused(const cluster::MergeReport& report);

// Prints on stderr which ranks of a merged summary are present, missing or incomplete;
// Exit::partial_data for the latter two. `missing_is_fault`: false if the summary will be merged
// again.
Exit print_ranks(cluster::Ranks ranks, bool missing_is_fault);

// The same for --json: "ranks", "hosts", "missing_ranks", "partial_ranks", "captures_without_rank".
nlohmann::ordered_json ranks_json(const cluster::Ranks& ranks);
nlohmann::ordered_json refused_json(const cluster::MergeReport& report);

}  // namespace msprof
