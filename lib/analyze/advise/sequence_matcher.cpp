#include "analyze/advise/sequence_matcher.hpp"

#include <algorithm>

namespace msprof {

SequenceMatcher::SequenceMatcher(const RuleSequence& sequence, const CellNames& types)
    : sequence_(sequence), types_(types) {
  for (const RulePattern& pattern : sequence_.patterns)
    longest_ = std::max(longest_, pattern.elements.size());
}

SequenceMatcher::Match SequenceMatcher::add(std::size_t stream, std::size_t type,
                                            std::string_view name, double time_us) {
  if (stream >= streams_.size()) streams_.resize(stream + 1);
  Rows& rows = streams_[stream];
  // A type that is in no pattern ends all partial matches.
  if (!is_element(type)) {
    rows.clear();
    return {};
  }
  if (rows.size() < longest_) {
    rows.emplace_back();
  } else {
    // Reuses the memory of the oldest row.
    std::rotate(rows.begin(), rows.begin() + 1, rows.end());
  }
  rows.back().type = type;
  rows.back().name = name;
  rows.back().time_us = time_us;
  for (const RulePattern& pattern : sequence_.patterns) {
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

bool SequenceMatcher::is_element(std::size_t type) {
  if (type >= known_types_.size()) known_types_.resize(type + 1, Known::nothing);
  Known& known = known_types_[type];
  if (known == Known::nothing) {
    const auto has = [&](const RulePattern& pattern) {
      return std::any_of(pattern.elements.begin(), pattern.elements.end(), [&](const auto& one) {
        return compare(types_.name(type), Comparator::in, one);
      });
    };
    const bool is_any = std::any_of(sequence_.patterns.begin(), sequence_.patterns.end(), has);
    known = is_any ? Known::element : Known::no_element;
  }
  return known == Known::element;
}

bool SequenceMatcher::ends_with(const Rows& rows, const RulePattern& pattern) const {
  const auto& elements = pattern.elements;
  if (rows.size() < elements.size()) return false;
  // Compares backwards, because most rows differ in the last element.
  for (std::size_t i = 1; i <= elements.size(); ++i) {
    const std::string& type = types_.name(rows[rows.size() - i].type);
    if (!compare(type, Comparator::in, elements[elements.size() - i])) return false;
  }
  return true;
}

}  // namespace msprof
