// Tables of memory in use, and of traffic of memory, caches and PCIe: NPU_MEM, NPU_MODULE_MEM, DDR,
// LLC, PCIE. Source: cann_system.md 2, 3, 5, 6, 7.
#include "export/scope/pcie_records.hpp"
#include "export/unified/unified_counters.hpp"

namespace msprof::unified {

namespace {

constexpr UnifiedTable kNpuMem{"NPU_MEM",
                               "type STRING, ddr NUMERIC, hbm NUMERIC, timestampNs INTEGER,"
                               " deviceId INTEGER"};
constexpr UnifiedTable kNpuModuleMem{"NPU_MODULE_MEM",
                                     "moduleId INTEGER, timestampNs INTEGER, totalReserved NUMERIC,"
                                     " deviceId INTEGER"};
constexpr UnifiedTable kDdr{"DDR",
                            "deviceId INTEGER, timestampNs INTEGER, read NUMERIC, write NUMERIC"};
constexpr UnifiedTable kLlc{.name = "LLC",
                            .columns =
                                "deviceId INTEGER, llcId INTEGER, timestampNs INTEGER,"
                                " hitRate REAL, throughput INTEGER, mode STRING",
                            .real_columns = 1U << 3};
constexpr UnifiedTable kPcie{
    "PCIE",
    "deviceId INTEGER, timestampNs INTEGER, txPostMin NUMERIC, txPostMax NUMERIC,"
    " txPostAvg NUMERIC, txNonpostMin NUMERIC, txNonpostMax NUMERIC, txNonpostAvg NUMERIC,"
    " txCplMin NUMERIC, txCplMax NUMERIC, txCplAvg NUMERIC, txNonpostLatencyMin NUMERIC,"
    " txNonpostLatencyMax NUMERIC, txNonpostLatencyAvg NUMERIC, rxPostMin NUMERIC,"
    " rxPostMax NUMERIC, rxPostAvg NUMERIC, rxNonpostMin NUMERIC, rxNonpostMax NUMERIC,"
    " rxNonpostAvg NUMERIC, rxCplMin NUMERIC, rxCplMax NUMERIC, rxCplAvg NUMERIC"};

void write_npu_mem(UnifiedWriter& out) {
  UnifiedRows rows(out, kNpuMem);
  CounterSamples samples(out.store(), "npu_mem", {});
  if (samples.tracks().empty()) return;
  const std::int64_t types[] = {out.text("app"), out.text("device"), out.text("unknown")};
  // The three samples of a record are consecutive; their sum is the last.
  std::int64_t ddr = 0;
  std::int64_t hbm = 0;
  while (samples.next()) {
    const CounterTrack& track = *samples->track;
    if (track.counter == "DDR") {
      ddr = samples->value;
    } else if (track.counter == "HBM") {
      hbm = samples->value;
    } else {
      const std::int64_t type = track.number == 0 ? 0 : track.number == 1 ? 1 : 2;
      rows.add({types[type], ddr, hbm, samples->time_ns, device_or_host(track)});
    }
  }
}

void write_npu_module_mem(UnifiedWriter& out) {
  UnifiedRows rows(out, kNpuModuleMem);
  CounterSamples samples(out.store(), "npu_module_mem", {});
  while (samples.next()) {
    const CounterTrack& track = *samples->track;
    rows.add({track.number.value_or(0), samples->time_ns, samples->value, device_or_host(track)});
  }
}

void write_ddr(UnifiedWriter& out) {
  UnifiedRows rows(out, kDdr);
  constexpr std::size_t kCells = 2;
  for_each_moment<kCells>(
      out.store(), "ddr",
      [](const CounterTrack& track) -> std::size_t {
        // Tracks of single masters have no column.
        return track.number ? kCells : track.counter == "Read" ? 0 : 1;
      },
      [&](const UnifiedMoment<kCells>& moment) {
        rows.add({device_or_host(*moment.track), moment.time_ns, moment.cells[0], moment.cells[1]});
      });
}

void write_llc(UnifiedWriter& out) {
  UnifiedRows rows(out, kLlc);
  constexpr std::size_t kCells = 2;
  for_each_moment<kCells>(
      out.store(), "llc",
      [](const CounterTrack& track) -> std::size_t {
        return track.counter == "Hit Rate" ? 0 : track.counter == "Throughput" ? 1 : kCells;
      },
      [&](const UnifiedMoment<kCells>& moment) {
        const std::int64_t thousandths = moment.cells[0];
        rows.add({device_or_host(*moment.track), moment.track->number.value_or(0), moment.time_ns,
                  thousandths == kNull ? kNull : real_cell(static_cast<double>(thousandths) / 10),
                  moment.cells[1], out.text(moment.track->detail)});
      });
}

void write_pcie(UnifiedWriter& out) {
  UnifiedRows rows(out, kPcie);
  PcieRecords records(out.store(), {});
  while (records.next()) {
    const auto cell = [&](std::size_t i) { return records->values[i / 3][i % 3].value_or(kNull); };
    rows.add({device_or_host(*records->track),
              records->time_ns,
              cell(0),
              cell(1),
              cell(2),
              cell(3),
              cell(4),
              cell(5),
              cell(6),
              cell(7),
              cell(8),
              cell(9),
              cell(10),
              cell(11),
              cell(12),
              cell(13),
              cell(14),
              cell(15),
              cell(16),
              cell(17),
              cell(18),
              cell(19),
              cell(20)});
  }
}

}  // namespace

void write_memory_counters(UnifiedWriter& out) {
  write_npu_mem(out);
  write_npu_module_mem(out);
  write_ddr(out);
  write_llc(out);
  write_pcie(out);
}

}  // namespace msprof::unified
