#include "support/prof/prof_setup.hpp"

namespace msprof::test::prof {

namespace {

std::string quoted(std::string_view text) {
  return '"' + std::string(text) + '"';
}

// {"key": value, …}; values are JSON already.
std::string object(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string text = "{";
  for (const auto& [key, value] : members) {
    if (text.size() > 1) text += ", ";
    text += quoted(key) + ": " + value;
  }
  return text + "}";
}

}  // namespace

ProfSetup setup_910a() {
  ProfSetup setup;
  setup.platform = "1";
  setup.ai_core_num = 32;
  setup.aiv_num = 0;
  setup.aic_metrics = setup.aiv_metrics = "PipeUtilization";
  setup.aic_events = setup.aiv_events = std::string(kPipeEvents);
  return setup;
}

ProfSetup setup_310p() {
  ProfSetup setup = setup_910a();
  setup.platform = "4";
  setup.ai_core_num = 8;
  setup.aiv_num = 7;
  return setup;
}

std::string info_json(const ProfSetup& setup, int device) {
  const std::string cpu = "[" +
                          object({{"Id", "0"},
                                  {"Name", quoted("ARM")},
                                  {"Frequency", quoted(setup.host_mhz)},
                                  {"Logical_CPU_Count", "64"},
                                  {"Type", quoted("Kunpeng-920")}}) +
                          "]";
  std::string devices = "[]";
  if (device >= 0) {
    devices = "[" +
              object({{"id", std::to_string(device)},
                      {"ctrl_cpu_id", quoted("ARMv8_Cortex_A55")},
                      {"ctrl_cpu_core_num", "1"},
                      {"ctrl_cpu", quoted("0")},
                      {"ai_cpu", quoted("2,3,4,5,6,7")},
                      {"ai_cpu_core_num", "6"},
                      {"ts_cpu_core_num", "0"},
                      {"ai_core_num", std::to_string(setup.ai_core_num)},
                      {"aiv_num", std::to_string(setup.aiv_num)},
                      {"hwts_frequency", quoted(setup.device_mhz)},
                      {"aic_frequency", quoted(setup.aic_mhz)},
                      {"aiv_frequency", quoted(setup.aiv_mhz)}}) +
              "]";
  }
  return object({{"version", quoted("1.0")},
                 {"platform_version", quoted(setup.platform)},
                 {"pid", quoted(setup.pid)},
                 {"pid_name", quoted(setup.pid_name)},
                 {"devices", quoted(device < 0 ? "64" : std::to_string(device))},
                 {"hostname", quoted("worker-1")},
                 {"hostUid", quoted("1234567890")},
                 {"OS", quoted("Linux-5.10.0")},
                 {"jobInfo", quoted("NA")},
                 {"rank_id", "-1"},
                 {"cpuNums", "64"},
                 {"sysClockFreq", "100"},
                 {"memoryTotal", "527865344"},
                 {"netCardNums", "0"},
                 {"netCard", "[]"},
                 {"drvVersion", std::to_string(setup.driver)},
                 {"cannVersion", quoted(setup.cann)},
                 {"CPU", cpu},
                 {"DeviceInfo", devices}});
}

std::string sample_json(const ProfSetup& setup, int device) {
  std::string devices;
  for (const int number : setup.devices) {
    devices += (devices.empty() ? "" : ",") + std::to_string(number);
  }
  return object({{"devices", quoted(device < 0 ? "64" : devices)},
                 {"ai_core_profiling", quoted("on")},
                 {"ai_core_profiling_mode", quoted("task-based")},
                 {"ai_core_metrics", quoted(setup.aic_metrics)},
                 {"ai_core_profiling_events", quoted(setup.aic_events)},
                 {"aicore_sampling_interval", "10"},
                 {"aiv_profiling", quoted("on")},
                 {"aiv_profiling_mode", quoted("task-based")},
                 {"aiv_metrics", quoted(setup.aiv_metrics)},
                 {"aiv_profiling_events", quoted(setup.aiv_events)},
                 {"aiv_sampling_interval", "10"},
                 {"l2CacheTaskProfilingEvents", quoted(setup.l2_events)},
                 {"llc_profiling", quoted("read")},
                 {"profLevel", quoted(setup.level)},
                 {"dynamic", quoted("off")},
                 {"msprofBinPid", "-1"}});
}

std::string start_info(const ProfSetup& setup) {
  return object({{"collectionDateBegin", quoted(setup.begin_date)},
                 {"collectionTimeBegin", quoted(std::to_string(setup.begin_us))},
                 {"collectionDateEnd", quoted("")},
                 {"collectionTimeEnd", quoted("")},
                 {"clockMonotonicRaw", quoted(std::to_string(setup.raw_ns))}});
}

std::string end_info(const ProfSetup& setup) {
  const std::uint64_t raw = setup.raw_ns + (setup.end_us - setup.begin_us) * 1000;
  return object({{"collectionDateEnd", quoted("2023-11-14 22:13:30.000000")},
                 {"collectionTimeEnd", quoted(std::to_string(setup.end_us))},
                 {"clockMonotonicRaw", quoted(std::to_string(raw))}});
}

std::string host_start_log(const ProfSetup& setup) {
  return "[Host]\nclock_monotonic_raw: " + std::to_string(setup.monotonic_ns) +
         "\ncntvct: " + std::to_string(setup.host_count) +
         "\ncntvct_diff: " + std::to_string(setup.count_difference) + "\n";
}

std::string dev_start_log(const ProfSetup& setup) {
  return "clock_monotonic_raw:" + std::to_string(setup.device_monotonic_ns) +
         "\ncntvct:" + std::to_string(setup.device_ticks) + "\n";
}

}  // namespace msprof::test::prof
