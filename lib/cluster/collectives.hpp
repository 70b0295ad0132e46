// Collectives: each collective of a part over all its ranks, in order of (step, group, operation,
// sequence), from whichever form the part has: a row a rank, or the tables that stand in its place.
// For merging, for the alignment of clocks and for slow ranks.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "cluster/part.hpp"

namespace msprof::cluster {

struct Collective {
  CollectiveRow total;                   // its id has no meaning
  std::vector<CollectiveHostRow> hosts;  // in order of their names, ids without a meaning
};

// The earlier of two times, of which either may be kNull.
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

// Adds one rank's part in a collective: to its sums, its extremes and its host.
void add_rank(Collective& collective, const RankCollectiveRow& row, std::int64_t host_name_id);
// Adds what other ranks came to in the same collective.
void add_ranks(Collective& collective, const Collective& other);

}  // namespace msprof::cluster
