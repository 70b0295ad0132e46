// The counters table of `show`: of every counter how much on average, how much at most, and when.
#include <algorithm>

#include "export/cann_rules.hpp"
#include "export/counter_samples.hpp"
#include "export/products.hpp"
#include "export/summary/cann_counter_tables.hpp"

namespace msprof {

namespace {

// Samples about intervals weigh as much as they last; of others each lasts until the next.
struct Digest {
  std::int64_t samples = 0;
  double weighted = 0;
  double weight = 0;
  double sum = 0;
  double peak = 0;
  std::int64_t peak_ns = 0;

  void add(const CounterSample& sample) {
    const double value = sample.shown();
    if (samples == 0 || value > peak) {
      peak = value;
      peak_ns = sample.time_ns;
    }
    ++samples;
    sum += value;
    if (sample.begin_ns) {
      const double span =
          static_cast<double>(saturating_subtract(sample.time_ns, *sample.begin_ns));
      weighted += value * span;
      weight += span;
    }
  }
  double mean() const {
    return weight > 0 ? weighted / weight : sum / static_cast<double>(samples);
  }
};

class CannCounters : public cann::Table {
 public:
  CannCounters()
      : Table({.name = "counters",
               .title = "Counters",
               .help = "mean and peak of every counter",
               .exists = "SELECT 1 FROM track",
               .is_shown = true,
               .is_exported = false},
              {"Device_id", "Subject", "Counter", "Unit", "Mean", "Peak", "Peak after(ms)",
               "Samples"}) {}

  void write(const Database& db, const OutputFile& output_file, RowSink& out) const override {
    CounterSamples samples(db, {}, output_file.scope);
    std::vector<Digest> digests(samples.tracks().size());
    while (samples.next()) digests[samples->track->index].add(*samples);
    const std::int64_t begin_ns = std::max<std::int64_t>(cann::window_begin_ns(db), 0);
    for (const CounterTrack& track : samples.tracks()) {
      const Digest& digest = digests[track.index];
      if (digest.samples == 0) continue;
      cann::device_cell(out, track);
      out.text(track.subject);
      out.text(track.counter);
      out.text(track.unit);
      cann::python_rounded3(out, digest.mean());
      cann::python_rounded3(out, digest.peak);
      out.number(fixed(int128{digest.peak_ns} - begin_ns, 1'000'000, 3));
      out.number(digest.samples);
      out.end_row();
    }
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann_counters() {
  return std::make_unique<CannCounters>();
}

}  // namespace msprof
