// host_mem_usage: memory of the host, and how much of it the process used. Source:
// cann_system.md 16.2.
#include "export/products.hpp"
#include "export/scope/host_usage.hpp"
#include "export/summary/cann_counter_tables.hpp"

namespace msprof {

namespace {

class CannHostMemUsage : public cann::CannTable {
 public:
  CannHostMemUsage()
      : CannTable(
            {.name = "host_mem_usage",
             .title = "Memory of the host",
             .help = "memory of the host, and the peak usage of the process",
             .exists = exists_counter("host_mem", "Total"),
             .needs = {"host_mem"},
             .group = kCounterLayers},
            {"Device_id", "Total Memory(KB)", "Peak Used Memory(KB)", "Recommend Memory(KB)"}) {}

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    Recommended percent;
    for_each_memory_use(db, output_file.scope,
                        [&](const MemoryUse& use) { percent.add(use.percent); });
    if (percent.empty()) return;
    const std::int64_t total = read_constant(db, "host_mem", "Total").value_or(0) / 1024;
    const auto part = [&](double value) { return value * static_cast<double>(total) / 100; };
    out.text("host");
    out.number(total);
    cann::python_rounded3(out, part(percent.peak()));
    cann::python_rounded3(out, part(percent.enough()));
    out.end_row();
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann_host_mem_usage() {
  return std::make_unique<CannHostMemUsage>();
}

}  // namespace msprof
