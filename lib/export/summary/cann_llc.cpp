// llc_read_write: mean hit rate and throughput of the last-level caches. For the 310 also llc_aicpu
// and llc_ctrlcpu (cache space used by CPUs) and llc_bandwidth (data read and written through the
// cache). Source: cann_system.md 6.
#include <map>
#include <optional>
#include <set>

#include "base/vendor_real.hpp"
#include "export/products.hpp"
#include "export/scope/counter_samples.hpp"
#include "export/summary/cann_counter_tables.hpp"

namespace msprof {

namespace {

// SQL: return a row if llc has tracks with these texts.
constexpr std::string_view kExistsHitRate =
    "SELECT 1 FROM track JOIN name AS kind ON kind.id = kind_name_id JOIN name AS text ON"
    " text.id = name_id WHERE kind.text = 'llc' AND text.text IN ('Hit Rate', 'Throughput')";
constexpr std::string_view kExistsAiCpu =
    "SELECT 1 FROM track JOIN name AS kind ON kind.id = kind_name_id JOIN name AS text ON"
    " text.id = detail_name_id WHERE kind.text = 'llc' AND text.text = 'AI CPU'";
constexpr std::string_view kExistsControlCpu =
    "SELECT 1 FROM track JOIN name AS kind ON kind.id = kind_name_id JOIN name AS text ON"
    " text.id = detail_name_id WHERE kind.text = 'llc' AND text.text = 'Ctrl CPU'";
constexpr std::string_view kExistsBandwidth =
    "SELECT 1 FROM track JOIN name AS kind ON kind.id = kind_name_id JOIN name AS text ON"
    " text.id = subject_name_id WHERE kind.text = 'llc' AND text.text = 'LLC'";

class CannLlcReadWrite : public cann::CannTable {
 public:
  CannLlcReadWrite()
      : CannTable({.name = "llc_read_write",
                   .title = "Last level cache",
                   .help = "mean hit rate and throughput of the last level caches",
                   .exists = kExistsHitRate,
                   .needs = {"llc"},
                   .group = kCounterLayers},
                  {"Device_id", "Mode", "Task", "Hit Rate(%)", "Throughput(MB/s)"}) {}

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    CounterSamples samples(db, "llc", output_file.scope);
    struct Cache {
      std::string mode;
      std::int64_t hit_samples = 0;
      int128 hit_thousandths = 0;
      cann::Mean throughput;
      // Rounded in the middle, as by the vendor's tool.
      double hit_percent() const {
        return static_cast<double>(divide_rounded(hit_thousandths * 1000, hit_samples)) / 1e6 * 100;
      }
    };
    std::map<std::int64_t, std::map<std::int64_t, Cache>> devices;
    while (samples.next()) {
      const CounterTrack& track = *samples->track;
      const bool is_hit_rate = track.counter == "Hit Rate";
      if (!is_hit_rate && track.counter != "Throughput") continue;
      Cache& cache = devices[track.device.value_or(-1)][track.number.value_or(0)];
      if (cache.mode.empty()) cache.mode = track.detail;
      if (is_hit_rate) {
        ++cache.hit_samples;
        cache.hit_thousandths += samples->value;
      } else {
        cache.throughput.add(cann::rounded3(*samples));
      }
    }
    for (const auto& [device, caches] : devices) {
      cann::Mean hit_rate;
      cann::Mean throughput;
      for (const auto& [number, cache] : caches) {
        if (cache.hit_samples > 0) hit_rate.add(cache.hit_percent());
        if (cache.throughput.count() > 0) throughput.add(python_round(cache.throughput.value(), 6));
      }
      out.number(device);
      out.text(caches.begin()->second.mode);
      out.text("Average");
      cann::rounded3_or_missing(out, hit_rate);
      cann::rounded3_or_missing(out, throughput);
      out.end_row();
      for (const auto& [number, cache] : caches) {
        out.number(device);
        out.text(cache.mode);
        out.number(number);
        cache.hit_samples == 0 ? out.missing() : cann::python_rounded3(out, cache.hit_percent());
        cann::rounded3_or_missing(out, cache.throughput);
        out.end_row();
      }
    }
  }
};

// Cache space used by the CPUs of one type.
class CannLlcCapacity : public cann::CannTable {
 public:
  CannLlcCapacity(const TableInfo& info, std::string_view cpus)
      : CannTable(info, {}), cpus_(cpus) {}

  std::vector<std::string> columns(const Database& db) const override {
    std::vector<std::string> columns{"Device_id", "Metric"};
    for (const std::int64_t cpu : list_cpus(counter_tracks(db, "llc")))
      columns.push_back("CPU" + std::to_string(cpu) + "(KB)");
    columns.emplace_back("Total(KB)");
    return columns;
  }

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    CounterSamples samples(db, "llc", output_file.scope);
    const std::set<std::int64_t> cpus = list_cpus(samples.tracks());
    std::map<std::int64_t, std::map<std::int64_t, cann::Mean>> devices;
    while (samples.next()) {
      const CounterTrack& track = *samples->track;
      if (track.detail == cpus_)
        devices[track.device.value_or(-1)][track.number.value_or(0)].add(
            static_cast<double>(samples->value) / 1024);
    }
    for (const auto& [device, means] : devices) {
      out.number(device);
      out.text("Used Capacity of LLC");
      double total = 0;
      for (const std::int64_t cpu : cpus) {
        const auto mean = means.find(cpu);
        cann::rounded3_or_missing(out, mean == means.end() ? cann::Mean() : mean->second);
        if (mean != means.end()) total += mean->second.value();
      }
      cann::python_rounded3(out, total);
      out.end_row();
    }
  }

 private:
  std::set<std::int64_t> list_cpus(const std::vector<CounterTrack>& tracks) const {
    std::set<std::int64_t> cpus;
    for (const CounterTrack& track : tracks) {
      if (track.detail == cpus_) cpus.insert(track.number.value_or(0));
    }
    return cpus;
  }
  std::string_view cpus_;
};

class CannLlcBandwidth : public cann::CannTable {
 public:
  CannLlcBandwidth()
      : CannTable({.name = "llc_bandwidth",
                   .title = "Last level cache",
                   .help = "data read and written through the last level cache (310)",
                   .exists = kExistsBandwidth,
                   .needs = {"llc"},
                   .group = kCounterLayers},
                  {"Device_id", "Metric", "l3c_rd", "l3c_wr"}) {}

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    CounterSamples samples(db, "llc", output_file.scope);
    struct Flow {
      cann::Mean rate;
      double bytes = 0;
    };
    enum { read, read_hit, write_all, write_hit, kFlows };
    std::map<std::int64_t, std::array<Flow, kFlows>> devices;
    while (samples.next()) {
      const CounterTrack& track = *samples->track;
      if (track.subject != "LLC") continue;
      const bool is_write = track.counter.starts_with("Write");
      const bool is_hit = track.counter.ends_with("Hit");
      Flow& flow = devices[track.device.value_or(-1)][(is_write ? 2U : 0U) + (is_hit ? 1U : 0U)];
      flow.rate.add(samples->shown());
      flow.bytes += static_cast<double>(samples->value);
    }
    for (const auto& item : devices) {
      const auto& flows = item.second;
      const auto row = [&out, number = item.first](std::string_view metric, const auto& cell) {
        out.number(number);
        out.text(metric);
        cell(read);
        cell(write_all);
        out.end_row();
      };
      const auto rate = [&](std::size_t flow) { cann::rounded3_or_missing(out, flows[flow].rate); };
      row("BandWidth(MB/s)", rate);
      row("Hit_Rate(%)", [&](std::size_t flow) {
        if (flows[flow].bytes <= 0 || flows[flow + 1].rate.count() == 0) return out.missing();
        cann::python_rounded3(out, flows[flow + 1].bytes * 100 / flows[flow].bytes);
      });
      row("Hit_BandWidth(MB/s)", [&](std::size_t flow) { rate(flow + 1); });
    }
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann_llc_read_write() {
  return std::make_unique<CannLlcReadWrite>();
}

std::unique_ptr<SummaryTable> make_cann_llc_aicpu() {
  return std::make_unique<CannLlcCapacity>(
      TableInfo{.name = "llc_aicpu",
                .title = "Last level cache of the AI CPUs",
                .help = "part of the last level cache used by AI CPUs (310)",
                .exists = kExistsAiCpu,
                .needs = {"llc"},
                .group = kCounterLayers},
      "AI CPU");
}

std::unique_ptr<SummaryTable> make_cann_llc_ctrlcpu() {
  return std::make_unique<CannLlcCapacity>(
      TableInfo{.name = "llc_ctrlcpu",
                .title = "Last level cache of the control CPUs",
                .help = "part of the last level cache used by control CPUs (310)",
                .exists = kExistsControlCpu,
                .needs = {"llc"},
                .group = kCounterLayers},
      "Ctrl CPU");
}

std::unique_ptr<SummaryTable> make_cann_llc_bandwidth() {
  return std::make_unique<CannLlcBandwidth>();
}

}  // namespace msprof
