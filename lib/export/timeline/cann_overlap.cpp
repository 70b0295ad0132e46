// Layer overlap: times in which each device computed, communicated, or was idle. Source:
// cann_device.md 23.6.
#include <array>

#include "base/number.hpp"
#include "export/products.hpp"
#include "export/timeline/cann_trace.hpp"

namespace msprof {

namespace {

constexpr std::array<TraceText, 4> kKinds = {"Computing", "Communication",
                                             "Communication(Not Overlapped)", "Free"};

class CannOverlap : public cann::CannLayer {
 public:
  CannOverlap()
      : CannLayer({.name = "overlap",
                   .help = "when a device computed, communicated, or was free",
                   .exists = "SELECT 1 FROM overlap",
                   .needs = kDeviceLogs}) {}

  void write(const Database& db, const OutputFile& output_file, TraceWriter& out) const override {
    const cann::TraceProcesses processes(db);
    Statement read =
        db.prepare("SELECT device_id, kind, start_ns, end_ns FROM overlap ORDER BY id");
    std::int64_t last_device = -1;
    while (read.step()) {
      const std::int64_t device = read.integer(0);
      const std::int64_t kind = read.integer(1);
      if (kind < 0 || kind >= static_cast<std::int64_t>(kKinds.size())) {
        throw db.damaged("a span of unknown kind");
      }
      if (!output_file.scope.takes(device, read.integer(2), read.integer(3))) continue;
      const std::int64_t duration = saturating_subtract(read.integer(3), read.integer(2));
      if (!out.draws(duration)) continue;
      if (device != last_device) write_metadata(processes, device, out);
      last_device = device;
      const TraceLane lane{processes.pid(cann::TraceProcess::overlap, device), kind};
      if (out.begin_slice(kKinds[static_cast<std::size_t>(kind)], lane, read.integer(2),
                          duration)) {
        out.end_event();
      }
    }
  }

 private:
  static void write_metadata(const cann::TraceProcesses& processes, std::int64_t device,
                             TraceWriter& out) {
    processes.write(out, cann::TraceProcess::overlap, device, "Overlap Analysis");
    const std::int64_t pid = processes.pid(cann::TraceProcess::overlap, device);
    for (std::size_t kind = 0; kind < kKinds.size(); ++kind) {
      const auto tid = static_cast<std::int64_t>(kind);
      out.thread({pid, tid}, kKinds[kind], tid);
    }
  }
};

}  // namespace

std::unique_ptr<TimelineLayer> make_cann_overlap() {
  return std::make_unique<CannOverlap>();
}

}  // namespace msprof
