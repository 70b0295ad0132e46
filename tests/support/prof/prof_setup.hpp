// ProfSetup: the contents of a PROF folder's info files: chip, clocks, metrics. For ProfFolder. By
// default the clocks have round rates, so that expected times can be calculated by hand: the run
// starts at 2023-11-14 22:13:20 UTC, 1700000000000000 us, and a moment `ns` later is
// 1700000000000000.000 + ns / 1000 us in every product, in both formats of the vendor.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace msprof::test::prof {

inline constexpr std::string_view kExctEvents = "0x416,0x417,0x9,0x302,0xc,0x303,0x54,0x55";
inline constexpr std::string_view kV6Events = "0x501,0x301,0x1,0x701,0x202,0x203,0x34,0x35,0x714";
inline constexpr std::string_view kPipeEvents = "0x8,0xa,0x9,0xb,0xc,0xd,0x54,0x55";

struct ProfSetup {
  std::string platform = "5";
  std::vector<int> devices{0};

  // start_info
  std::uint64_t begin_us = 1'700'000'000'000'000;
  std::string begin_date = "2023-11-14 22:13:20.000000";
  std::uint64_t raw_ns = 5'000'000'000;
  // end_info; 0: no end_info
  std::uint64_t end_us = 1'700'000'010'000'000;

  // host_start.log, dev_start.log, and the rates of the counters
  std::uint64_t monotonic_ns = 5'000'000'000;
  std::uint64_t host_count = 500'000'000;
  std::uint64_t device_monotonic_ns = 4'000'000'000;
  std::uint64_t device_ticks = 250'000'000;
  std::uint64_t count_difference = 0;
  std::string host_mhz = "100.000000";
  std::string device_mhz = "50.000000";
  std::uint64_t host_ns_per_count = 10;  // must match host_mhz and device_mhz
  std::uint64_t device_ns_per_tick = 20;

  std::string aic_mhz = "1000", aiv_mhz = "1000";
  int ai_core_num = 20, aiv_num = 40;
  std::string pid = "4321", pid_name = "python3";
  std::uint64_t driver = 467732;
  std::string cann = "8.5.0";
  std::string level = "l1";
  std::string aic_metrics = "PipeUtilizationExct", aiv_metrics = "PipeUtilization";
  std::string aic_events{kExctEvents}, aiv_events{kPipeEvents};
  std::string l2_events;  // empty: not collected
  std::string version = "1.0";
  // More or replaced values of the files, as JSON: "\"read\"", "3".
  std::map<std::string, std::string> info{}, sample{};

  // Clock counts at `ns` after the start of the collection.
  std::uint64_t host_at(std::uint64_t ns) const { return host_count + ns / host_ns_per_count; }
  std::uint64_t ticks_at(std::uint64_t ns) const { return device_ticks + ns / device_ns_per_tick; }
  bool is_310() const { return platform == "0"; }
  // Chips with 64-byte log records.
  bool is_stars() const {
    return platform == "5" || platform == "7" || platform == "8" || platform == "11";
  }
  // Chips with 32-bit task ids.
  bool is_v6() const {
    return platform == "15" || platform == "16" || platform == "17" || platform == "18";
  }
};

// Setups with other metrics and cores than those of the 910B.
ProfSetup setup_310();
ProfSetup setup_910a();
ProfSetup setup_310p();
ProfSetup setup_310b();
ProfSetup setup_950();

// The texts of the files; `device` -1 is the host.
std::string info_json(const ProfSetup& setup, int device);
std::string sample_json(const ProfSetup& setup, int device);
std::string start_info(const ProfSetup& setup);
std::string end_info(const ProfSetup& setup);
std::string host_start_log(const ProfSetup& setup);
std::string dev_start_log(const ProfSetup& setup);

}  // namespace msprof::test::prof
