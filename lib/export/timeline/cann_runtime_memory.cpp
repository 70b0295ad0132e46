// Layer runtime_memory: memory allocated by the runtime, as counters. Source:
// cann_new_kinds.md 3.1.
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/number.hpp"
#include "export/products.hpp"
#include "export/scope/cann_rules.hpp"
#include "export/timeline/cann_trace.hpp"

namespace msprof {

namespace {

// Reserved addresses hold no memory, so they have a separate counter.
std::string_view runtime_counter_name(std::int64_t kind, bool is_reserved) {
  if (is_reserved) return "Runtime reserved addresses";
  if (kind == 1) return "Runtime host memory";
  return kind == 3 ? "Runtime managed memory" : "Runtime device memory";
}

class CannRuntimeMemoryCounters : public cann::CannLayer {
 public:
  CannRuntimeMemoryCounters()
      : CannLayer({.name = "runtime_memory",
                   .help = "memory allocated by the runtime",
                   .exists = "SELECT 1 FROM runtime_block WHERE allocation_id IS NOT NULL",
                   .needs = {"memmng_info"},
                   .is_default = false}) {}

  void write(const Database& db, const OutputFile& output_file, TraceWriter& out) const override {
    constexpr std::int64_t kHost = 1;
    const cann::TraceProcesses processes(db);
    // At equal times, negative sizes (releases) come first.
    Statement read = db.prepare(
        "SELECT time_ns, size_bytes AS bytes, device_id, kind, space FROM runtime_memory"
        " WHERE is_free = 0 UNION ALL SELECT end_ns, -size_bytes, device_id, kind, space"
        " FROM runtime_block JOIN runtime_memory ON runtime_memory.id = allocation_id"
        " WHERE end_ns IS NOT NULL ORDER BY 1, 2, 3, 4, 5");
    std::map<std::pair<std::int64_t, std::string_view>, std::int64_t> totals;
    std::set<std::int64_t> devices;
    while (read.step()) {
      const std::int64_t kind = read.integer(3);
      const std::int64_t device =
          kind == kHost ? cann::kHostDevice : read.maybe_integer(2).value_or(cann::kHostDevice);
      const bool is_reserved =
          read.integer(4) == static_cast<std::int64_t>(RuntimeMemoryRow::Space::reserved);
      const std::string_view name = runtime_counter_name(kind, is_reserved);
      std::int64_t& total = totals[{device, name}];
      total = saturating_add(total, read.integer(1));
      const std::int64_t time = read.integer(0);
      if (!output_file.scope.takes(device, time, time)) continue;
      const auto process = device == cann::kHostDevice ? cann::TraceProcess::memory_usage
                                                       : cann::TraceProcess::npu_memory;
      if (devices.insert(device).second)
        processes.write(out, process, device,
                        device == cann::kHostDevice ? "Memory Usage" : "NPU MEM");
      out.counter(name, {processes.pid(process, device), 0}, time, "Byte", total);
    }
  }
};

}  // namespace

std::unique_ptr<TimelineLayer> make_cann_runtime_memory_counters() {
  return std::make_unique<CannRuntimeMemoryCounters>();
}

}  // namespace msprof
