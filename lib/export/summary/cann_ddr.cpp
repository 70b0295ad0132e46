// ddr: mean bandwidth of the DDR. Source: cann_system.md 5.
#include <map>

#include "export/products.hpp"
#include "export/scope/counter_samples.hpp"
#include "export/summary/cann_counter_tables.hpp"

namespace msprof {

namespace {

class CannDdr : public cann::CannTable {
 public:
  CannDdr()
      : CannTable({.name = "ddr",
                   .title = "DDR",
                   .help = "mean bandwidth of the DDR",
                   .exists = exists_counters("ddr"),
                   .needs = {"ddr"},
                   .group = kCounterLayers},
                  {"Device_id", "Metric", "Read(MB/s)", "Write(MB/s)"}) {}

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    CounterSamples samples(db, "ddr", output_file.scope);
    struct Means {
      cann::Mean read;
      cann::Mean write;
    };
    std::map<std::int64_t, Means> devices;
    while (samples.next()) {
      const CounterTrack& track = *samples->track;
      if (track.number) continue;  // single masters
      Means& means = devices[track.device.value_or(-1)];
      (track.counter == "Read" ? means.read : means.write).add(samples->shown());
    }
    for (const auto& [device, means] : devices) {
      out.number(device);
      out.text("Average");
      cann::python_rounded3(out, means.read.value());
      cann::python_rounded3(out, means.write.value());
      out.end_row();
    }
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann_ddr() {
  return std::make_unique<CannDdr>();
}

}  // namespace msprof
