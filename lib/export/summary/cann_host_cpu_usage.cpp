// host_cpu_usage: number of host CPUs, and how many of them the process used. Source:
// cann_system.md 16.1.
#include <set>

#include "export/products.hpp"
#include "export/scope/host_usage.hpp"
#include "export/summary/cann_counter_tables.hpp"

namespace msprof {

namespace {

class CannHostCpuUsage : public cann::CannTable {
 public:
  CannHostCpuUsage()
      : CannTable(
            {.name = "host_cpu_usage",
             .title = "CPUs of the host",
             .help = "CPUs of the host, and how many of them the process used",
             .exists = exists_counters("host_cpu"),
             .needs = {"host_cpu"},
             .group = kCounterLayers},
            {"Device_id", "Total Cpu Numbers", "Occupied Cpu Numbers", "Recommend Cpu Numbers"}) {}

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    WholeIntervals samples(db, "host_cpu", output_file.scope);
    std::set<std::int64_t> seen;
    std::set<std::int64_t> used;
    while (samples.next()) {
      if (!samples->track->number) continue;  // mean of all CPUs
      seen.insert(*samples->track->number);
      if (samples->value > 0) used.insert(*samples->track->number);
    }
    out.text("host");
    out.number_or_missing(read_constant(db, "host_cpu", "Total"));
    out.number(static_cast<std::int64_t>(seen.size()));
    out.number(static_cast<std::int64_t>(used.size()));
    out.end_row();
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann_host_cpu_usage() {
  return std::make_unique<CannHostCpuUsage>();
}

}  // namespace msprof
