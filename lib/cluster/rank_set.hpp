// RankSet is a set of rank numbers that parses and prints as "0-63,70".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace msprof::cluster {

class RankSet {
 public:
  // Largest valid rank number; larger numbers are typos or damage.
  static constexpr std::int64_t kMaxRank = 9'999'999;

  // Parses numbers and ranges ("8-15") separated by commas, white space or newlines; '#' starts a
  // comment. Returns empty for other input.
  static std::optional<RankSet> parse(std::string_view text);

  // Adds `first` to `last`, both inclusive. Ignores numbers outside of 0 to kMaxRank.
  void add(std::int64_t first, std::int64_t last);
  void add(std::int64_t rank) { add(rank, rank); }
  void add(const RankSet& other);
  void remove(std::int64_t rank);
  bool empty() const { return ranges_.empty(); }
  std::int64_t count() const;
  // Returns "0-63,70"; after `most` ranges appends " and N more" (0: no limit).
  std::string text(std::size_t most = 0) const;

 private:
  std::map<std::int64_t, std::int64_t> ranges_;  // first to last; ranges neither overlap nor touch
};

}  // namespace msprof::cluster
