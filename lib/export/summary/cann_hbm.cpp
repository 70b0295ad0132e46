// hbm: mean bandwidth of the HBM, per channel and in total. Source: cann_system.md 4.
#include <map>

#include "export/products.hpp"
#include "export/scope/counter_samples.hpp"
#include "export/summary/cann_counter_tables.hpp"

namespace msprof {

namespace {

class CannHbm : public cann::CannTable {
 public:
  CannHbm()
      : CannTable({.name = "hbm",
                   .title = "HBM",
                   .help = "mean bandwidth of the HBM, per channel and in total",
                   .exists = exists_counters("hbm"),
                   .needs = {"hbm"},
                   .group = kCounterLayers},
                  {"Device_id", "Metric", "Read(MB/s)", "Write(MB/s)"}) {}

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    CounterSamples samples(db, "hbm", output_file.scope);
    struct Channel {
      cann::Mean read;
      cann::Mean write;
    };
    std::map<std::int64_t, std::map<std::int64_t, Channel>> devices;
    while (samples.next()) {
      const CounterTrack& track = *samples->track;
      Channel& channel = devices[track.device.value_or(-1)][track.number.value_or(0)];
      (track.counter == "Read" ? channel.read : channel.write).add(samples->shown());
    }
    for (const auto& [device, channels] : devices) {
      cann::Mean read;
      cann::Mean write;
      for (const auto& [number, channel] : channels) {
        if (channel.read.count() > 0) read.add(channel.read.value());
        if (channel.write.count() > 0) write.add(channel.write.value());
      }
      out.number(device);
      out.text("Average");
      out.number(cann::fixed3(read.value()));
      out.number(cann::fixed3(write.value()));
      out.end_row();
      for (const auto& [number, channel] : channels) {
        out.number(device);
        out.number(number);
        cann::rounded3_or_missing(out, channel.read);
        cann::rounded3_or_missing(out, channel.write);
        out.end_row();
      }
    }
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann_hbm() {
  return std::make_unique<CannHbm>();
}

}  // namespace msprof
