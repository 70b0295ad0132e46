// Layers ai_core_freq and voltage: frequency and voltage of the AI cores, as counters. Source:
// cann_device.md 23.4 (each point once), cann_system.md 20.
#include <fmt/format.h>

#include "export/products.hpp"
#include "export/timeline/cann_trace.hpp"

namespace msprof {

namespace {

struct CoreCounterInfo {
  LayerInfo layer;  // `exists` selects the ids of the tracks
  cann::TraceProcess process;
  std::string_view process_name;
};

class CoreCounterLayer : public cann::CannLayer {
 public:
  explicit CoreCounterLayer(const CoreCounterInfo& facts) : CannLayer(facts.layer), facts_(facts) {}

  void write(const Database& db, const OutputFile& output_file, TraceWriter& out) const override {
    const cann::TraceProcesses processes(db);
    Statement read = db.prepare(fmt::format(
        "SELECT track.device_id, counter.time_ns, counter.value, name.text, unit.text FROM counter"
        " JOIN track ON track.id = counter.track_id JOIN name ON name.id = track.name_id"
        " JOIN name AS unit ON unit.id = track.unit_name_id"
        " WHERE track.id IN ({}) ORDER BY track.device_id, counter.id",
        facts_.layer.exists));
    std::int64_t last_device = -1;
    while (read.step()) {
      const std::int64_t device = read.integer(0);
      const std::int64_t time = read.integer(1);
      if (!output_file.scope.takes(device, time, time)) continue;
      if (device != last_device) processes.write(out, facts_.process, device, facts_.process_name);
      last_device = device;
      out.counter(read.text(3), {processes.pid(facts_.process, device), 0}, time, read.text(4),
                  read.integer(2));
    }
  }

 private:
  CoreCounterInfo facts_;
};

}  // namespace

std::unique_ptr<TimelineLayer> make_cann_frequency() {
  return std::make_unique<CoreCounterLayer>(
      CoreCounterInfo{{.name = "ai_core_freq",
                       .help = "frequency of the AI cores",
                       .exists = "SELECT track.id FROM track JOIN name ON name.id = track.name_id"
                                 " WHERE name.text GLOB 'AI Core Freq*'",
                       .needs = {"lpm_freq|stars_soc_profile"},
                       .group = kCounterLayers},
                      cann::TraceProcess::frequency,
                      "AI Core Freq"});
}

std::unique_ptr<TimelineLayer> make_cann_voltage() {
  return std::make_unique<CoreCounterLayer>(
      CoreCounterInfo{{.name = "voltage",
                       .help = "voltages of the AI cores and the bus",
                       .exists = "SELECT track.id FROM track JOIN name ON name.id = track.name_id"
                                 " WHERE name.text IN ('Aicore Voltage', 'Bus Voltage')",
                       .needs = {"lpm_freq"},
                       .group = kCounterLayers},
                      cann::TraceProcess::voltage,
                      "Voltage Info"});
}

}  // namespace msprof
