#include "export/time_histogram.hpp"

#include <map>

namespace msprof {

void TimeHistogram::add(std::int64_t time_ns, std::uint64_t bytes) {
  bytes_ += bytes;
  stretches_[time_ns >> shift_] += bytes;
  while (stretches_.size() > kMostStretches) widen();
}

void TimeHistogram::widen() {
  ++shift_;
  std::unordered_map<std::int64_t, std::uint64_t> wider;
  for (const auto& [stretch, bytes] : stretches_) wider[stretch >> 1] += bytes;
  stretches_ = std::move(wider);
}

std::vector<std::int64_t> TimeHistogram::cuts(std::uint64_t most) const {
  std::vector<std::int64_t> cuts;
  std::uint64_t bytes = 0;
  for (const auto& [stretch, more] : std::map(stretches_.begin(), stretches_.end())) {
    if (bytes > 0 && bytes + more > most) {
      cuts.push_back(stretch * (std::int64_t{1} << shift_));
      bytes = 0;
    }
    bytes += more;
  }
  return cuts;
}

}  // namespace msprof
