#include "runtime/acl/prof/info_files.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <nlohmann/json.hpp>

#include "runtime/acl/prof/counters.hpp"
#include "runtime/engine/clock.hpp"
#include "wire/cann/rank_variables.hpp"

namespace msprof::acl {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kHostDevice = "64";
// Counters are nanoseconds on host and devices: at 1000 MHz readers use them unchanged.
constexpr const char* kMhz = "1000.000000";
// The lowest version for which readers detect wraparounds of task ids.
constexpr int kDriverVersion = 467473;
// Records have the format of this version, which tags marks and ranges on devices separately.
constexpr const char* kCannVersion = "9.1.0";

std::string one_line(const Json& object) {
  return object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string date(std::uint64_t wall_us) {
  const auto seconds = static_cast<time_t>(wall_us / 1'000'000);
  tm local = {};
  localtime_r(&seconds, &local);
  std::array<char, 64> text;
  const std::size_t length = strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &local);
  snprintf(text.data() + length, text.size() - length, ".%06u",
           static_cast<unsigned>(wall_us % 1'000'000));
  return text.data();
}

std::string process_name() {
  std::array<char, 4096> path;
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  if (length <= 0) return "unknown";
  const std::string name(path.data(), static_cast<std::size_t>(length));
  return name.substr(name.rfind('/') + 1);
}

std::string letters() {
  const int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return "";
  constexpr std::size_t kLetters = 8;
  constexpr unsigned kDifferent = 18;  // number of letters: A to R
  std::array<unsigned char, kLetters> bytes;
  const ssize_t got = read(fd, bytes.data(), bytes.size());
  close(fd);
  if (got != static_cast<ssize_t>(bytes.size())) return "";
  std::string text;
  for (const unsigned char byte : bytes) text += static_cast<char>('A' + byte % kDifferent);
  return text;
}

// Returns -1 if the variable is not a number.
int rank_in(const char* name) {
  const char* const text = getenv(name);
  return text != nullptr && *text >= '0' && *text <= '9' ? atoi(text) : -1;
}

int rank() {
  int found = rank_in("RANK_ID");
  for (const auto& [name, needed] : cann::kRankVariables) {
    if (found < 0 && (needed == nullptr || getenv(needed) != nullptr)) found = rank_in(name);
  }
  return found;
}

Json device_info(std::uint16_t device) {
  // One core of each kind, as in the machine model.
  return {{"id", device},           {"env_type", 0},          {"ctrl_cpu_core_num", 1},
          {"ctrl_cpu_id", ""},      {"ctrl_cpu", "0"},        {"ts_cpu_core_num", 0},
          {"ai_cpu_core_num", 1},   {"ai_cpu", "1"},          {"ai_core_num", 1},
          {"aiv_num", 1},           {"hwts_frequency", kMhz}, {"aic_frequency", "1000"},
          {"aiv_frequency", "1000"}};
}

const char* on_off(bool on) {
  return on ? "on" : "off";
}

std::string level(std::uint64_t bits) {
  if ((bits & prof_bits::kTaskTimeL3) != 0) return "level3";
  if ((bits & prof_bits::kTaskTimeL2) != 0) return "level2";
  if ((bits & prof_bits::kTaskTime) != 0) return "level1";
  return (bits & prof_bits::kTaskTimeL0) != 0 ? "level0" : "off";
}

}  // namespace

// Other programs write CLOCK_MONOTONIC_RAW to "clockMonotonicRaw" and "clock_monotonic_raw". Here
// they hold CLOCK_MONOTONIC, the clock of all records: readers subtract this time from that of a
// record and add the wall-clock time, so both must use the same clock, whichever it is. The
// wall-clock time is truncated to microseconds, so the monotonic time is moved back by the
// truncated ns.
ClockMoment now() {
  timespec wall = {};
  const std::uint64_t before = runtime::monotonic_ns();
  clock_gettime(CLOCK_REALTIME, &wall);
  const std::uint64_t after = runtime::monotonic_ns();
  const std::uint64_t wall_ns = static_cast<std::uint64_t>(wall.tv_sec) * 1'000'000'000U +
                                static_cast<std::uint64_t>(wall.tv_nsec);
  return {before + (after - before) / 2 - wall_ns % 1000, wall_ns / 1000};
}

std::string folder_name(std::uint32_t number, const ClockMoment& begin) {
  const std::string random = letters();
  if (random.empty()) return "";
  const auto seconds = static_cast<time_t>(begin.wall_us / 1'000'000);
  tm local = {};
  localtime_r(&seconds, &local);
  std::array<char, 128> text;
  snprintf(text.data(), text.size(), "PROF_%06u_%04d%02d%02d%02d%02d%02d%03u_%08d%s", number,
           local.tm_year + 1900, local.tm_mon + 1, local.tm_mday, local.tm_hour, local.tm_min,
           local.tm_sec, static_cast<unsigned>(begin.wall_us / 1000 % 1000),
           static_cast<int>(getpid()), random.c_str());
  return text.data();
}

std::string info_json(const RecordingOptions& options, std::optional<std::uint16_t> device) {
  utsname system = {};
  uname(&system);
  struct sysinfo memory = {};
  sysinfo(&memory);
  const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
  const Json cpu = {{"Id", 0},
                    {"Name", system.machine},
                    {"Frequency", kMhz},
                    {"Logical_CPU_Count", cpus},
                    {"Type", system.machine}};
  const Json info = {
      {"msprof_host_runtime", MSPROF_VERSION},
      {"version", "1.0"},
      {"jobInfo", "NA"},
      {"mac", ""},
      {"OS", std::string(system.sysname) + "-" + system.release},
      {"hostname", system.nodename},
      {"hwtype", ""},
      {"devices", device ? std::to_string(*device) : kHostDevice},
      {"platform", ""},
      {"platform_version", std::to_string(options.chip)},
      {"pid", std::to_string(getpid())},
      {"pid_name", process_name()},
      {"upTime", std::to_string(memory.uptime)},
      {"memoryTotal", static_cast<std::uint64_t>(memory.totalram) * memory.mem_unit / 1024},
      {"cpuNums", cpus},
      {"sysClockFreq", sysconf(_SC_CLK_TCK)},
      {"cpuCores", cpus},
      {"netCardNums", 0},
      {"netCard", Json::array()},
      {"rank_id", rank()},
      {"hostUid", std::to_string(static_cast<unsigned long>(gethostid()) & 0xFFFFFFFFU)},
      {"mode", ""},
      {"drvVersion", kDriverVersion},
      {"cannVersion", kCannVersion},
      {"CPU", Json::array({cpu})},
      {"DeviceInfo", device ? Json::array({device_info(*device)}) : Json::array()}};
  return one_line(info);
}

std::string sample_json(const RecordingOptions& options, std::optional<std::uint16_t> device,
                        const std::string& folder) {
  const std::uint64_t bits = options.bits;
  const bool counts = find_metrics(options) != nullptr;
  const CounterSet core =
      counts ? counter_set(*find_metrics(options), options.chip, false) : CounterSet{};
  const CounterSet vector =
      counts ? counter_set(*find_metrics(options), options.chip, true) : CounterSet{};
  Json sample = {
      {"result_dir", folder},
      {"devices", device ? std::to_string(*device) : kHostDevice},
      {"storageLimit", options.storage_limit_bytes == 0
                           ? std::string()
                           : std::to_string(options.storage_limit_bytes >> 20U) + "MB"},
      {"ai_core_profiling", on_off(counts)},
      {"ai_core_profiling_mode", "task-based"},
      {"ai_core_metrics", core.name},
      {"ai_core_profiling_events", core.events},
      {"aicore_sampling_interval", 10},
      {"aiv_profiling", on_off(counts)},
      {"aiv_profiling_mode", "task-based"},
      {"aiv_metrics", vector.name},
      {"aiv_profiling_events", vector.events},
      {"aiv_sampling_interval", 10},
      {"acl", on_off((bits & prof_bits::kAclApi) != 0)},
      {"runtimeApi", on_off((bits & prof_bits::kRuntimeApi) != 0)},
      {"aicpuTrace", on_off((bits & prof_bits::kAicpu) != 0)},
      {"hcclTrace", on_off((bits & prof_bits::kHcclTrace) != 0)},
      {"msproftx", on_off((bits & prof_bits::kMsprofTx) != 0)},
      {"taskTime", on_off((bits & prof_bits::kAnyTaskTime) != 0)},
      {"taskMemory", on_off((bits & prof_bits::kTaskMemory) != 0)},
      {"ts_keypoint", on_off((bits & prof_bits::kTrainingTrace) != 0)},
      {"prof_level", level(bits)},
      {"l2CacheTaskProfiling", on_off((bits & prof_bits::kL2Cache) != 0)},
      {"l2CacheTaskProfilingEvents",
       (bits & prof_bits::kL2Cache) != 0 ? l2_cache_events(options.chip) : std::string()},
      {"llc_profiling", ""},
      {"dynamic", "off"},
      {"taskBlock", "off"},
      {"hostProfiling", false},
      {"msprofBinPid", -1}};
  for (const auto& [key, value] : options.parameters) sample[key] = value;
  return one_line(sample);
}

std::string start_info(const ClockMoment& begin) {
  return one_line({{"collectionTimeBegin", std::to_string(begin.wall_us)},
                   {"collectionDateBegin", date(begin.wall_us)},
                   {"collectionTimeEnd", ""},
                   {"collectionDateEnd", ""},
                   {"clockMonotonicRaw", std::to_string(begin.monotonic_ns)}});
}

std::string end_info(const ClockMoment& end, const std::optional<Losses>& losses) {
  Json info = {{"collectionTimeEnd", std::to_string(end.wall_us)},
               {"collectionDateEnd", date(end.wall_us)},
               {"clockMonotonicRaw", std::to_string(end.monotonic_ns)}};
  if (losses) info["msprof_lost_records"] = std::to_string(losses->lost);
  if (losses && losses->removed > 0)
    info["msprof_removed_records"] = std::to_string(losses->removed);
  return one_line(info);
}

std::string host_start_log(const ClockMoment& begin) {
  const std::string count = std::to_string(begin.monotonic_ns);
  return "[Host]\nclock_realtime: " + std::to_string(begin.wall_us) +
         "000\nclock_monotonic_raw: " + count + "\ncntvct: " + count + "\ncntvct_diff: 0\n";
}

std::string dev_start_log(const ClockMoment& begin) {
  const std::string count = std::to_string(begin.monotonic_ns);
  return "clock_monotonic_raw: " + count + "\ncntvct: " + count + "\n";
}

}  // namespace msprof::acl
