// Layers hbm and hccs: bandwidth of memory and of the links between devices, as counters. Source:
// cann_system.md 4, 8.
#include "export/products.hpp"
#include "export/timeline/cann_counter_layer.hpp"

namespace msprof {

namespace {

class HbmLayer : public cann::CounterLayer {
 public:
  HbmLayer()
      : CounterLayer({.name = "hbm",
                      .help = "bandwidth of the channels of the HBM",
                      .exists = exists_counters("hbm"),
                      .needs = {"hbm"},
                      .group = kCounterLayers},
                     {"hbm", cann::TraceProcess::hbm, "HBM"}) {}

 private:
  void write_value(TraceWriter& out, TraceText key, const CounterSample& sample) const override {
    out.argument_number(key, sample.shown());
  }
};

class HccsLayer : public cann::CounterLayer {
 public:
  HccsLayer()
      : CounterLayer({.name = "hccs",
                      .help = "traffic over HCCS",
                      .exists = exists_counters("hccs"),
                      .needs = {"hccs"},
                      .group = kCounterLayers},
                     {"hccs", cann::TraceProcess::hccs, "HCCS"}) {}

 private:
  std::string event_name(const CounterTrack& track) const override { return track.counter; }
};

}  // namespace

std::unique_ptr<TimelineLayer> make_cann_hbm_counters() {
  return std::make_unique<HbmLayer>();
}

std::unique_ptr<TimelineLayer> make_cann_hccs_counters() {
  return std::make_unique<HccsLayer>();
}

}  // namespace msprof
