// Contents of the info files of a host or device folder of a CANN capture: info.json, sample.json,
// start_info, end_info, host_start.log, dev_start.log. For CannSession.
// Source: cann_host.md 1.7, cann_device.md 1.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace msprof::cann {

// A family of chips that record alike.
enum class ChipFamily {
  mini,     // 310: TLV records in ts_track.data and aicore.data
  hwts,     // 910A, 310P and relatives: hwts.data, aicore.data
  stars,    // 910B, 310B and relatives: stars_soc.data, ffts_profile.data
  nano,     // V5_1_0
  unread,   // known by name alone: the host's records are read, the devices' are not
  stars_v6  // 950 class: records of 32 bytes
};

// Whether the records of its devices about tasks are read.
constexpr bool reads_tasks(ChipFamily family) {
  return family != ChipFamily::nano && family != ChipFamily::unread;
}

struct Chip {
  int platform = 0;               // platform_version
  std::string_view name;          // "Ascend910B", the name for users
  std::string_view product_name;  // as NPU_INFO of the unified database prints it
  ChipFamily family = ChipFamily::stars;
  bool has_batch_ids = true;  // chips 0, 2 and 11 never have
};
// Empty for a number that is not in cann_host.md 1.7.1.
std::optional<Chip> chip_of(int platform);

// In the place of a chip's name where the host runtime wrote the records of its family.
inline constexpr std::string_view kHostRuntime = "host runtime";

// A network card of the host (netCard). Source: cann_system.md 16.4.
struct NetworkCard {
  std::string name;
  std::int64_t bytes_per_s = 0;  // what it is built for

  bool operator==(const NetworkCard&) const = default;
};

// info.json and sample.json. Frequencies in Hz, 0 where absent or not a number.
struct Info {
  std::optional<int> platform;
  std::string version;       // of the collection, "1.0"
  std::string host_runtime;  // version of the host runtime that wrote the capture; else empty
  std::int64_t driver_version = 0;
  int cann_major = 0;
  int cann_minor = 0;
  std::int64_t pid = 0;
  std::string pid_name;
  std::int64_t rank_id = -1;
  std::string host_name;
  std::string host_uid = "0";
  std::int64_t host_frequency_hz = 1'000'000'000;
  std::int64_t hwts_frequency_hz = 0;
  std::int64_t aic_frequency_hz = 0;
  std::int64_t aiv_frequency_hz = 0;
  std::int64_t ai_core_num = 0;
  std::int64_t aiv_num = 0;
  // Numbers of the device's CPUs that control it, and of those that run operators.
  std::vector<std::int64_t> ctrl_cpus;
  std::vector<std::int64_t> ai_cpus;
  // What system counters are measured by (cann_system.md 16, 21); 0 and empty where absent.
  std::int64_t cpu_count = 0;              // cpuNums
  std::int64_t cpu_time_hz = 0;            // sysClockFreq: of the times in /proc
  std::int64_t memory_total_kb = 0;        // memoryTotal
  std::vector<NetworkCard> network_cards;  // those whose speed is known
  // sample.json
  bool is_task_based = true;      // the counters of the cores; false: sampled over time
  bool is_aiv_task_based = true;  // those of the vector cores where they have files of their own
  std::string aic_metrics;        // "PipeUtilizationExct"; empty: not recorded
  std::string aiv_metrics;
  std::vector<std::uint32_t> aic_events;  // in the order of the pmu slots; 0: not a number
  std::vector<std::uint32_t> aiv_events;
  std::vector<std::uint32_t> l2_cache_events;
  std::vector<std::uint32_t> ts_cpu_events;
  std::int64_t host_disk_hz = 0;           // samples a second of host_disk.data
  std::vector<std::string> qos_events;     // names, in the order of the values
  std::vector<std::uint32_t> smmu_events;  // of npuEvents, in the order of the counters
  int profile_level = 1;                   // "l0" is 0
  bool task_block = false;
  bool hccl_trace = false;  // collectives were asked for
  // What was counted of the last level cache: "read", "write"; of the 310 "capacity", "bandwidth".
  std::string llc_profiling;
};

// host_start.log and dev_start.log: a moment on two clocks.
struct StartLog {
  std::int64_t monotonic_ns = 0;
  std::int64_t realtime_ns = 0;  // clock_realtime; 0: not given
  std::uint64_t count = 0;       // cntvct
  std::uint64_t count_diff = 0;  // cntvct_diff
};

// start_info and end_info: the begin or the end of the collection.
struct CollectionTime {
  std::int64_t wall_us = 0;       // since 1970
  std::int64_t monotonic_ns = 0;  // clockMonotonicRaw; 0: not given
  std::string date;               // "20240515160507", local time; empty: not given
  // end_info of the host runtime: records that found no space, and the oldest that were removed at
  // the storage limit.
  std::int64_t lost_records = 0;
  std::int64_t removed_records = 0;
};

// Parsers of the text of a file. A key that is missing or of a wrong type leaves its default; false
// or empty: the text is nothing of the kind.
bool read_info_json(std::string_view text, Info& info);
bool read_sample_json(std::string_view text, Info& info);
// `needs_count`: false for the host's log of CANN 5, whose counter, where it is given, is not used.
std::optional<StartLog> read_start_log(std::string_view text, bool needs_count = true);
std::optional<CollectionTime> read_start_info(std::string_view text);
std::optional<CollectionTime> read_end_info(std::string_view text);

// "100.000000" (MHz) as Hz, exactly; 0 for what is no decimal number or beyond 1 THz.
std::int64_t hz_of_mhz(std::string_view text);

// Values that all folders of a capture share, for a folder that has no file of its own.
void take_info_json(Info& to, const Info& from);
void take_sample_json(Info& to, const Info& from);

}  // namespace msprof::cann
