// Merges rank summaries (parts) into one. The result is byte-identical for any order and grouping.
// Used by `msprof merge` and `msprof cluster`.
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
  // Rows of rank_collective to keep; a part with more rows gets totals instead.
  std::int64_t detail_rows = 50'000'000;
  RankSet expected;  // ranks that should exist, in addition to those that the parts list
};

// A part that was not merged; `reason` is a full sentence that contains its path.
struct RefusedPart {
  std::filesystem::path path;
  std::string reason;
};

struct MergeReport {
  std::size_t merged = 0;
  std::vector<RefusedPart> refused;
};

// Merges `parts` into `output`, written atomically. Skips parts that cannot be read, have another
// version or contain a rank of an earlier part. Memory use does not depend on the number of parts.
// Throws Error(nothing_to_do) if no part is left, Error(cannot_write).
MergeReport merge_parts(const std::vector<std::filesystem::path>& parts,
                        const std::filesystem::path& output, const MergeOptions& options);

// Temporary parts of a merge, in a folder next to its output: the parts of captures and of groups
// of inputs. The destructor removes them.
class IntermediateParts {
 public:
  explicit IntermediateParts(std::filesystem::path output) : output_(std::move(output)) {}

  std::filesystem::path add();
  const std::vector<std::filesystem::path>& paths() const { return paths_; }
  void clear();

 private:
  std::filesystem::path output_;
  std::optional<TemporaryFolder> folder_;
  std::vector<std::filesystem::path> paths_;
};

struct Ranks {
  RankSet present;
  RankSet missing;           // expected (by manifest, else 0 to highest known rank) but absent
  RankSet partial;           // ranks whose captures were only partly read
  std::int64_t unknown = 0;  // captures without a rank
  std::int64_t hosts = 0;
};
Ranks read_ranks(const Part& part);

// Missing and partial ranks, as all commands print them: {"MISSING", "3 ranks (2-4)"}, {"PARTIAL
// DATA", "1 rank (7)"}. Empty if the cluster is complete.
struct LackingRanks {
  std::string what;
  std::string ranks;
  std::string line() const { return what + ": " + ranks; }
};
std::vector<LackingRanks> lacking_ranks(const Ranks& ranks);

}  // namespace msprof::cluster
