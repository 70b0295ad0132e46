#include "cluster/rank_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

namespace msprof::cluster {

namespace {

constexpr bool is_gap(char c) {
  return c == ',' || c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

std::optional<std::int64_t> parse_rank(std::string_view digits) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool is_number = error == std::errc() && end == digits.data() + digits.size();
  return is_number && value >= 0 && value <= RankSet::kMaxRank ? std::optional(value)
                                                               : std::nullopt;
}

std::string_view without_comment(std::string_view text) {
  return text.substr(0, text.find('#'));
}

}  // namespace

std::optional<RankSet> RankSet::parse(std::string_view text) {
  RankSet set;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = without_comment(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    while (!line.empty()) {
      if (is_gap(line.front())) {
        line.remove_prefix(1);
        continue;
      }
      const auto stop = std::find_if(line.begin(), line.end(), is_gap);
      const std::string_view word(line.data(), static_cast<std::size_t>(stop - line.begin()));
      line.remove_prefix(word.size());
      const std::size_t dash = word.find('-');
      const auto first = parse_rank(word.substr(0, dash));
      const auto last = dash == std::string_view::npos ? first : parse_rank(word.substr(dash + 1));
      if (!first || !last || *last < *first) return std::nullopt;
      set.add(*first, *last);
    }
  }
  return set;
}

void RankSet::add(std::int64_t first, std::int64_t last) {
  first = std::max<std::int64_t>(first, 0);
  last = std::min(last, kMaxRank);
  if (last < first) return;
  auto at = ranges_.upper_bound(first);
  if (at != ranges_.begin() && std::prev(at)->second >= first - 1) --at;
  while (at != ranges_.end() && at->first <= last + 1) {
    first = std::min(first, at->first);
    last = std::max(last, at->second);
    at = ranges_.erase(at);
  }
  ranges_[first] = last;
}

void RankSet::add(const RankSet& other) {
  for (const auto& [first, last] : other.ranges_) add(first, last);
}

void RankSet::remove(std::int64_t rank) {
  auto at = ranges_.upper_bound(rank);
  if (at == ranges_.begin()) return;
  --at;
  const std::int64_t first = at->first;
  const std::int64_t last = at->second;
  if (last < rank) return;
  ranges_.erase(at);
  if (first < rank) ranges_[first] = rank - 1;
  if (rank < last) ranges_[rank + 1] = last;
}

std::int64_t RankSet::count() const {
  std::int64_t count = 0;
  for (const auto& [first, last] : ranges_) count += last - first + 1;
  return count;
}

std::string RankSet::text(std::size_t most) const {
  std::string out;
  std::size_t shown = 0;
  std::int64_t shown_ranks = 0;
  for (const auto& [first, last] : ranges_) {
    if (most > 0 && shown == most) return out + fmt::format(" and {} more", count() - shown_ranks);
    if (shown++ > 0) out += ',';
    out += first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
    shown_ranks += last - first + 1;
  }
  return out;
}

}  // namespace msprof::cluster
