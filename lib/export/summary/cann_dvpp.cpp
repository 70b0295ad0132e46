// dvpp: busy time and load of each DVPP (image/video) engine. Source: cann_system.md 10.
#include <algorithm>
#include <array>
#include <vector>

#include "export/products.hpp"
#include "export/scope/counter_growth.hpp"
#include "export/scope/counter_samples.hpp"
#include "export/summary/cann_counter_tables.hpp"

namespace msprof {

namespace {

struct DvppEngine {
  const CounterTrack* track = nullptr;
  CounterGrowth time_us{};
  CounterGrowth frames{};
  CounterSample utilization{};  // last sample

  bool is_same_engine(const CounterTrack& other) const {
    return track->device == other.device && track->number == other.number &&
           track->detail == other.detail && track->part == other.part;
  }
};

class CannDvpp : public cann::CannTable {
 public:
  CannDvpp()
      : CannTable({.name = "dvpp",
                   .title = "DVPP",
                   .help = "time, frames and utilization of the DVPP engines (images, video)",
                   .exists = exists_counters("dvpp"),
                   .needs = {"dvpp"},
                   .group = kCounterLayers},
                  {"Device_id", "Dvpp Id", "Engine Type", "Engine ID", "All Time(us)", "All Frame",
                   "All Utilization(%)"}) {}

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    CounterSamples samples(db, "dvpp", output_file.scope);
    std::vector<DvppEngine> engines;
    std::vector<std::size_t> engine_of(samples.tracks().size(), SIZE_MAX);
    while (samples.next()) {
      const CounterTrack& track = *samples->track;
      std::size_t& at = engine_of[track.index];
      if (at == SIZE_MAX) {
        for (at = 0; at < engines.size() && !engines[at].is_same_engine(track); ++at) {
        }
        if (at == engines.size()) engines.push_back({.track = &track});
      }
      DvppEngine& engine = engines[at];
      if (track.counter == "All Time") engine.time_us.add(samples->value);
      if (track.counter == "All Frame") engine.frames.add(samples->value);
      if (track.counter == "All Utilization") engine.utilization = *samples;
    }
    std::sort(engines.begin(), engines.end(), [](const DvppEngine& a, const DvppEngine& b) {
      return a.track->index < b.track->index;
    });
    for (const std::size_t at : in_groups(engines)) write_engine(out, engines[at]);
  }

 private:
  // Order of rows: by device, id and type, each in order of first appearance.
  static std::vector<std::size_t> in_groups(const std::vector<DvppEngine>& engines) {
    const auto first = [&](auto&& is_same) {
      std::size_t at = 0;
      while (!is_same(*engines[at].track)) ++at;
      return at;
    };
    std::vector<std::array<std::size_t, 4>> keys;
    for (std::size_t i = 0; i < engines.size(); ++i) {
      const CounterTrack& track = *engines[i].track;
      const std::size_t device =
          first([&](const CounterTrack& other) { return other.device == track.device; });
      const std::size_t id = first([&](const CounterTrack& other) {
        return other.device == track.device && other.number == track.number;
      });
      const std::size_t type = first([&](const CounterTrack& other) {
        return other.device == track.device && other.number == track.number &&
               other.detail == track.detail;
      });
      keys.push_back({device, id, type, i});
    }
    std::sort(keys.begin(), keys.end());
    std::vector<std::size_t> order;
    for (const auto& key : keys) order.push_back(key.back());
    return order;
  }

  static void write_engine(RowBuilder& out, const DvppEngine& engine) {
    cann::device_cell(out, *engine.track);
    out.number(engine.track->number.value_or(0));
    out.text(engine.track->detail);
    out.number(engine.track->part.value_or(0));
    cann::python_rounded3(out, static_cast<double>(engine.time_us.value()));
    cann::python_rounded3(out, static_cast<double>(engine.frames.value()));
    const CounterSample& utilization = engine.utilization;
    utilization.track == nullptr
        ? out.missing()
        : out.number(cann::trimmed3(utilization.numerator(), utilization.denominator()));
    out.end_row();
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann_dvpp() {
  return std::make_unique<CannDvpp>();
}

}  // namespace msprof
