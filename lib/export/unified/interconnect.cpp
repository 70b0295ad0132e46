// Tables of memory bandwidth and links between devices: HBM, HCCS. Source: cann_system.md 4, 8.
#include "export/unified/unified_counters.hpp"

namespace msprof::unified {

namespace {

constexpr UnifiedTable kHbm{
    "HBM",
    "deviceId INTEGER, timestampNs INTEGER, bandwidth NUMERIC, hbmId INTEGER,"
    " type STRING"};
constexpr UnifiedTable kHccs{
    "HCCS", "deviceId INTEGER, timestampNs INTEGER, txThroughput NUMERIC, rxThroughput NUMERIC"};

}  // namespace

void write_hbm(UnifiedWriter& out) {
  UnifiedRows rows(out, kHbm);
  CounterSamples samples(out.store(), "hbm", {});
  const std::int64_t read = out.text("read");
  const std::int64_t write = out.text("write");
  while (samples.next()) {
    const CounterTrack& track = *samples->track;
    rows.add({device_or_host(track), samples->time_ns, base_units(*samples),
              track.number.value_or(0), track.counter == "Read" ? read : write});
  }
}

void write_hccs(UnifiedWriter& out) {
  UnifiedRows rows(out, kHccs);
  for_each_moment<2>(
      out.store(), "hccs",
      [](const CounterTrack& track) -> std::size_t { return track.counter == "Rx" ? 1 : 0; },
      [&](const UnifiedMoment<2>& moment) {
        rows.add({device_or_host(*moment.track), moment.time_ns, moment.cells[0], moment.cells[1]});
      });
}

}  // namespace msprof::unified
