// Memory in use, memory per module, and DDR traffic.
#include <catch2/catch.hpp>

#include "counters/counter_capture.hpp"
#include "support/files.hpp"

using namespace msprof::test;
using prof::ProfSetup;

namespace {

struct __attribute__((packed)) NpuMem {
  std::uint32_t us, event;
  std::uint64_t later_us, ddr, hbm;
};
struct __attribute__((packed)) ModuleMem {
  std::uint32_t module, none;
  std::uint64_t host_count, bytes;
};
struct __attribute__((packed)) Ddr {
  std::uint32_t us, count, event, controller;
  std::uint32_t master = 0xFFFFFFFF;
};

ProfSetup memory_of_chip(std::string platform) {
  ProfSetup setup;
  setup.platform = std::move(platform);
  return setup;
}

void add_empty_memory_file(CounterCapture& capture, const std::string& name) {
  write_file(capture.prof().folder() / "device_0" / "data" / name, "");
}

}  // namespace

TEST_CASE("memory in use: application and device are in one table, in unrounded bytes") {
  CounterCapture capture;
  capture.record("npu_mem.app", NpuMem{1000, 0, 0, 1024, 2560});
  capture.record("npu_mem.data", NpuMem{2000, 1, 0, 0, (1 << 20) + 1});
  capture.process();
  CHECK(capture.samples("npu_mem") ==
        Lines{"0|NPU MEM APP|DDR|KB||1000000|1024", "0|NPU MEM APP|HBM|KB||1000000|2560",
              "0|NPU MEM APP|Memory|KB||1000000|3584", "0|NPU MEM Device|DDR|KB||2000000|0",
              "0|NPU MEM Device|HBM|KB||2000000|1048577",
              "0|NPU MEM Device|Memory|KB||2000000|1048577"});
  CHECK(capture.header("npu_mem") == "Device_id,event,ddr(KB),hbm(KB),memory(KB),timestamp(us)");
  // KB with three decimals on every chip.
  CHECK(capture.table("npu_mem") == Lines{"0|APP|1.0|2.5|3.5|1700000000001000.000",
                                          "0|Device|0.0|1024.001|1024.001|1700000000002000.000"});
  CHECK(capture.events("NPU MEM") ==
        Lines{counter_event("APP/DDR", 1'000'000, "KB", "1.0"),
              counter_event("APP/HBM", 1'000'000, "KB", "2.5"),
              counter_event("APP/Memory", 1'000'000, "KB", "3.5"),
              counter_event("Device/DDR", 2'000'000, "KB", "0.0"),
              counter_event("Device/HBM", 2'000'000, "KB", "1024.0009765625"),
              counter_event("Device/Memory", 2'000'000, "KB", "1024.0009765625")});
  CHECK(capture.unified("SELECT value, ddr, hbm, timestampNs - 1700000000000000000, deviceId FROM"
                        " NPU_MEM JOIN STRING_IDS ON id = type") ==
        Lines{"app|1024|2560|1000000|0", "device|0|1048577|2000000|0"});
  CHECK(capture.findings("npu_mem").empty());
}

TEST_CASE("memory in use: the 32-bit clock continues after a wraparound") {
  CounterCapture capture;
  capture.record("npu_mem.data", NpuMem{0xFFFFFFFF, 1, 0, 0, 1024});
  capture.record("npu_mem.data", NpuMem{999, 1, 0, 0, 2048});
  capture.process();
  CHECK(capture.samples("npu_mem").at(1) == "0|NPU MEM Device|HBM|KB||4294967295000|1024");
  CHECK(capture.samples("npu_mem").at(4) == "0|NPU MEM Device|HBM|KB||4294968295000|2048");
}

TEST_CASE(
    "memory in use: version 2.0 has its clock at another offset, and unknown events are named") {
  ProfSetup setup;
  setup.version = "2.0";
  CounterCapture capture(setup);
  capture.record("npu_mem.data", NpuMem{77, 2, 3000, 512, 512});
  capture.process();
  CHECK(capture.table("npu_mem") == Lines{"0|Unknown|0.5|0.5|1.0|1700000000003000.000"});
  CHECK(capture.unified("SELECT value FROM NPU_MEM JOIN STRING_IDS ON id = type") ==
        Lines{"unknown"});
}

TEST_CASE("memory in use: truncation is handled per file stem, and damage is counted") {
  CounterCapture capture;
  capture.record("npu_mem.app", NpuMem{1000, 0, 0, 0, 1024});
  capture.device("npu_mem.app", "a part");
  constexpr std::uint64_t kGigabyte = 1 << 30;
  const NpuMem straddling{200'000, 1, 0, 0, 2 * kGigabyte};
  const std::string_view bytes(reinterpret_cast<const char*>(&straddling), sizeof(straddling));
  capture.device("npu_mem.data", bytes.substr(0, 10));
  capture.prof().next_slice("npu_mem.data", 0);
  capture.device("npu_mem.data", bytes.substr(10));
  capture.record("npu_mem.data", NpuMem{300'000, 1, 0, 0, UINT64_MAX});
  capture.record("npu_mem.data", NpuMem{400'000, 1, 0, 0, 4 * kGigabyte});
  capture.process();
  CHECK(capture.table("npu_mem") == Lines{"0|APP|0.0|1.0|1.0|1700000000001000.000",
                                          "0|Device|0.0|2097152.0|2097152.0|1700000000200000.000",
                                          "0|Device|0.0|4194304.0|4194304.0|1700000000400000.000"});
  CHECK(capture.findings("npu_mem") ==
        Lines{"PARTIAL npu_mem: ends in the middle of a record x6",
              "PARTIAL npu_mem: impossible event, time or amount x1"});
}

TEST_CASE("memory in use: damage at the start does not shift later samples") {
  CounterCapture capture;
  for (std::uint32_t i = 0; i < 5; ++i)
    capture.record("npu_mem.data", NpuMem{1000 * i, i < 2 ? 0xFFFFU : 1U, 0, 0, 1024});
  capture.process();
  CHECK(capture.table("npu_mem") == Lines{"0|Device|0.0|1.0|1.0|1700000000002000.000",
                                          "0|Device|0.0|1.0|1.0|1700000000003000.000",
                                          "0|Device|0.0|1.0|1.0|1700000000004000.000"});
  CHECK(capture.findings("npu_mem") ==
        Lines{"PARTIAL npu_mem: impossible event, time or amount x2"});
}

TEST_CASE("memory by module: modules have names, unknown sizes and the order of the chip") {
  const auto fill = [](CounterCapture& capture) {
    const ProfSetup& setup = capture.setup();
    for (const std::uint64_t device : {0U, 1U}) {
      const int number = static_cast<int>(device);
      capture.record("npu_module_mem.data", ModuleMem{200, 0, setup.host_at(1'000'000), UINT64_MAX},
                     number);
      capture.record("npu_module_mem.data",
                     ModuleMem{3, 0, setup.host_at(2'000'000 + device * 10), 1536}, number);
      capture.record("npu_module_mem.data", ModuleMem{3, 0, setup.host_at(1'000'000), 0}, number);
    }
    capture.process();
  };
  ProfSetup setup;
  setup.devices = {0, 1};
  CounterCapture native(setup);
  fill(native);
  CHECK(native.header("npu_module_mem") ==
        "Device_id,Component,Timestamp(us),Total Reserved(KB),Device");
  const std::string early = "|1700000000001000.000|";
  CHECK(native.table("npu_module_mem") ==
        Lines{"0|HCCL" + early + "0|NPU:0", "1|HCCL" + early + "0|NPU:1",
              "0|HCCL|1700000000002000.000|1.5|NPU:0", "1|HCCL|1700000000002000.010|1.5|NPU:1",
              "0|Unknown" + early + "-1|NPU:0", "1|Unknown" + early + "-1|NPU:1"});
  CHECK(native.unified("SELECT moduleId, timestampNs - 1700000000000000000, totalReserved, deviceId"
                       " FROM NPU_MODULE_MEM WHERE deviceId = 0") ==
        Lines{"200|1000000|-1|0", "3|2000000|1536|0", "3|1000000|0|0"});
  CHECK(native.findings("npu_module_mem").empty());
  CHECK(native.store("SELECT DISTINCT text FROM track JOIN name ON name.id = subject_name_id"
                     " WHERE number IS NOT NULL") == Lines{"Module 200", "Module HCCL"});

  setup.platform = "4";
  CounterCapture other(setup);
  fill(other);
  CHECK(other.table("npu_module_mem") ==
        Lines{"0|HCCL" + early + "0|NPU:0", "0|HCCL|1700000000002000.000|1.5|NPU:0",
              "0|other" + early + "-1|NPU:0", "1|HCCL" + early + "0|NPU:1",
              "1|HCCL|1700000000002000.010|1.5|NPU:1", "1|other" + early + "-1|NPU:1"});
}

TEST_CASE("memory by module: damage is counted, and an unexpected chip is reported") {
  CounterCapture capture(memory_of_chip("0"));
  const std::uint64_t now = capture.setup().host_at(1000);
  capture.record("npu_module_mem.data", ModuleMem{0xFFFF, 0, now, 1});
  capture.record("npu_module_mem.data", ModuleMem{7, 0, now, 2048});
  capture.record("npu_module_mem.data", ModuleMem{7, 0, UINT64_MAX, 2048});
  capture.device("npu_module_mem.data", "x");
  capture.process();
  CHECK(capture.samples("npu_module_mem") ==
        Lines{"0|Module RUNTIME|Total Reserved|KB||1000|2048"});
  CHECK(capture.findings("npu_module_mem") ==
        Lines{"PARTIAL npu_module_mem: impossible time x1",
              "PARTIAL npu_module_mem: impossible module x1",
              "PARTIAL npu_module_mem: ends in the middle of a record x1",
              "note npu_module_mem: not expected on this chip x1"});
}

TEST_CASE(
    "DDR: controllers of a sample are summed, and the first interval starts with the device") {
  CounterCapture capture(memory_of_chip("4"));
  // 1 MiB in 1 ms by two controllers, in words of 32 bytes; then 2 MiB written in 2 ms.
  capture.record("ddr.data", Ddr{1000, 16384, 0, 0});
  capture.record("ddr.data", Ddr{1000, 16384, 0, 1});
  capture.record("ddr.data", Ddr{3000, 65536, 1, 0});
  capture.process();
  CHECK(capture.samples("ddr") ==
        Lines{"0|DDR|Read|MB/s|0|1000000|1048576", "0|DDR|Write|MB/s|0|1000000|0",
              "0|DDR|Read|MB/s|1000000|3000000|0", "0|DDR|Write|MB/s|1000000|3000000|2097152"});
  CHECK(capture.header("ddr") == "Device_id,Metric,Read(MB/s),Write(MB/s)");
  CHECK(capture.table("ddr") == Lines{"0|Average|500.0|500.0"});
  CHECK(capture.events("DDR") ==
        Lines{counter_event("DDR/Read", 1'000'000, "Read(MB/s)", "1000.0"),
              counter_event("DDR/Write", 1'000'000, "Write(MB/s)", "0.0"),
              counter_event("DDR/Read", 3'000'000, "Read(MB/s)", "0.0"),
              counter_event("DDR/Write", 3'000'000, "Write(MB/s)", "1000.0")});
  CHECK(
      capture.unified("SELECT deviceId, timestampNs - 1700000000000000000, read, write FROM DDR") ==
      Lines{"0|1000000|1048576000|0", "0|3000000|0|1048576000"});
  CHECK(capture.findings("ddr").empty());
}

TEST_CASE("DDR: records of a master are counted for the master and not in the total") {
  CounterCapture capture(memory_of_chip("7"));
  // This chip counts words of 16 bytes.
  capture.record("ddr.data", Ddr{1000, 4, 0, 0, 3});
  capture.record("ddr.data", Ddr{1000, 5, 0, 1, 3});
  capture.record("ddr.data", Ddr{2000, 1, 0, 0});
  capture.process();
  CHECK(capture.samples("ddr") ==
        Lines{"0|DDR|Read|MB/s|0|1000000|0", "0|DDR|Write|MB/s|0|1000000|0",
              "0|DDR master 3|Read|MB/s|0|1000000|144", "0|DDR|Read|MB/s|1000000|2000000|16",
              "0|DDR|Write|MB/s|1000000|2000000|0"});
  CHECK(capture.events("DDR").size() == 4);
  CHECK(capture.unified("SELECT count(*), sum(read) FROM DDR") == Lines{"2|16000"});
}

TEST_CASE("DDR: clock wraparounds, samples out of order and damage are handled") {
  CounterCapture capture(memory_of_chip("4"));
  capture.record("ddr.data", Ddr{0, 1000, 0, 0});  // no time since the start
  capture.record("ddr.data", Ddr{0xFFFFFFFF, 1000, 0, 0});
  capture.record("ddr.data", Ddr{1999, 2000, 0, 0});
  capture.record("ddr.data", Ddr{999, 3000, 0, 0});
  capture.record("ddr.data", Ddr{1500, 3000, 0, 0xFFFFFF});
  capture.record("ddr.data", Ddr{2999, 4000, 0, 0});
  capture.device("ddr.data", "cut");
  capture.process();
  const Lines samples = capture.samples("ddr");
  REQUIRE(samples.size() == 8);
  CHECK(samples[0] == "0|DDR|Read|MB/s|0|4294967295000|32000");
  CHECK(samples[2] == "0|DDR|Read|MB/s|4294967295000|4294968295000|96000");
  CHECK(samples[4] == "0|DDR|Read|MB/s|4294968295000|4294969295000|64000");
  CHECK(samples[6] == "0|DDR|Read|MB/s|4294969295000|4294970295000|128000");
  CHECK(capture.findings("ddr") == Lines{"PARTIAL ddr: impossible controller or event x1",
                                         "PARTIAL ddr: ends in the middle of a record x3",
                                         "PARTIAL ddr: same time as the previous sample x1"});
}

TEST_CASE("DDR: on an unexpected chip it is read and reported") {
  CounterCapture capture(memory_of_chip("5"));
  capture.record("ddr.data", Ddr{1000, 1, 0, 0});
  capture.process();
  CHECK(capture.samples("ddr").front() == "0|DDR|Read|MB/s|0|1000000|16");
  CHECK(capture.findings("ddr") == Lines{"note ddr: not expected on this chip x1"});
}

TEST_CASE("memory and DDR: empty files give no table and no finding") {
  CounterCapture capture(memory_of_chip("0"));
  const Lines stems{"npu_mem.app", "npu_mem.data", "npu_module_mem.data", "ddr.data"};
  for (const std::string& stem : stems) add_empty_memory_file(capture, stem + ".0.slice_0");
  capture.process();
  for (const std::string& kind : Lines{"npu_mem", "npu_module_mem", "ddr"}) {
    CAPTURE(kind);
    CHECK(capture.table(kind).empty());
    CHECK(capture.findings(kind).empty());
  }
  CHECK(capture.events("NPU MEM").empty());
  CHECK(capture.events("DDR").empty());
}
