// Layer ai_core_freq: frequency of the AI cores.
// Source: cann_device.md 23, cann_corrections.md J-A7 (each point once).
#include "export/products.hpp"
#include "export/timeline/cann_trace.hpp"

namespace msprof {

namespace {

class CannFrequency : public cann::Layer {
 public:
  CannFrequency()
      : Layer({.name = "ai_core_freq",
               .help = "frequency of the AI cores",
               .exists = "SELECT 1 FROM track JOIN name ON name.id = track.name_id"
                         " WHERE name.text = 'AI Core Freq'"}) {}

  void write(const Database& db, const Document& document, TraceJsonWriter& out) const override {
    const cann::TraceProcesses processes(db);
    Statement read = db.prepare(
        "SELECT track.device_id, counter.time_ns, counter.value FROM counter"
        " JOIN track ON track.id = counter.track_id JOIN name ON name.id = track.name_id"
        " WHERE name.text = 'AI Core Freq' ORDER BY counter.id");
    std::int64_t last_device = -1;
    while (read.step()) {
      const std::int64_t device = read.integer(0);
      const std::int64_t time = read.integer(1);
      if (!document.scope.takes(device, time, time)) continue;
      if (device != last_device) {
        processes.write(out, cann::TraceProcess::frequency, device, "AI Core Freq");
      }
      last_device = device;
      out.counter({"\"AI Core Freq\""}, {processes.pid(cann::TraceProcess::frequency, device), 0},
                  time, {"\"MHz\""}, read.integer(2));
    }
  }
};

}  // namespace

std::unique_ptr<TimelineLayer> make_cann_frequency() {
  return std::make_unique<CannFrequency>();
}

}  // namespace msprof
