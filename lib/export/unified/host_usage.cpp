// Tables of a process's host usage: CPU_USAGE, HOST_MEM_USAGE, HOST_DISK_USAGE, HOST_NETWORK_USAGE,
// and its operating system calls: OSRT_API. Source: cann_system.md 16, 17.
#include "export/scope/host_usage.hpp"
#include "base/number.hpp"
#include "export/unified/unified_counters.hpp"

namespace msprof::unified {

namespace {

constexpr UnifiedTable kCpuUsage{
    "CPU_USAGE", "timestampNs NUMERIC, cpuId NUMERIC, usage NUMERIC", {}, 0b100};
constexpr UnifiedTable kMemUsage{"HOST_MEM_USAGE", "timestampNs NUMERIC, usage NUMERIC", {}, 0b10};
constexpr UnifiedTable kDiskUsage{
    "HOST_DISK_USAGE",
    "timestampNs NUMERIC, readRate NUMERIC, writeRate NUMERIC, usage NUMERIC",
    {},
    0b1110};
constexpr UnifiedTable kNetworkUsage{
    "HOST_NETWORK_USAGE", "timestampNs NUMERIC, usage NUMERIC, speed NUMERIC", {}, 0b110};
constexpr UnifiedTable kOsCalls{"OSRT_API",
                                "name NUMERIC, globalTid NUMERIC, startNs NUMERIC, endNs NUMERIC"};
constexpr double kUsageKilobyte = 1024;

void write_os_calls(UnifiedWriter& out) {
  UnifiedRows rows(out, kOsCalls);
  for (const std::string_view kind : {"host_syscall", "host_pthreadcall"}) {
    WholeIntervals samples(out.store(), kind, {});
    std::vector<std::string> shown;
    for (const CounterTrack& track : samples.tracks()) {
      if (shows_call(kind, track.counter)) shown.push_back(track.counter);
    }
    out.find_texts(shown);
    std::vector<std::int64_t> names;  // by track; kNoValue: not shown
    for (const CounterTrack& track : samples.tracks())
      names.push_back(shows_call(kind, track.counter) ? out.text(track.counter) : kNoValue);
    while (samples.next()) {
      const CounterTrack& track = *samples->track;
      if (names[track.index] == kNoValue) continue;
      out.use(names[track.index]);
      rows.add({names[track.index], out.thread(track.number.value_or(0)), *samples->begin_ns,
                samples->time_ns});
    }
  }
}

}  // namespace

void write_host_usage(UnifiedWriter& out) {
  UnifiedRows cpus(out, kCpuUsage);
  WholeIntervals samples(out.store(), "host_cpu", {});
  while (samples.next()) {
    const auto& cpu = samples->track->number;
    if (cpu) cpus.add({*samples->begin_ns, *cpu, real_cell(samples->shown())});
  }
  UnifiedRows memory(out, kMemUsage);
  for_each_memory_use(out.store(), {}, [&](const MemoryUse& use) {
    memory.add({use.time_ns, real_cell(use.percent)});
  });
  UnifiedRows disks(out, kDiskUsage);
  for_each_disk_use(out.store(), {}, [&](const DiskUse& use) {
    disks.add({use.begin_ns, real_cell(use.read_kb_s * kUsageKilobyte),
               real_cell(use.write_kb_s * kUsageKilobyte), real_cell(use.percent)});
  });
  UnifiedRows network(out, kNetworkUsage);
  for_each_network_use(out.store(), {}, [&](const NetworkUse& use) {
    network.add({use.begin_ns, real_cell(use.percent), real_cell(use.kb_s * kUsageKilobyte)});
  });
  write_os_calls(out);
}

}  // namespace msprof::unified
