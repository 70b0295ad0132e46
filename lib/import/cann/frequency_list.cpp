#include "import/cann/lpm_freq.hpp"

#include <algorithm>

namespace msprof::cann {

std::vector<FrequencyChange> merged(std::vector<FrequencyChange> entries,
                                    const std::vector<FrequencyChange>& others) {
  if (others.empty()) return entries;
  if (entries.empty()) return others;
  entries.insert(entries.end(), others.begin(), others.end());
  std::stable_sort(entries.begin(), entries.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
  return entries;
}

std::vector<FrequencyChange> frequency_list(const std::vector<FrequencyChange>& entries,
                                            std::uint64_t start_ticks, std::uint32_t info_mhz) {
  const auto is_zero = [](const FrequencyChange& entry) { return entry.second == 0; };
  if (entries.empty() || std::any_of(entries.begin(), entries.end(), is_zero)) return {};
  std::vector<FrequencyChange> list{{start_ticks, info_mhz}};
  for (const FrequencyChange& entry : entries) {
    if (entry.first < start_ticks) {
      list.front().second = entry.second;
    } else {
      list.push_back(entry);
    }
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  return list;
}

std::vector<CounterRow> frequency_points(const std::vector<FrequencyChange>& list,
                                         std::optional<std::uint32_t> initial,
                                         const ClockMap& clock, const FrequencyWindow& window) {
  std::vector<CounterRow> points;
  std::optional<std::uint32_t> at_begin = initial;
  std::optional<std::uint32_t> last = initial;
  for (const auto& [ticks, value] : list) {
    const std::int64_t time_ns = clock.ns(ticks);
    last = value;
    if (time_ns < window.begin_ns) {
      at_begin = value;
    } else {
      points.push_back({0, 0, time_ns, value});
    }
  }
  // An entry of that very moment says the same.
  const bool is_said = !points.empty() && points.front().time_ns == window.begin_ns &&
                       points.front().value == at_begin;
  if (at_begin && !is_said) points.insert(points.begin(), {0, 0, window.begin_ns, *at_begin});
  if (last && window.end_ns) points.push_back({0, 0, *window.end_ns, *last});
  return points;
}

}  // namespace msprof::cann
