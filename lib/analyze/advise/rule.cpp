#include "analyze/advise/rule.hpp"

#include <algorithm>
#include <cmath>

namespace msprof {

namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool is_same_letter(char a, char b) {
  return lower(a) == lower(b);
}

bool is_same_text(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), is_same_letter);
}

bool holds(std::string_view text, std::string_view part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(), is_same_letter) !=
         text.end();
}

double hundredths(double value) {
  return std::round(value * 100);
}

}  // namespace

std::string_view severity_name(RuleSeverity severity) {
  switch (severity) {
    case RuleSeverity::problem:
      return "problem";
    case RuleSeverity::hint:
      return "hint";
    case RuleSeverity::info:
      return "info";
  }
  return "info";
}

double Rule::resolve_limit(const Limit& limit) const {
  const auto known = thresholds.find(limit.threshold);
  return known == thresholds.end() ? limit.number : known->second;
}

bool compare(double left, Comparator comparator, double right) {
  switch (comparator) {
    case Comparator::less:
      return left < right;
    case Comparator::less_equal:
      return left <= right;
    case Comparator::greater:
      return left > right;
    case Comparator::greater_equal:
      return left >= right;
    case Comparator::equal:
      return hundredths(left) == hundredths(right);
    case Comparator::not_equal:
      return hundredths(left) != hundredths(right);
    default:
      return false;
  }
}

bool compare(std::string_view left, Comparator comparator, const std::vector<std::string>& right) {
  const auto is_left = [&](const std::string& text) { return is_same_text(left, text); };
  switch (comparator) {
    case Comparator::equal:
    case Comparator::in:
      return std::any_of(right.begin(), right.end(), is_left);
    case Comparator::not_equal:
    case Comparator::not_in:
      return std::none_of(right.begin(), right.end(), is_left);
    case Comparator::contains:
      return std::any_of(right.begin(), right.end(),
                         [&](const std::string& text) { return holds(left, text); });
    default:
      return false;
  }
}

}  // namespace msprof
