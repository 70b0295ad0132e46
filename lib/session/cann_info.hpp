// Parses the info files of a host or device folder of a CANN capture: info.json, sample.json,
// start_info, end_info, host_start.log, dev_start.log.
// Source: cann_host.md 1.7, cann_device.md 1.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace msprof::cann {

// Chips that share record formats.
enum class ChipFamily {
  mini,     // 310: TLV records in ts_track.data and aicore.data
  hwts,     // 910A, 310P and relatives: hwts.data, aicore.data
  stars,    // 910B, 310B and relatives: stars_soc.data, ffts_profile.data
  nano,     // V5_1_0
  unread,   // only the name is known: host records are read, device records are not
  stars_v6  // 950 class: 32-byte records
};

// True if task records from devices of this family are read.
constexpr bool reads_tasks(ChipFamily family) {
  return family != ChipFamily::nano && family != ChipFamily::unread;
}

struct Chip {
  int platform = 0;               // platform_version
  std::string_view name;          // name for users: "Ascend910B"
  std::string_view product_name;  // NPU_INFO in the unified database
  ChipFamily family = ChipFamily::stars;
  bool has_batch_ids = true;  // false for chips 0, 2 and 11
};
// Returns nullopt for a number that is not in cann_host.md 1.7.1.
std::optional<Chip> find_chip(int platform);

// Replaces the chip name if the host runtime wrote the capture.
inline constexpr std::string_view kHostRuntime = "host runtime";

// A network card of the host (netCard). Source: cann_system.md 16.4.
struct NetworkCard {
  std::string name;
  std::int64_t bytes_per_s = 0;  // rated speed

  bool operator==(const NetworkCard&) const = default;
};

// Contents of info.json and sample.json. Frequencies in Hz; 0 if absent or not a number.
struct Info {
  std::optional<int> platform;
  std::string version;       // version of the collection: "1.0"
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
  // Core numbers of the device CPUs used for control and for operators.
  std::vector<std::int64_t> ctrl_cpus;
  std::vector<std::int64_t> ai_cpus;
  // Reference values for system counters (cann_system.md 16, 21); 0 or empty if absent.
  std::int64_t cpu_count = 0;              // cpuNums
  std::int64_t cpu_time_hz = 0;            // sysClockFreq: unit of the times in /proc
  std::int64_t memory_total_kb = 0;        // memoryTotal
  std::vector<NetworkCard> network_cards;  // only cards with a known speed
  // sample.json
  bool is_task_based = true;      // core counters: true = per task, false = sampled over time
  bool is_aiv_task_based = true;  // the same for vector cores that have separate files
  std::string aic_metrics;        // "PipeUtilizationExct"; empty: not recorded
  std::string aiv_metrics;
  std::vector<std::uint32_t> aic_events;  // in PMU slot order; 0: not a number
  std::vector<std::uint32_t> aiv_events;
  std::vector<std::uint32_t> l2_cache_events;
  std::vector<std::uint32_t> ts_cpu_events;
  std::int64_t host_disk_hz = 0;           // samples per second in host_disk.data
  std::vector<std::string> qos_events;     // in the order of a record's values
  std::vector<std::uint32_t> smmu_events;  // from npuEvents, in the order of the counters
  int profile_level = 1;                   // "l0" is 0
  bool has_task_block = false;
  bool has_hccl_trace = false;  // true if collectives were requested
  // Last-level cache metric: "read", "write"; on the 310 "capacity", "bandwidth".
  std::string llc_profiling;
};

// Content of host_start.log or dev_start.log: the same moment on two clocks.
struct StartLog {
  std::int64_t monotonic_ns = 0;
  std::int64_t realtime_ns = 0;  // clock_realtime; 0: not given
  std::uint64_t count = 0;       // cntvct
  std::uint64_t count_diff = 0;  // cntvct_diff
};

// Content of start_info or end_info: the start or end of the collection.
struct CollectionTime {
  std::int64_t wall_us = 0;       // microseconds since 1970
  std::int64_t monotonic_ns = 0;  // clockMonotonicRaw; 0: not given
  std::string date;               // "20240515160507", local time; empty: not given
  // From end_info of the host runtime: records dropped for lack of space, and oldest records
  // deleted at the storage limit.
  std::int64_t lost_records = 0;
  std::int64_t removed_records = 0;
};

// Parse the text of one file. A missing key, or one of the wrong type, keeps its default. Return
// false or nullopt if the text does not have the expected format.
bool read_info_json(std::string_view text, Info& info);
bool read_sample_json(std::string_view text, Info& info);
// `needs_count` is false for the host log of CANN 5, whose counter is optional and unused.
std::optional<StartLog> read_start_log(std::string_view text, bool needs_count = true);
std::optional<CollectionTime> read_start_info(std::string_view text);
std::optional<CollectionTime> read_end_info(std::string_view text);

// Converts "100.000000" (MHz) to Hz exactly. Returns 0 if the text is not a decimal number or
// exceeds 1 THz.
std::int64_t mhz_to_hz(std::string_view text);

// Copy the values that are equal in all folders of a capture to a folder without its own file.
void take_info_json(Info& to, const Info& from);
void take_sample_json(Info& to, const Info& from);

}  // namespace msprof::cann
