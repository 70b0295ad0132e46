#include "export/scope/core_sums.hpp"

#include <algorithm>
#include <charconv>

namespace msprof {

namespace {

// Returns the devices with all metrics of their metric set, counted or not.
std::map<std::int64_t, SampledDevice> known_devices(const Database& db, std::string_view kind) {
  Statement read = db.prepare(
      "SELECT device.id, ifnull(frequency_hz, 0), ifnull(platform, -1), ifnull(core.text, ''),"
      " ifnull(vector.text, '') FROM device"
      " LEFT JOIN name AS core ON core.id = core_metrics_name_id"
      " LEFT JOIN name AS vector ON vector.id = vector_core_metrics_name_id ORDER BY device.id");
  std::map<std::int64_t, SampledDevice> devices;
  while (read.step()) {
    SampledDevice device;
    device.id = read.integer(0);
    device.frequency_hz = static_cast<double>(read.integer(1));
    device.metrics = pmu_sample_set(read.text(kind == kSampledVectorCores ? 4 : 3),
                                    static_cast<int>(read.integer(2)));
    devices.emplace(device.id, std::move(device));
  }
  return devices;
}

void keep_counted(SampledDevice& device, const std::map<std::uint32_t, double>& events) {
  device.metrics.erase(
      std::remove_if(device.metrics.begin(), device.metrics.end(),
                     [&](const PmuMetric& metric) { return !has_events(metric, events); }),
      device.metrics.end());
}

}  // namespace

std::optional<std::uint32_t> find_sampled_event(const CounterTrack& track) {
  const std::string_view name = track.counter;
  std::uint32_t event = 0;
  if (track.part.value_or(0) == 0 || !name.starts_with("0x") ||
      std::from_chars(name.data() + 2, name.data() + name.size(), event, 16).ec != std::errc())
    return std::nullopt;
  return event;
}

std::vector<SampledDevice> sampled_devices(const Database& db, std::string_view kind,
                                           const ExportScope& scope) {
  auto known = known_devices(db, kind);
  CounterSamples samples(db, kind, scope);
  std::vector<double*> sums(samples.tracks().size(), nullptr);
  for (const CounterTrack& track : samples.tracks()) {
    const auto device = known.find(track.device.value_or(-1));
    if (device == known.end() || !track.number) continue;
    CoreSums& core = device->second.cores[*track.number];
    const auto event = find_sampled_event(track);
    if (track.part.value_or(0) == 0) {
      sums[track.index] = &core.cycles;
    } else if (event) {
      const auto [at, is_new] = core.events.try_emplace(*event, 0);
      if (is_new) sums[track.index] = &at->second;
    }
  }
  std::vector<bool> is_seen(sums.size());
  while (samples.next()) {
    const std::size_t index = samples->track->index;
    if (sums[index] == nullptr) continue;
    *sums[index] += static_cast<double>(samples->value);
    is_seen[index] = true;
  }
  std::map<std::pair<std::int64_t, std::int64_t>, bool> has_samples;
  for (const CounterTrack& track : samples.tracks()) {
    if (is_seen[track.index]) has_samples[{track.device.value_or(-1), track.number.value_or(-1)}];
  }
  std::vector<SampledDevice> devices;
  for (auto& [id, device] : known) {
    for (auto core = device.cores.begin(); core != device.cores.end();) {
      core = has_samples.contains({id, core->first}) ? std::next(core) : device.cores.erase(core);
    }
    if (device.cores.empty()) continue;
    keep_counted(device, device.cores.begin()->second.events);
    devices.push_back(std::move(device));
  }
  return devices;
}

std::vector<std::string> sampled_metric_names(const Database& db, std::string_view kind) {
  std::map<std::int64_t, std::map<std::uint32_t, double>> events;
  for (const CounterTrack& track : counter_tracks(db, kind)) {
    const auto event = find_sampled_event(track);
    if (track.device && event) events[*track.device].try_emplace(*event, 0);
  }
  std::vector<std::string> names;
  for (auto& [id, device] : known_devices(db, kind)) {
    keep_counted(device, events[id]);
    for (const PmuMetric& metric : device.metrics) {
      if (std::find(names.begin(), names.end(), metric.name) == names.end())
        names.push_back(metric.name);
    }
  }
  return names;
}

}  // namespace msprof
