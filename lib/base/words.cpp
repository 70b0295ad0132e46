#include "base/words.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "base/text.hpp"

namespace msprof {

std::string word_for(std::uint64_t count, std::string_view one, std::string_view many) {
  if (count == 1) return std::string(one);
  return many.empty() ? std::string(one) + "s" : std::string(many);
}

std::string counted(std::uint64_t count, std::string_view one, std::string_view many) {
  return with_thousands(count) + " " + word_for(count, one, many);
}

namespace {

constexpr std::size_t kMaxName = 200;

// Levenshtein distance: insertions, deletions and substitutions of bytes.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t exchange = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({exchange, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::vector<std::string> nearest_names(std::string_view word, std::span<const std::string> names) {
  if (word.empty() || word.size() > kMaxName) return {};
  const std::string wanted = lower_ascii(word);
  std::set<std::pair<std::size_t, std::string>> near;
  for (const std::string& name : names) {
    if (name.size() > kMaxName) continue;
    const std::string candidate = lower_ascii(name);
    // A word contained in a name ("ops" in "v_ops") is nearer than its edit distance suggests.
    const bool is_part = wanted.size() >= 3 && candidate.find(wanted) != std::string::npos;
    const std::size_t distance = is_part ? 1 : edit_distance(wanted, candidate);
    if (distance <= (wanted.size() + 2) / 3) near.emplace(distance, name);
  }
  std::vector<std::string> result;
  for (const auto& [distance, name] : near) {
    if (result.size() < 3) result.push_back(name);
  }
  return result;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> names) {
  const auto near = nearest_names(word, names);
  if (near.empty()) return "";
  std::string text = "; did you mean ";
  for (std::size_t i = 0; i < near.size(); ++i) {
    if (i > 0) text += i + 1 == near.size() ? " or " : ", ";
    text += near[i];
  }
  return text + "?";
}

}  // namespace msprof
