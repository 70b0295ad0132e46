#include "analyze/advise/memory_bandwidth.hpp"

#include <algorithm>

#include "base/number.hpp"
#include "export/scope/counter_samples.hpp"

namespace msprof {

namespace {

// The start or end of a rate on one channel.
struct RateStep {
  std::int64_t time_ns = 0;
  double mb_per_s = 0;
};
using StepsOfDevice = std::map<std::int64_t, std::vector<RateStep>>;

StepsOfDevice rate_steps(const Database& db, std::string_view kind) {
  StepsOfDevice steps;
  const ExportScope everything;
  CounterSamples samples(db, kind, everything);
  while (samples.next()) {
    const CounterTrack& track = *samples->track;
    if (!track.device || track.unit != "MB/s" || !samples->begin_ns) continue;
    // Traffic of a single DDR master is already part of the total.
    if (kind == "ddr" && track.number) continue;
    if (*samples->begin_ns >= samples->time_ns) continue;
    const double rate = samples->shown();
    auto& all = steps[*track.device];
    all.push_back({*samples->begin_ns, rate});
    all.push_back({samples->time_ns, -rate});
  }
  return steps;
}

double seconds(std::int64_t begin_ns, std::int64_t end_ns) {
  return static_cast<double>(saturating_subtract(end_ns, begin_ns)) / 1e9;
}

}  // namespace

MemoryBandwidth::MemoryBandwidth(const Database& db) {
  StepsOfDevice steps = rate_steps(db, "hbm");
  for (auto& [device, of_ddr] : rate_steps(db, "ddr")) steps.try_emplace(device, std::move(of_ddr));
  for (auto& [number, all] : steps) {
    std::sort(all.begin(), all.end(),
              [](const RateStep& a, const RateStep& b) { return a.time_ns < b.time_ns; });
    Device& device = devices_[std::to_string(number)];
    for (const RateStep& step : all) {
      if (device.stretches.empty()) {
        device.stretches.push_back({step.time_ns, step.mb_per_s, 0});
        continue;
      }
      const Stretch last = device.stretches.back();
      if (step.time_ns == last.begin_ns) {
        device.stretches.back().mb_per_s += step.mb_per_s;
        continue;
      }
      device.peak_mb_per_s = std::max(device.peak_mb_per_s, last.mb_per_s);
      device.stretches.push_back(
          {step.time_ns, last.mb_per_s + step.mb_per_s,
           last.moved_mb + last.mb_per_s * seconds(last.begin_ns, step.time_ns)});
    }
  }
}

double MemoryBandwidth::moved_until(const Device& device, std::int64_t time_ns) {
  const auto next =
      std::upper_bound(device.stretches.begin(), device.stretches.end(), time_ns,
                       [](std::int64_t time, const Stretch& one) { return time < one.begin_ns; });
  if (next == device.stretches.begin()) return 0;
  const Stretch& at = *std::prev(next);
  return at.moved_mb + at.mb_per_s * seconds(at.begin_ns, time_ns);
}

std::optional<MemoryBandwidth::Load> MemoryBandwidth::find(std::string_view device,
                                                           std::int64_t begin_ns,
                                                           std::int64_t end_ns) const {
  const auto found = devices_.find(device);
  if (found == devices_.end() || begin_ns >= end_ns) return std::nullopt;
  const Device& all = found->second;
  if (begin_ns < all.stretches.front().begin_ns || end_ns > all.stretches.back().begin_ns)
    return std::nullopt;
  const double moved = moved_until(all, end_ns) - moved_until(all, begin_ns);
  return Load{moved / seconds(begin_ns, end_ns), all.peak_mb_per_s};
}

}  // namespace msprof
