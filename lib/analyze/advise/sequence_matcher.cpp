#include "analyze/advise/sequence_matcher.hpp"

#include <algorithm>

namespace msprof {

namespace {

// A store from elsewhere may have any number of streams.
constexpr std::size_t kMostStreams = 10'000;

}  // namespace

SequenceMatcher::SequenceMatcher(const Sequence& sequence) : sequence_(sequence) {
  for (const Pattern& pattern : sequence_.patterns)
    longest_ = std::max(longest_, pattern.elements.size());
}

bool SequenceMatcher::ends_with(const Rows& rows, const Pattern& pattern) const {
  const auto& elements = pattern.elements;
  if (rows.size() < elements.size()) return false;
  // From the end: most rows fail there.
  for (std::size_t i = 1; i <= elements.size(); ++i) {
    if (!compare(rows[rows.size() - i].type, Comparator::in, elements[elements.size() - i]))
      return false;
  }
  return true;
}

SequenceMatcher::Match SequenceMatcher::add(std::string_view stream, std::string_view type,
                                            std::string_view name, double time_us) {
  auto at = streams_.find(stream);
  if (at == streams_.end()) {
    if (streams_.size() >= kMostStreams) return {};
    at = streams_.emplace(std::string(stream), Rows()).first;
  }
  Rows& rows = at->second;
  if (rows.size() < longest_) {
    rows.emplace_back();
  } else {
    // The oldest makes room, and its memory serves again.
    std::rotate(rows.begin(), rows.begin() + 1, rows.end());
  }
  rows.back().type = type;
  rows.back().name = name;
  rows.back().time_us = time_us;
  for (const Pattern& pattern : sequence_.patterns) {
    if (!ends_with(rows, pattern)) continue;
    Match match{&pattern, {}, 0};
    const std::size_t first = rows.size() - pattern.elements.size();
    for (std::size_t i = first; i < rows.size(); ++i) {
      match.names += (i == first ? "" : " + ") + rows[i].name;
      if (i - first >= sequence_.costs_from) match.time_us += rows[i].time_us;
    }
    rows.clear();
    return match;
  }
  return {};
}

}  // namespace msprof
