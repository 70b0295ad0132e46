#include "support/prof/prof_setup.hpp"

namespace msprof::test::prof {

namespace {

std::string in_quotes(std::string_view text) {
  return '"' + std::string(text) + '"';
}

// {"key": value, …}; the values are already JSON.
std::string object(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string text = "{";
  for (const auto& [key, value] : members) {
    if (text.size() > 1) text += ", ";
    text += in_quotes(key) + ": " + value;
  }
  return text + "}";
}

std::string object(std::vector<std::pair<std::string, std::string>> members,
                   const std::map<std::string, std::string>& others) {
  for (const auto& other : others) {
    std::erase_if(members, [&](const auto& member) { return member.first == other.first; });
    members.emplace_back(other);
  }
  return object(members);
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

ProfSetup setup_310() {
  ProfSetup setup = setup_910a();
  setup.platform = "0";
  setup.ai_core_num = 2;
  return setup;
}

// A chip with only one kind of cores, cube cores.
ProfSetup setup_310b() {
  ProfSetup setup;
  setup.platform = "7";
  setup.ai_core_num = 1;
  setup.aiv_num = 0;
  setup.aiv_metrics = setup.aic_metrics;
  setup.aiv_events = setup.aic_events;
  return setup;
}

ProfSetup setup_950() {
  ProfSetup setup;
  setup.platform = "15";
  setup.aic_metrics = setup.aiv_metrics = "PipeUtilization";
  setup.aic_events = setup.aiv_events = std::string(kV6Events);
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
                                  {"Name", in_quotes("ARM")},
                                  {"Frequency", in_quotes(setup.host_mhz)},
                                  {"Logical_CPU_Count", "64"},
                                  {"Type", in_quotes("Kunpeng-920")}}) +
                          "]";
  std::string devices = "[]";
  if (device >= 0) {
    devices = "[" +
              object({{"id", std::to_string(device)},
                      {"ctrl_cpu_id", in_quotes("ARMv8_Cortex_A55")},
                      {"ctrl_cpu_core_num", "1"},
                      {"ctrl_cpu", in_quotes("0")},
                      {"ai_cpu", in_quotes("2,3,4,5,6,7")},
                      {"ai_cpu_core_num", "6"},
                      {"ts_cpu_core_num", "0"},
                      {"ai_core_num", std::to_string(setup.ai_core_num)},
                      {"aiv_num", std::to_string(setup.aiv_num)},
                      {"hwts_frequency", in_quotes(setup.device_mhz)},
                      {"aic_frequency", in_quotes(setup.aic_mhz)},
                      {"aiv_frequency", in_quotes(setup.aiv_mhz)}}) +
              "]";
  }
  return object({{"version", in_quotes(setup.version)},
                 {"platform_version", in_quotes(setup.platform)},
                 {"pid", in_quotes(setup.pid)},
                 {"pid_name", in_quotes(setup.pid_name)},
                 {"devices", in_quotes(device < 0 ? "64" : std::to_string(device))},
                 {"hostname", in_quotes("worker-1")},
                 {"hostUid", in_quotes("1234567890")},
                 {"OS", in_quotes("Linux-5.10.0")},
                 {"jobInfo", in_quotes("NA")},
                 {"rank_id", "-1"},
                 {"cpuNums", "64"},
                 {"sysClockFreq", "100"},
                 {"memoryTotal", "527865344"},
                 {"netCardNums", "0"},
                 {"netCard", "[]"},
                 {"drvVersion", std::to_string(setup.driver)},
                 {"cannVersion", in_quotes(setup.cann)},
                 {"CPU", cpu},
                 {"DeviceInfo", devices}},
                setup.info);
}

std::string sample_json(const ProfSetup& setup, int device) {
  std::string devices;
  for (const int number : setup.devices) {
    devices += (devices.empty() ? "" : ",") + std::to_string(number);
  }
  return object({{"devices", in_quotes(device < 0 ? "64" : devices)},
                 {"ai_core_profiling", in_quotes("on")},
                 {"ai_core_profiling_mode", in_quotes("task-based")},
                 {"ai_core_metrics", in_quotes(setup.aic_metrics)},
                 {"ai_core_profiling_events", in_quotes(setup.aic_events)},
                 {"aicore_sampling_interval", "10"},
                 {"aiv_profiling", in_quotes("on")},
                 {"aiv_profiling_mode", in_quotes("task-based")},
                 {"aiv_metrics", in_quotes(setup.aiv_metrics)},
                 {"aiv_profiling_events", in_quotes(setup.aiv_events)},
                 {"aiv_sampling_interval", "10"},
                 {"l2CacheTaskProfilingEvents", in_quotes(setup.l2_events)},
                 {"llc_profiling", in_quotes("read")},
                 {"profLevel", in_quotes(setup.level)},
                 {"dynamic", in_quotes("off")},
                 {"msprofBinPid", "-1"}},
                setup.sample);
}

std::string start_info(const ProfSetup& setup) {
  return object({{"collectionDateBegin", in_quotes(setup.begin_date)},
                 {"collectionTimeBegin", in_quotes(std::to_string(setup.begin_us))},
                 {"collectionDateEnd", in_quotes("")},
                 {"collectionTimeEnd", in_quotes("")},
                 {"clockMonotonicRaw", in_quotes(std::to_string(setup.raw_ns))}});
}

std::string end_info(const ProfSetup& setup) {
  const std::uint64_t raw = setup.raw_ns + (setup.end_us - setup.begin_us) * 1000;
  return object({{"collectionDateEnd", in_quotes("2023-11-14 22:13:30.000000")},
                 {"collectionTimeEnd", in_quotes(std::to_string(setup.end_us))},
                 {"clockMonotonicRaw", in_quotes(std::to_string(raw))}});
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
