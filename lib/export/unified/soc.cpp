// Tables of SoC counters and of sampled cores: ACC_PMU, SOC_BANDWIDTH_LEVEL, SIO, QOS,
// SAMPLE_PMU_TIMELINE, SAMPLE_PMU_SUMMARY. Source: cann_system.md 13, 14; cann_device.md 6.4.
#include <algorithm>
#include <array>
#include <set>

#include "export/scope/core_sums.hpp"
#include "export/scope/counter_moments.hpp"
#include "export/unified/unified_counters.hpp"

namespace msprof::unified {

namespace {

constexpr UnifiedTable kAccPmu{
    "ACC_PMU",
    "accId INTEGER, readBwLevel INTEGER, writeBwLevel INTEGER, readOstLevel "
    "INTEGER, writeOstLevel INTEGER, timestampNs NUMERIC, deviceId INTEGER"};
constexpr UnifiedTable kSocBandwidth{
    "SOC_BANDWIDTH_LEVEL",
    "l2BufferBwLevel INTEGER, mataBwLevel INTEGER, timestampNs NUMERIC,"
    " deviceId INTEGER"};
constexpr std::uint32_t real_columns(unsigned from, unsigned count) {
  return ((1U << count) - 1) << from;
}
constexpr UnifiedTable kSio{
    "SIO",
    "deviceId NUMERIC, name STRING NUMERIC, timestampNs NUMERIC, rxReq NUMERIC,"
    " rxRsp NUMERIC, rxSnp NUMERIC, rxDat NUMERIC, txReq NUMERIC,"
    " txRsp NUMERIC, txSnp NUMERIC, txDat NUMERIC",
    {},
    real_columns(3, 8)};
constexpr UnifiedTable kQos{
    "QOS",
    "deviceId INTEGER, eventName STRING NUMERIC, bandwidth NUMERIC, timestampNs NUMERIC,"
    " dieId NUMERIC"};
constexpr UnifiedTable kSampleTimeline{
    "SAMPLE_PMU_TIMELINE",
    "deviceId INTEGER, timestampNs INTEGER, totalCycle INTEGER, usage "
    "NUMERIC, freq NUMERIC, coreId INTEGER, coreType STRING",
    {},
    real_columns(3, 1)};
constexpr UnifiedTable kSampleSummary{
    "SAMPLE_PMU_SUMMARY",
    "deviceId INTEGER, metric STRING, value NUMERIC, coreId INTEGER,"
    " coreType STRING",
    {},
    real_columns(2, 1)};

constexpr std::string_view kAccColumns[] = {"read_bandwidth", "write_bandwidth", "read_ost",
                                            "write_ost"};
constexpr std::string_view kSioColumns[] = {"req_rx", "rsp_rx", "snp_rx", "dat_rx",
                                            "req_tx", "rsp_tx", "snp_tx", "dat_tx"};

template <std::size_t kCount>
std::size_t column_in(const std::string_view (&columns)[kCount], std::string_view counter) {
  return static_cast<std::size_t>(std::find(std::begin(columns), std::end(columns), counter) -
                                  std::begin(columns));
}

void write_core_timeline(UnifiedWriter& out, UnifiedRows& rows, std::string_view kind,
                         std::string_view type) {
  CounterSamples samples(out.store(), kind, {});
  if (samples.tracks().empty()) return;
  const std::int64_t type_id = out.text(type);
  std::vector<bool> has_begun(samples.tracks().size());
  while (samples.next()) {
    const CounterTrack& track = *samples->track;
    if (track.part.value_or(0) != 0) continue;
    // A sample with the same time as the previous one has no utilization.
    const bool is_first = !has_begun[track.index];
    has_begun[track.index] = true;
    if (!samples->begin_ns && !is_first) continue;
    constexpr std::int64_t kPercentOfMhz = 10'000;  // the divisor is a hundredth of the frequency
    rows.add({device_or_host(track), samples->time_ns, samples->value,
              samples->begin_ns && track.is_rate ? real_cell(samples->shown()) : kNull,
              track.is_rate ? track.divisor / kPercentOfMhz : kNull, track.number.value_or(0),
              type_id});
  }
}

void write_core_summary(UnifiedWriter& out, UnifiedRows& rows, std::string_view kind,
                        std::string_view type) {
  const auto devices = sampled_devices(out.store(), kind, {});
  if (devices.empty()) return;
  const std::int64_t type_id = out.text(type);
  for (const SampledDevice& device : devices) {
    for (const auto& [core, sums] : device.cores) {
      const double mhz = device.frequency_hz / 1e6;
      if (mhz > 0) {
        rows.add({device.id, out.text("total_time"),
                  real_cell(sums.cycles * 1'000'000 / (mhz * 1e6) * 1e6), core, type_id});
      }
      for (const PmuMetric& metric : device.metrics) {
        rows.add({device.id, out.text(metric.name),
                  real_cell(pmu_sample_value(metric, sums, device.frequency_hz)), core, type_id});
      }
    }
  }
}

}  // namespace

void write_acc_pmu(UnifiedWriter& out) {
  UnifiedRows rows(out, kAccPmu);
  // Records of the same time are sorted by accelerator number.
  struct Record {
    std::int64_t device = 0;
    std::int64_t number = 0;
    std::int64_t time_ns = 0;
    std::array<std::int64_t, std::size(kAccColumns)> cells{};
  };
  std::vector<Record> same;
  const auto end = [&] {
    std::stable_sort(same.begin(), same.end(),
                     [](const Record& a, const Record& b) { return a.number < b.number; });
    for (const Record& record : same) {
      rows.add({record.number, record.cells[0], record.cells[1], record.cells[2], record.cells[3],
                record.time_ns, record.device});
    }
    same.clear();
  };
  constexpr std::size_t kMaxGroup = 1 << 12;
  constexpr std::size_t kCells = std::size(kAccColumns);
  for_each_moment<kCells>(
      out.store(), "acc_pmu",
      [](const CounterTrack& track) { return column_in(kAccColumns, track.counter); },
      [&](const UnifiedMoment<kCells>& moment) {
        Record record{device_or_host(*moment.track), moment.track->number.value_or(0),
                      moment.time_ns, moment.cells};
        if (!same.empty() && (same.front().time_ns != record.time_ns ||
                              same.front().device != record.device || same.size() == kMaxGroup))
          end();
        same.push_back(record);
      });
  end();
}

void write_soc_bandwidth(UnifiedWriter& out) {
  UnifiedRows rows(out, kSocBandwidth);
  for_each_moment<2>(
      out.store(), "stars_soc",
      [](const CounterTrack& track) -> std::size_t {
        return track.counter == "Mata Bw Level" ? 1 : 0;
      },
      [&](const UnifiedMoment<2>& moment) {
        rows.add({moment.cells[0], moment.cells[1], moment.time_ns, device_or_host(*moment.track)});
      });
}

void write_sio(UnifiedWriter& out) {
  UnifiedRows rows(out, kSio);
  CounterSamples samples(out.store(), "sio", {});
  constexpr double kMegabyte = 1 << 20;
  for_each_time(samples, [&](std::span<const CounterSample> group) {
    // The samples of a die are consecutive.
    for (std::size_t i = 0; i < group.size();) {
      const CounterTrack& track = *group[i].track;
      std::array<std::int64_t, std::size(kSioColumns)> cells;
      cells.fill(kNull);
      for (; i < group.size() && group[i].track->number == track.number; ++i) {
        const std::size_t column = column_in(kSioColumns, group[i].track->counter);
        if (column == cells.size()) continue;
        if (cells[column] != kNull) break;
        cells[column] = real_cell(sio_megabytes(group[i]) * kMegabyte);
      }
      rows.add({device_or_host(track), out.text(sio_die(track)), group.front().time_ns, cells[0],
                cells[1], cells[2], cells[3], cells[4], cells[5], cells[6], cells[7]});
    }
  });
}

void write_qos(UnifiedWriter& out) {
  UnifiedRows rows(out, kQos);
  CounterSamples samples(out.store(), "qos", {});
  constexpr int128 kMegabyte = 1 << 20;
  while (samples.next()) {
    const CounterTrack& track = *samples->track;
    rows.add({device_or_host(track), out.text(track.subject), wide_cell(samples->value * kMegabyte),
              samples->time_ns, track.part.value_or(kNoValue)});
  }
}

void write_core_samples(UnifiedWriter& out) {
  UnifiedRows timeline(out, kSampleTimeline);
  write_core_timeline(out, timeline, kSampledCores, "AIC");
  write_core_timeline(out, timeline, kSampledVectorCores, "AIV");
  UnifiedRows summary(out, kSampleSummary);
  write_core_summary(out, summary, kSampledCores, "AIC");
  write_core_summary(out, summary, kSampledVectorCores, "AIV");
}

}  // namespace msprof::unified
