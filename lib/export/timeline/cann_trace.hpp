// Parts that the timeline layers of CANN captures share: their processes, their documents, texts
// as JSON.
// Source: cann_host.md 2.5, cann_device.md 23.1.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "export/cann_rules.hpp"
#include "export/timeline_layer.hpp"
#include "store/database.hpp"

namespace msprof::cann {

// Order of the processes on the screen; part of their pid.
enum class TraceProcess : std::int64_t {
  user_ranges = 6,
  calls = 7,
  hardware = 14,
  frequency = 15,
  communication = 16,
  device_memory = 17,
  voltage = 30,  // a place that chips with voltages leave free
  overlap = 31,
};

// Device number of the host.
inline constexpr std::int64_t kHostDevice = 31;

// Writes and numbers the processes of a timeline.
class TraceProcesses {
 public:
  explicit TraceProcesses(const Database& db);

  // pid of the capture << 10 | order << 5 | device, 32 bits.
  std::int64_t pid(TraceProcess process, std::int64_t device) const;
  // Its metadata: name, label ("CPU" or "NPU <device>") and order.
  void write(TraceJsonWriter& out, TraceProcess process, std::int64_t device,
             std::string_view name) const;
  // Writes it with its threads, each named `thread` and its number; nothing if there are none.
  void write(TraceJsonWriter& out, TraceProcess process, std::int64_t device, std::string_view name,
             std::string_view thread, const std::set<std::int64_t>& threads) const;

 private:
  std::int64_t host_pid_ = 0;
};

// A layer of msprof_<time of the collection>, where its `exists` finds something.
class Layer : public TimelineLayer {
 public:
  using TimelineLayer::TimelineLayer;
  std::vector<OutputFile> output_files(const Database& db) const override;
};

}  // namespace msprof::cann
