// host_disk_usage: rates at which the process read from and wrote to disks of the host. Source:
// cann_system.md 16.3.
#include "export/products.hpp"
#include "export/scope/host_usage.hpp"
#include "export/summary/cann_counter_tables.hpp"

namespace msprof {

namespace {

class CannHostDiskUsage : public cann::CannTable {
 public:
  CannHostDiskUsage()
      : CannTable({.name = "host_disk_usage",
                   .title = "Disks of the host",
                   .help = "peak rates at which the process read and wrote disks of the host",
                   .exists = exists_counters("host_disk"),
                   .needs = {"host_disk"},
                   .group = kCounterLayers},
                  {"Device_id", "Peak Disk Read(KB/s)", "Recommend Disk Read(KB/s)",
                   "Peak Disk Write(KB/s)", "Recommend Disk Write(KB/s)"}) {}

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    Recommended read;
    Recommended written;
    for_each_disk_use(db, output_file.scope, [&](const DiskUse& use) {
      read.add(use.read_kb_s);
      written.add(use.write_kb_s);
    });
    if (read.empty()) return;
    out.text("host");
    for (Recommended* rate : {&read, &written}) {
      out.real(rate->peak());
      out.real(rate->enough());
    }
    out.end_row();
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann_host_disk_usage() {
  return std::make_unique<CannHostDiskUsage>();
}

}  // namespace msprof
