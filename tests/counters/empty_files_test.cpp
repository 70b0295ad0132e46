// Empty files of every kind of counter.
#include <catch2/catch.hpp>

#include "counters/counter_capture.hpp"

using namespace msprof::test;

TEST_CASE("an empty file of any kind of counter gives no data and no finding") {
  CounterCapture capture;
  for (const char* const stem : {"npu_mem.app",
                                 "npu_mem.data",
                                 "npu_module_mem.data",
                                 "hbm.data",
                                 "ddr.data",
                                 "llc.data",
                                 "pcie.data",
                                 "hccs.data",
                                 "nic.data",
                                 "roce.data",
                                 "dvpp.data",
                                 "SystemCpuUsage.data",
                                 "17-CpuUsage.data",
                                 "Memory.data",
                                 "17-Memory.data",
                                 "netdev_stats.data",
                                 "stars_soc_profile.data",
                                 "qos.data",
                                 "socpmu.data",
                                 "lpmInfoConv.data",
                                 "ai_ctrl_cpu.data",
                                 "tscpu.data",
                                 "ub.data"}) {
    capture.device(stem, "");
  }
  for (const char* const stem :
       {"host_cpu.data", "host_mem.data", "host_disk.data", "host_network.data",
        "host_syscall.data", "host_pthreadcall.data", "host_sys_cpu.data", "host_sys_mem.data",
        "17-CpuUsage.data", "17-Memory.data", "unaging.additional.static_op_mem"}) {
    capture.host(stem, "");
  }
  capture.process();
  for (const std::string& finding : capture.findings()) {
    INFO(finding);
    CHECK(finding.rfind("PARTIAL", 0) == std::string::npos);
    CHECK(finding.find("not read") == std::string::npos);
  }
  CHECK(capture.report().kinds().count("hbm") == 1);
  // Only the frequency has a sample: the one in info.json.
  CHECK(capture.store("SELECT DISTINCT text FROM track JOIN name ON name.id = kind_name_id") ==
        Lines{"lpm_freq"});
}
