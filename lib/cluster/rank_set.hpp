// RankSet: numbers of ranks, as a manifest names them and as people read them: "0-63,70".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace msprof::cluster {

class RankSet {
 public:
  // Largest number that a rank can have: what is beyond is a mistake, or damage.
  static constexpr std::int64_t kMaxRank = 9'999'999;

  // Numbers and ranges "8-15", parted by commas, blanks or lines; what follows '#' in a line is a
  // comment. Empty for anything else.
  static std::optional<RankSet> parse(std::string_view text);

  // First to last, both in it; out of 0 to kMaxRank nothing is added.
  void add(std::int64_t first, std::int64_t last);
  void add(std::int64_t rank) { add(rank, rank); }
  void add(const RankSet& other);
  void remove(std::int64_t rank);
  bool empty() const { return ranges_.empty(); }
  std::int64_t count() const;
  // "0-63,70"; beyond `most` ranges the rest is "… and N more" (0: no limit).
  std::string text(std::size_t most = 0) const;

 private:
  std::map<std::int64_t, std::int64_t> ranges_;  // last by first; they neither overlap nor touch
};

}  // namespace msprof::cluster
