// Collectives iterates over the collectives of a part, combined over all ranks, in order of (step,
// group, operation, sequence). Works with both forms of a part: one row per rank, or totals.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "cluster/part.hpp"

namespace msprof::cluster {

struct Collective {
  CollectiveRow total;                   // the id is not set
  std::vector<CollectiveHostRow> hosts;  // in order of host names; the ids are not set
};

// Returns the earlier of two times; either may be kNull.
inline std::int64_t earlier(std::int64_t a, std::int64_t b) {
  return a == kNull ? b : b == kNull ? a : std::min(a, b);
}

class Collectives {
 public:
  explicit Collectives(const Part& part);
  ~Collectives();
  bool next();
  const Collective& operator*() const { return now_; }
  const Collective* operator->() const { return &now_; }

 private:
  class Source;
  std::unique_ptr<Source> source_;
  Collective now_;
};

// Adds one rank's row of a collective to its sums, extremes and host.
void add_rank(Collective& collective, const RankCollectiveRow& row, std::int64_t host_name_id);
// Adds the totals of other ranks in the same collective.
void add_ranks(Collective& collective, const Collective& other);

}  // namespace msprof::cluster
