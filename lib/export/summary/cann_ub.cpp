// ub: bandwidth of the ports of the unified bus, one row per sample. Source: cann_system.md 22.
#include "export/products.hpp"
#include "export/scope/counter_samples.hpp"
#include "export/summary/cann_counter_tables.hpp"

namespace msprof {

namespace {

class CannUb : public cann::CannTable {
 public:
  CannUb()
      : CannTable({.name = "ub",
                   .title = "UB",
                   .help = "bandwidth of the ports of the unified bus",
                   .exists = exists_counters("ub"),
                   .needs = {"ub"},
                   .group = kCounterLayers},
                  {"Device_id", "PortId", "TimeStamp", "UBRxPortBandWidth(MB/s)",
                   "UBTxPortBandWidth(MB/s)"}) {}

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    CounterSamples samples(db, "ub", output_file.scope);
    // The two samples of a port are consecutive, Rx first.
    std::optional<CounterSample> received;
    while (samples.next()) {
      const CounterTrack& track = *samples->track;
      if (track.counter == "bandwidth_rx") received = *samples;
      if (track.counter != "bandwidth_tx" || !received || received->track->number != track.number ||
          received->time_ns != samples->time_ns)
        continue;
      cann::device_cell(out, track);
      out.number(track.number.value_or(0));
      cann::us_timestamp(out, samples->time_ns);
      out.number(received->value);
      out.number(samples->value);
      out.end_row();
    }
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann_ub() {
  return std::make_unique<CannUb>();
}

}  // namespace msprof
