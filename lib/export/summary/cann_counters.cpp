// The counters table of `show`: the main counters of each kind, with their mean over all subjects,
// and their peak with its subject and time.
#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "export/products.hpp"
#include "export/scope/cann_rules.hpp"
#include "export/scope/counter_samples.hpp"
#include "export/summary/cann_counter_tables.hpp"

namespace msprof {

namespace {

// Mean and peak of a track. Samples with an interval are weighted by its length; if there are none,
// all samples weigh the same.
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

// Main counters of each kind, in the order of the table. For CPUs only the one for all CPUs. Calls,
// samples of functions and counters of tasks have separate tables.
struct Headline {
  std::string_view kind;
  std::string_view counter;
};
constexpr Headline kHeadlines[] = {{"lpm_freq", "AI Core Freq"},
                                   {"lpm_freq", "Aicore Voltage"},
                                   {"lpm_freq", "Bus Voltage"},
                                   {"ai_core_utilization", "Utilization"},
                                   {"ai_vector_core_utilization", "Utilization"},
                                   {"npu_mem", "Memory"},
                                   {"npu_module_mem", "Total Reserved"},
                                   {"hbm", "Read"},
                                   {"hbm", "Write"},
                                   {"ddr", "Read"},
                                   {"ddr", "Write"},
                                   {"llc", "Hit Rate"},
                                   {"llc", "Throughput"},
                                   {"acc_pmu", "read_bandwidth"},
                                   {"acc_pmu", "write_bandwidth"},
                                   {"stars_soc", "L2 Buffer Bw Level"},
                                   {"stars_soc", "Mata Bw Level"},
                                   {"sio", "dat_rx"},
                                   {"sio", "dat_tx"},
                                   {"qos", "Bandwidth"},
                                   {"stars_chip_trans", "PA Link Rx"},
                                   {"stars_chip_trans", "PA Link Tx"},
                                   {"stars_chip_trans", "PCIE Read Bandwidth"},
                                   {"stars_chip_trans", "PCIE Write Bandwidth"},
                                   {"pcie", "Avg"},
                                   {"hccs", "Rx"},
                                   {"hccs", "Tx"},
                                   {"nic", "Rx Byte Rate"},
                                   {"nic", "Tx Byte Rate"},
                                   {"roce", "Rx Byte Rate"},
                                   {"roce", "Tx Byte Rate"},
                                   {"netdev_stats", "Rx"},
                                   {"netdev_stats", "Tx"},
                                   {"netdev_stats", "New Packet Retries"},
                                   {"ub", "bandwidth_rx"},
                                   {"ub", "bandwidth_tx"},
                                   {"dvpp", "Proc Utilization"},
                                   {"cpu_usage", "User"},
                                   {"cpu_usage", "Sys"},
                                   {"cpu_usage", "IoWait"},
                                   {"process_cpu_usage", "Usage"},
                                   {"sys_mem", "Memory Free"},
                                   {"process_mem", "Resident"},
                                   {"host_cpu", "Usage"},
                                   {"host_mem", "Used"},
                                   {"host_disk", "Usage"},
                                   {"host_disk", "Read"},
                                   {"host_disk", "Write"},
                                   {"host_network", "Rx"},
                                   {"host_network", "Tx"}};

// Empty: not in the table.
std::optional<std::size_t> find_headline(const CounterTrack& track) {
  if (track.kind == "cpu_usage" && track.number) return std::nullopt;
  const auto* found =
      std::find_if(std::begin(kHeadlines), std::end(kHeadlines), [&](const Headline& headline) {
        return track.kind == headline.kind && track.counter == headline.counter;
      });
  if (found == std::end(kHeadlines)) return std::nullopt;
  return static_cast<std::size_t>(found - std::begin(kHeadlines));
}

class CannCounters : public cann::CannTable {
 public:
  CannCounters()
      : CannTable({.name = "counters",
                   .title = "Counters",
                   .help = "mean and peak of the main counters of each kind",
                   .exists = "SELECT 1 FROM track",
                   .is_shown = true,
                   .is_exported = false,
                   .group = kCounterLayers},
                  {"Device_id", "Kind", "Counter", "Unit", "Subjects", "Mean", "Peak", "Peak of",
                   "Peak after(ms)"}) {}

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    CounterSamples samples(db, {}, output_file.scope);
    std::vector<std::optional<std::size_t>> headlines;
    for (const CounterTrack& track : samples.tracks()) headlines.push_back(find_headline(track));
    std::vector<Digest> digests(samples.tracks().size());
    while (samples.next()) {
      const std::size_t track = samples->track->index;
      if (headlines[track]) digests[track].add(*samples);
    }
    // Sorted by device, host last, then by headline. The unit is part of the key because PCIe has a
    // latency in addition to its rates.
    std::map<std::tuple<std::int64_t, std::size_t, std::string_view>, Line> lines;
    for (const CounterTrack& track : samples.tracks()) {
      const Digest& digest = digests[track.index];
      if (digest.samples == 0) continue;
      Line& line = lines[{track.device.value_or(INT64_MAX), *headlines[track.index], track.unit}];
      line.means.add(digest.mean());
      if (line.highest == nullptr || digest.peak > line.peak->peak) {
        line.highest = &track;
        line.peak = &digest;
      }
    }
    const std::int64_t begin_ns = std::max<std::int64_t>(cann::window_begin_ns(db), 0);
    for (const auto& [place, line] : lines) {
      cann::device_cell(out, *line.highest);
      out.text(line.highest->kind);
      out.text(line.highest->counter);
      out.text(line.highest->unit);
      out.number(line.means.count());
      cann::python_rounded3(out, line.means.value());
      cann::python_rounded3(out, line.peak->peak);
      out.text(line.highest->subject);
      out.number(fixed(int128{line.peak->peak_ns} - begin_ns, 1'000'000, 3));
      out.end_row();
    }
  }

 private:
  // One counter of a kind, over all its subjects on a device.
  struct Line {
    cann::Mean means;
    const CounterTrack* highest = nullptr;
    const Digest* peak = nullptr;
  };
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann_counters() {
  return std::make_unique<CannCounters>();
}

}  // namespace msprof
