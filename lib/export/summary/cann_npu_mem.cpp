// npu_mem and npu_module_mem: memory used by the application and the device, and memory reserved by
// software modules. Source: cann_system.md 2, 3.
#include "export/products.hpp"
#include "export/scope/counter_samples.hpp"
#include "export/summary/cann_counter_tables.hpp"
#include "store/module_names.hpp"

namespace msprof {

namespace {

class CannNpuMem : public cann::CannTable {
 public:
  CannNpuMem()
      : CannTable({.name = "npu_mem",
                   .title = "NPU memory",
                   .help = "memory in use, of the application and of the device",
                   .exists = exists_counters("npu_mem"),
                   .needs = {"npu_mem"},
                   .group = kCounterLayers},
                  {"Device_id", "event", "ddr(KB)", "hbm(KB)", "memory(KB)", "timestamp(us)"}) {}

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    CounterSamples samples(db, "npu_mem", output_file.scope);
    enum Cell { ddr, hbm, both };
    std::vector<Cell> cells;
    for (const CounterTrack& track : samples.tracks())
      cells.push_back(track.counter == "DDR" ? ddr : track.counter == "HBM" ? hbm : both);
    // The three samples of a record are consecutive; the sum is the last.
    std::int64_t bytes[2]{};
    while (samples.next()) {
      const CounterTrack& track = *samples->track;
      if (cells[track.index] != both) {
        bytes[cells[track.index]] = samples->value;
        continue;
      }
      cann::device_cell(out, track);
      out.text(track.detail);
      out.number(cann::kb_float3(bytes[ddr]));
      out.number(cann::kb_float3(bytes[hbm]));
      out.number(cann::kb_float3(samples->value));
      cann::us_timestamp(out, samples->time_ns);
      out.end_row();
    }
  }
};

class CannNpuModuleMem : public cann::CannTable {
 public:
  CannNpuModuleMem()
      : CannTable({.name = "npu_module_mem",
                   .title = "NPU memory by module",
                   .help = "memory reserved by each software module",
                   .exists = exists_counters("npu_module_mem"),
                   .needs = {"npu_module_mem"},
                   .group = kCounterLayers},
                  {"Device_id", "Component", "Timestamp(us)", "Total Reserved(KB)", "Device"}) {}

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    // For these chips the vendor's native code writes the table, in another order and with another
    // name for unknown modules.
    const bool is_native =
        cann::has_rows(db, "SELECT 1 FROM device WHERE platform IN (5, 15, 16, 17, 18)");
    CounterSamples samples(
        db, "npu_module_mem", output_file.scope, false,
        is_native ? CounterOrder::number_time : CounterOrder::device_number_time);
    std::vector<std::string_view> names;
    for (const CounterTrack& track : samples.tracks()) {
      const std::string_view known = module_name(track.number.value_or(-1));
      names.push_back(!known.empty() ? known : is_native ? "Unknown" : "other");
    }
    while (samples.next()) {
      const CounterTrack& track = *samples->track;
      cann::device_cell(out, track);
      out.text(names[track.index]);
      cann::us_timestamp(out, samples->time_ns);
      samples->value > 0 ? out.number(cann::kb_float3(samples->value)) : out.number(samples->value);
      out.text("NPU:" + std::to_string(track.device.value_or(0)));
      out.end_row();
    }
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann_npu_mem() {
  return std::make_unique<CannNpuMem>();
}

std::unique_ptr<SummaryTable> make_cann_npu_module_mem() {
  return std::make_unique<CannNpuModuleMem>();
}

}  // namespace msprof
