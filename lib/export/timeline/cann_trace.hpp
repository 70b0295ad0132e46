// Helpers shared by the timeline layers of CANN captures: processes, documents, texts as JSON.
// Source: cann_host.md 2.5, cann_device.md 23.1.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "export/scope/cann_rules.hpp"
#include "export/timeline_layer.hpp"
#include "export/trace/trace_writer.hpp"
#include "store/database.hpp"

namespace msprof::cann {

// Order of the processes on the screen; part of their pid.
enum class TraceProcess : std::int64_t {
  user_ranges = 6,
  calls = 7,
  cpu_usage = 9,
  memory_usage = 10,
  network_usage = 11,
  disk_usage = 12,
  os_runtime = 13,
  hardware = 14,
  frequency = 15,
  communication = 16,
  npu_memory = 17,
  ddr = 18,
  acc_pmu = 19,
  hccs = 20,
  nic = 21,
  roce = 22,
  pcie = 23,
  hbm = 24,
  stars_soc = 25,
  chip_trans = 26,
  llc = 27,
  sio = 28,
  qos = 29,
  ccu = 30,
  overlap = 31,
  biu = 32,
  block_detail = 34,
  fusion = 35,
  // Order numbers that are free here. The vendor's tool places these processes after all others,
  // with numbers that depend on which others exist.
  operator_memory = 8,
  dpu = 8,  // data units first, then operator_memory
  core_utilization = 5,
  ub = 4,
  voltage = 33,
};

// Assigns pids to the processes of a timeline and writes their metadata.
class TraceProcesses {
 public:
  explicit TraceProcesses(const Database& db);

  std::int64_t host_pid() const { return host_pid_; }
  // Returns pid of the capture << 10 | low 5 bits of the order << 5 | device, as 32 bits.
  std::int64_t pid(TraceProcess process, std::int64_t device) const;
  void write(TraceWriter& out, TraceProcess process, std::int64_t device,
             std::string_view name) const;
  // Also writes its threads, each named `thread` and its number. Writes no metadata if there are no
  // threads.
  void write(TraceWriter& out, TraceProcess process, std::int64_t device, std::string_view name,
             std::string_view thread, const std::set<std::int64_t>& threads) const;

 private:
  std::int64_t host_pid_ = 0;
};

// A layer of msprof_<time of the collection>, drawn if its `exists` query returns a row.
class CannLayer : public TimelineLayer {
 public:
  using TimelineLayer::TimelineLayer;
  std::vector<OutputFile> output_files(const Database& db) const override;
};

}  // namespace msprof::cann
