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
  // Places that nothing else has here; the vendor's tool puts these behind all others, where its
  // numbers depend on what else there is.
  operator_memory = 8,
  dpu = 8,  // numbered by data units; operator_memory after them
  core_utilization = 5,
  ub = 4,
  voltage = 33,
  // Of CANN 5, which numbered its processes in this way (cann_device.md 24).
  cann5_user_ranges = 0,
  cann5_steps = 1,
  cann5_acl = 2,
  cann5_communication = 3,
  cann5_ge = 4,
  cann5_ge_ops = 5,
  cann5_runtime = 6,
};

// The process of tasks; CANN 5 called it after what schedules them.
constexpr std::string_view hardware_name(bool is_cann5) {
  return is_cann5 ? "Task Scheduler" : "Ascend Hardware";
}

// ai_stack_time of CANN 5: one process, a thread each for AscendCL, GE, the runtime and tasks.
inline constexpr std::string_view kAiStackProcess = "AI Stack Time";
enum class AiStackThread : std::int64_t { acl, ge, runtime, tasks };
constexpr std::string_view ai_stack_thread_name(AiStackThread thread) {
  constexpr std::string_view kNames[] = {"AscendCL", "GE", "Runtime", "Task Scheduler"};
  return kNames[static_cast<std::size_t>(thread)];
}
// The arguments of its slices.
void write_ai_stack_arguments(TraceJsonWriter& out, const ExportScope& scope, std::int64_t start_ns,
                              std::int64_t duration_ns);

// `ids` as stretches of rows that are a piece each; ids follow each other but for a store from
// elsewhere, of which they are too many stretches to count.
std::vector<IdRange> piece_ranges(IdRange ids);

// Writes and numbers the processes of a timeline.
class TraceProcesses {
 public:
  explicit TraceProcesses(const Database& db);

  // pid of the capture << 10 | order << 5 | device, 32 bits; of the order the low 5 bits.
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
