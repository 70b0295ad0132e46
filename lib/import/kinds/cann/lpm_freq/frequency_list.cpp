#include "import/kinds/cann/lpm_freq/frequency_list.hpp"

#include <algorithm>

namespace msprof::cann {

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
                                         std::uint32_t info_mhz, const ClockMap& clock,
                                         const FrequencyWindow& window) {
  std::vector<CounterRow> points(1);
  std::int64_t at_begin = info_mhz;
  std::int64_t last = info_mhz;
  for (const auto& [ticks, mhz] : list) {
    const std::int64_t time_ns = clock.ns(ticks);
    last = mhz;
    if (time_ns < window.begin_ns) {
      at_begin = mhz;
    } else {
      points.push_back({0, 0, time_ns, mhz});
    }
  }
  points.front() = {0, 0, window.begin_ns, at_begin};
  // An entry of that very moment says the same.
  if (points.size() > 1 && points[1].time_ns == window.begin_ns && points[1].value == at_begin) {
    points.erase(points.begin() + 1);
  }
  if (window.end_ns) points.push_back({0, 0, *window.end_ns, last});
  return points;
}

}  // namespace msprof::cann
