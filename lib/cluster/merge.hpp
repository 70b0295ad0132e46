// Merging: parts become one part, in whatever order and grouping: the bytes are the same. For
// `msprof merge` and `msprof cluster`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/atomic_file.hpp"
#include "cluster/part.hpp"
#include "cluster/rank_set.hpp"

namespace msprof::cluster {

struct MergeOptions {
  // Rows of rank_collective that a merged part keeps; beyond it totals stand in their place.
  std::int64_t detail_rows = 50'000'000;
  RankSet expected;  // ranks that should be there, beside those that the parts name
};

// A part that was left out, and why: a whole sentence that names it.
struct RefusedPart {
  std::filesystem::path path;
  std::string reason;
};

struct MergeReport {
  std::size_t merged = 0;
  std::vector<RefusedPart> refused;
};

// Merges `parts` into `output`, which is published by rename. Parts that cannot be read, of another
// version, or with a rank that an earlier one has are refused and the rest merged. Memory does not
// grow with the number of parts. Throws Error(nothing_to_do) if no part is left, and
// Error(cannot_write).
MergeReport merge_parts(const std::vector<std::filesystem::path>& parts,
                        const std::filesystem::path& output, const MergeOptions& options);

// Parts in a temporary folder beside the output of a merge, which goes with this: those of single
// captures and those of groups of inputs.
class IntermediateParts {
 public:
  explicit IntermediateParts(std::filesystem::path output) : output_(std::move(output)) {}

  // A name for one more.
  std::filesystem::path add();
  const std::vector<std::filesystem::path>& paths() const { return paths_; }
  void clear();

 private:
  std::filesystem::path output_;
  std::optional<TemporaryFolder> folder_;
  unsigned next_ = 0;
  std::vector<std::filesystem::path> paths_;
};

// What ranks a part has.
struct Ranks {
  RankSet present;
  RankSet missing;  // of those expected: by a manifest, else all up to the highest that is known
  RankSet partial;  // whose captures were read in part
  std::int64_t unknown = 0;  // captures that do not know their rank
  std::int64_t hosts = 0;
};
Ranks ranks_of(const Part& part);

// What lacks, in the words of every command: {"MISSING", "3 ranks (2-4)"} and {"PARTIAL DATA",
// "1 rank (7)"}, where there are such ranks.
struct LackingRanks {
  std::string what;
  std::string ranks;
  std::string line() const { return what + ": " + ranks; }
};
std::vector<LackingRanks> lacking_ranks(const Ranks& ranks);

}  // namespace msprof::cluster
