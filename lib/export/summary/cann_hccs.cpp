// hccs: largest, smallest and mean rate at which a device sends and receives over HCCS. Source:
// cann_system.md 8.
#include <map>

#include "export/products.hpp"
#include "export/scope/counter_samples.hpp"
#include "export/summary/cann_counter_tables.hpp"

namespace msprof {

namespace {

class CannHccs : public cann::CannTable {
 public:
  CannHccs()
      : CannTable({.name = "hccs",
                   .title = "HCCS",
                   .help = "largest, smallest and mean rate over HCCS",
                   .exists = exists_counters("hccs"),
                   .needs = {"hccs"},
                   .group = kCounterLayers},
                  {"Device_id", "Mode", "Max", "Min", "Average"}) {}

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    CounterSamples samples(db, "hccs", output_file.scope);
    std::vector<cann::Mean> rates(samples.tracks().size());
    // The vendor's tool computes them from rates rounded to three decimals.
    while (samples.next()) rates[samples->track->index].add(cann::rounded3(*samples));
    for (const CounterTrack& track : samples.tracks()) {
      const cann::Mean& rate = rates[track.index];
      if (rate.count() == 0) continue;
      cann::device_cell(out, track);
      out.text(track.counter + " (MB/s)");
      cann::sqlite_rounded3(out, rate.largest());
      cann::sqlite_rounded3(out, rate.smallest());
      cann::sqlite_rounded3(out, rate.value());
      out.end_row();
    }
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann_hccs() {
  return std::make_unique<CannHccs>();
}

}  // namespace msprof
