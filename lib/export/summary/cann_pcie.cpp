// pcie: minimum, maximum and mean bandwidth of each kind of PCIe traffic, and latency. Source:
// cann_system.md 7.
#include <array>
#include <map>

#include "export/products.hpp"
#include "export/scope/pcie_records.hpp"
#include "export/summary/cann_counter_tables.hpp"

namespace msprof {

namespace {

constexpr std::array<std::string_view, PcieRecord::kGroups> kPcieModes = {
    "Tx_p_avg(MB/s)", "Tx_np_avg(MB/s)", "Tx_cpl_avg(MB/s)", "Tx_latency_avg(us)",
    "Rx_p_avg(MB/s)", "Rx_np_avg(MB/s)", "Rx_cpl_avg(MB/s)"};

struct PcieSum {
  std::int64_t count = 0;
  int128 sum = 0;
  // Rounds to 6 decimals of `unit` in the middle, as the vendor's tool does.
  double mean(std::int64_t unit) const {
    constexpr int128 kMillion = 1'000'000;
    if (count == 0) return 0;
    return static_cast<double>(divide_rounded(sum * kMillion, int128{count} * unit)) / 1e6;
  }
};

class CannPcie : public cann::CannTable {
 public:
  CannPcie()
      : CannTable({.name = "pcie",
                   .title = "PCIe",
                   .help = "bandwidth and latency of PCIe",
                   .exists = exists_counters("pcie"),
                   .needs = {"pcie"},
                   .group = kCounterLayers},
                  {"Device_id", "Mode", "Min", "Max", "Avg"}) {}

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    std::map<std::int64_t, std::array<std::array<PcieSum, 3>, PcieRecord::kGroups>> devices;
    PcieRecords records(db, output_file.scope);
    while (records.next()) {
      auto& sums = devices[records->track->device.value_or(-1)];
      for (std::size_t group = 0; group < sums.size(); ++group) {
        for (std::size_t i = 0; i < sums[group].size(); ++i) {
          const auto& value = records->values[group][i];
          if (!value) continue;
          ++sums[group][i].count;
          sums[group][i].sum += *value;
        }
      }
    }
    for (const auto& [device, sums] : devices) {
      for (std::size_t group = 0; group < sums.size(); ++group) {
        const bool is_latency = group == PcieRecord::kLatency;
        out.number(device);
        out.text(kPcieModes[group]);
        for (const PcieSum& sum : sums[group]) {
          constexpr double kMbOfBytesPerUs = 1e6 / 1024 / 1024;
          cann::python_rounded3(
              out, is_latency ? sum.mean(1) / 1000 : sum.mean(1'000'000) * kMbOfBytesPerUs);
        }
        out.end_row();
      }
    }
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann_pcie() {
  return std::make_unique<CannPcie>();
}

}  // namespace msprof
