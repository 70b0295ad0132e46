// Layer memory: device memory held by operators, as counted by the allocator. Source:
// cann_host.md 1.8 (task_memory_info).
#include <set>

#include "export/products.hpp"
#include "export/scope/cann_rules.hpp"
#include "export/timeline/cann_trace.hpp"

namespace msprof {

namespace {

constexpr std::int64_t kBytesPerKb = 1024;

class CannMemory : public cann::CannLayer {
 public:
  CannMemory()
      : CannLayer({.name = "memory",
                   .help = "device memory held by operators",
                   .exists = "SELECT 1 FROM memory_event WHERE total_allocated_bytes IS NOT NULL",
                   .needs = {"task_memory_info"},
                   .is_default = false}) {}

  void write(const Database& db, const OutputFile& output_file, TraceWriter& out) const override {
    const cann::TraceProcesses processes(db);
    const std::int64_t begin = cann::window_begin_ns(db);
    Statement read = db.prepare(
        "SELECT device_id, time_ns, total_allocated_bytes, total_reserved_bytes FROM memory_event"
        " WHERE total_allocated_bytes IS NOT NULL ORDER BY id");
    std::set<std::int64_t> devices;
    while (read.step()) {
      const std::int64_t device = read.integer(0);
      const std::int64_t time = read.integer(1);
      if (time < begin || !output_file.scope.takes(device, time, time)) continue;
      if (devices.insert(device).second) {
        processes.write(out, cann::TraceProcess::operator_memory, device, "Operator Memory");
      }
      const TraceLane lane{processes.pid(cann::TraceProcess::operator_memory, device), 0};
      out.counter("Operator memory allocated", lane, time, "KB", read.integer(2) / kBytesPerKb);
      if (read.is_null(3)) continue;
      out.counter("Operator memory reserved", lane, time, "KB", read.integer(3) / kBytesPerKb);
    }
  }
};

}  // namespace

std::unique_ptr<TimelineLayer> make_cann_memory() {
  return std::make_unique<CannMemory>();
}

}  // namespace msprof
