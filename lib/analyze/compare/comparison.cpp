#include "analyze/compare/comparison.hpp"

#include <fmt/format.h>

#include <cmath>

namespace msprof {

std::optional<double> Change::percent() const {
  if (!base || *base == 0) return std::nullopt;
  return 100 * delta() / *base;
}

bool Change::is_noise() const {
  return !(std::abs(delta()) > noise);
}

std::string_view match_name(MatchedBy matched_by) {
  switch (matched_by) {
    case MatchedBy::name:
      return "name";
    case MatchedBy::shape:
      return "shape";
    case MatchedBy::fusion:
      return "fusion";
    case MatchedBy::unmatched:
      break;
  }
  return "unmatched";
}

std::string_view verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::faster:
      return "faster";
    case Verdict::slower:
      return "slower";
    case Verdict::noise:
      break;
  }
  return "noise";
}

std::string per_unit(const std::string& unit) {
  constexpr std::string_view kOne = "one ";
  return unit.starts_with(kOne) ? "per " + unit.substr(kOne.size()) : "for " + unit;
}

std::string_view counted_unit(const std::string& unit) {
  if (unit == "one iteration") return "iteration";
  return unit.starts_with("one ") ? "execution" : "";
}

std::string ComparisonWarning::shown() const {
  return id ? fmt::format("{} [{}]", text, finding_info(*id).id) : text;
}

std::string OpChange::name() const {
  const auto& names = base_names.size() >= new_names.size() ? base_names : new_names;
  std::string joined;
  for (const std::string& one : names) joined += (joined.empty() ? "" : "+") + one;
  return joined;
}

std::string_view OpChange::match() const {
  if (matched_by != MatchedBy::unmatched) return match_name(matched_by);
  return new_names.empty() ? "only BASE" : "only NEW";
}

std::string MatchCounts::text() const {
  return fmt::format("{} matched by name, {} by shape, {} by fusion; {} only BASE, {} only NEW",
                     by_name, by_shape, by_fusion, only_base, only_new);
}

std::string join_both(const std::string& base, const std::string& now) {
  if (base.empty()) return now;
  return now.empty() || base == now ? base : base + " → " + now;
}

}  // namespace msprof
