// host_cpu, host_mem, host_disk, host_network: resources used by the process on its host.
#include <catch2/catch.hpp>

#include "counters/counter_capture.hpp"

using namespace msprof::test;
using prof::ProfSetup;

namespace {

constexpr std::int64_t kSampleMs = 1'000'000;

// Host monotonic time, `ms` after the start of the collection.
std::string mono(std::int64_t ms) {
  return std::to_string(5'000'000'000 + ms * kSampleMs);
}

// Four CPUs with times in hundredths of a second, and three network cards,
// one with unknown speed.
ProfSetup host_setup() {
  ProfSetup setup;
  setup.info = {{"cpuNums", "4"},
                {"memoryTotal", "1000000"},
                {"netCard",
                 "[{\"netCardName\": \"eth0\", \"speed\": 8},"
                 " {\"netCardName\": \"eth1\", \"speed\": 80},"
                 " {\"netCardName\": \"eth2\", \"speed\": -1}]"}};
  setup.sample = {{"host_disk_freq", "50"}};
  return setup;
}

std::string stat(int thread, int user, int kernel, int cpu) {
  return std::to_string(thread) + " (my (odd) app) S 1 2 3 0 -1 4194304 1 2 3 4 " +
         std::to_string(user) + " " + std::to_string(kernel) +
         " 0 0 20 0 8 0 999 1 2 3 0 0 0 0 0 0 0 0 0 0 0 0 0 " + std::to_string(cpu) + " 0 0\n";
}
std::string cpu_block(std::int64_t ms, const std::string& uptime) {
  return "time " + mono(ms) + "\n" + uptime + " 999.00\n";
}
std::string net(const std::string& card, std::uint64_t received, std::uint64_t sent) {
  return "  " + card + ": " + std::to_string(received) + " 1 0 0 0 0 0 0 " + std::to_string(sent) +
         " 1 0 0 0 0 0 0\n";
}

}  // namespace

TEST_CASE("host_cpu: CPU use of a thread does not exceed the elapsed time") {
  CounterCapture capture(host_setup());
  // Starts before the collection, so it is in no product.
  capture.host("host_cpu.data", cpu_block(-100, "9.90") + stat(1, 0, 0, 0));
  capture.host("host_cpu.data", cpu_block(0, "10.00") + stat(1, 10, 0, 1) + stat(2, 0, 0, 0) +
                                    stat(3, 0, 0, 2) + stat(4, 7, 7, 3));
  // 10 ticks later: CPU 0 has 4 + 5, CPU 2 has 20, of which at most 10 count, CPU 3 has 0.
  capture.host("host_cpu.data", cpu_block(100, "10.10") + stat(1, 13, 1, 0) + stat(2, 0, 5, 0));
  capture.prof().next_slice("host_cpu.data");
  capture.host("host_cpu.data", stat(3, 20, 0, 2) + stat(4, 7, 7, 3) + stat(5, 99, 0, 3));
  capture.process();
  CHECK(capture.samples("host_cpu") ==
        Lines{"host|CPUs|Total|||-100000000|4", "host|CPU 1|Usage|%|-100000000|0|100000000",
              "host|CPU Avg|Usage|%|-100000000|0|25000000",
              "host|CPU 0|Usage|%|0|100000000|90000000", "host|CPU 2|Usage|%|0|100000000|100000000",
              "host|CPU 3|Usage|%|0|100000000|0", "host|CPU Avg|Usage|%|0|100000000|47500000"});
  CHECK(capture.header("host_cpu_usage") ==
        "Device_id,Total Cpu Numbers,Occupied Cpu Numbers,Recommend Cpu Numbers");
  CHECK(capture.table("host_cpu_usage") == Lines{"host|4|3|2"});
  CHECK(capture.events("CPU Usage") == Lines{counter_event("CPU 0", 0, "Usage(%)", "90.0"),
                                             counter_event("CPU 2", 0, "Usage(%)", "100.0"),
                                             counter_event("CPU 3", 0, "Usage(%)", "0.0"),
                                             counter_event("CPU Avg", 0, "Usage(%)", "47.5")});
  CHECK(capture.unified("SELECT timestampNs - 1700000000000000000, cpuId, usage FROM CPU_USAGE") ==
        Lines{"0|0|90", "0|2|100", "0|3|0"});
  CHECK(capture.findings("host_cpu").empty());
}

TEST_CASE("host_cpu: thirds of a tick are rounded once, to six decimals") {
  CounterCapture capture(host_setup());
  capture.host("host_cpu.data", cpu_block(0, "10.00") + stat(1, 0, 0, 0));
  capture.host("host_cpu.data", cpu_block(30, "10.03") + stat(1, 2, 0, 0));
  capture.process();
  CHECK(capture.events("CPU Usage") == Lines{counter_event("CPU 0", 0, "Usage(%)", "66.666667"),
                                             counter_event("CPU Avg", 0, "Usage(%)", "16.666667")});
}

TEST_CASE("host_cpu: damaged blocks and lines are counted, the rest is kept") {
  CounterCapture capture(host_setup());
  capture.host("host_cpu.data", "not a block\n");
  capture.host("host_cpu.data", cpu_block(0, "10.00") + stat(1, 0, 0, 0) + stat(2, 5, 0, 1));
  capture.host("host_cpu.data", cpu_block(0, "10.05") + stat(1, 9, 0, 0));       // no time passed
  capture.host("host_cpu.data", "time x\n10.06 1\n" + stat(1, 9, 0, 0));         // no timestamp
  capture.host("host_cpu.data", cpu_block(60, "99999999999999999999") + "3\n");  // no uptime
  capture.host("host_cpu.data", cpu_block(100, "10.10") + stat(1, 1, 0, 0) + "2 (x) S 1\n" +
                                    stat(2, 4, 0, 1) + stat(7, 1, 1, 99'999));
  // Not reported: no tick passed. Two threads together used one CPU completely.
  capture.host("host_cpu.data", cpu_block(101, "10.10") + stat(1, 1, 0, 0));
  capture.host("host_cpu.data", cpu_block(200, "10.20") + stat(1, 90, 0, 0) + stat(2, 9, 0, 0));
  capture.host("host_cpu.data", cpu_block(300, "10.30") + stat(1, 180, 0, 0) + stat(2, 99, 0, 0));
  capture.host("host_cpu.data", "time 9000000000000000000\n10.40 1\n" + stat(1, 999, 0, 0));
  capture.host("host_cpu.data", cpu_block(400, "10.40") + stat(1, 185, 0, 0));
  capture.host("host_cpu.data", "time 99");
  capture.process();
  CHECK(capture.samples("host_cpu") == Lines{"host|CPUs|Total|||0|4",
                                             "host|CPU 0|Usage|%|60000000|100000000|10000000",
                                             "host|CPU Avg|Usage|%|60000000|100000000|2500000",
                                             "host|CPU 0|Usage|%|101000000|200000000|100000000",
                                             "host|CPU Avg|Usage|%|101000000|200000000|25000000",
                                             "host|CPU Avg|Usage|%|200000000|300000000|50000000",
                                             "host|CPU 0|Usage|%|300000000|400000000|50000000",
                                             "host|CPU Avg|Usage|%|300000000|400000000|12500000"});
  CHECK(capture.findings("host_cpu") ==
        Lines{"PARTIAL host_cpu: not in the expected format x5",
              "PARTIAL host_cpu: same time as the previous sample x1",
              "PARTIAL host_cpu: counter decreased x1", "PARTIAL host_cpu: impossible time x1",
              "PARTIAL host_cpu: incomplete line at the end x1",
              "note host_cpu: no tick between two samples x1",
              "note host_cpu: more than 100 % of a CPU x1"});
}

TEST_CASE("host_cpu: one block gives the number of CPUs, and without the tick length no usage") {
  for (const bool has_ticks : {true, false}) {
    ProfSetup setup = host_setup();
    if (!has_ticks) setup.info["sysClockFreq"] = "0";
    CounterCapture capture(setup);
    capture.host("host_cpu.data", cpu_block(0, "10.00") + stat(1, 0, 0, 0));
    capture.process();
    CHECK(capture.table("host_cpu_usage") == (has_ticks ? Lines{"host|4|0|0"} : Lines{}));
    CHECK(capture.findings("host_cpu") ==
          (has_ticks ? Lines{} : Lines{"PARTIAL host_cpu: no sysClockFreq x1"}));
  }
}

TEST_CASE("host_mem: memory has the time at which it was read") {
  CounterCapture capture(host_setup());
  const auto line = [](std::int64_t ms, int pages) {
    return mono(ms) + " 9 " + std::to_string(pages) + " 1 0 0 0 0\n";
  };
  capture.host("host_mem.data", line(-1, 240'000) + line(1, 2500) + line(2, 12'500).substr(0, 9));
  capture.prof().next_slice("host_mem.data");
  capture.host("host_mem.data", line(2, 12'500).substr(9) + line(3, 5000));
  capture.process();
  CHECK(capture.samples("host_mem") ==
        Lines{"host|Memory|Total|KB||-1000000|1024000000",
              "host|Memory|Used|KB||-1000000|983040000", "host|Memory|Used|KB||1000000|10240000",
              "host|Memory|Used|KB||2000000|51200000", "host|Memory|Used|KB||3000000|20480000"});
  CHECK(capture.header("host_mem_usage") ==
        "Device_id,Total Memory(KB),Peak Used Memory(KB),Recommend Memory(KB)");
  // 5 % is both the maximum and the 98th percentile.
  CHECK(capture.table("host_mem_usage") == Lines{"host|1000000|50000.0|62500.0"});
  CHECK(capture.events("Memory Usage") ==
        Lines{counter_event("Memory Usage", 1'000'000, "Usage(%)", "1.0"),
              counter_event("Memory Usage", 2'000'000, "Usage(%)", "5.0"),
              counter_event("Memory Usage", 3'000'000, "Usage(%)", "2.0")});
  CHECK(capture.unified("SELECT timestampNs - 1700000000000000000, usage FROM HOST_MEM_USAGE") ==
        Lines{"1000000|1", "2000000|5", "3000000|2"});
  CHECK(capture.findings("host_mem").empty());
}

TEST_CASE("host_mem: damaged lines are counted, and samples are kept without a total") {
  ProfSetup setup = host_setup();
  setup.info["memoryTotal"] = "0";
  CounterCapture capture(setup);
  capture.host("host_mem.data", mono(1) + " 9 18446744073709551615 1\n" + mono(2) + " 9\n\n" +
                                    mono(3) + " 9 99999999999999999999 1\n" +
                                    std::string("\0 1 2\n", 6) + mono(4) + " 9 1 1\n9");
  capture.process();
  CHECK(capture.samples("host_mem") == Lines{"host|Memory|Used|KB||1000000|9223372036854775807",
                                             "host|Memory|Used|KB||4000000|4096"});
  CHECK(capture.table("host_mem_usage").empty());
  CHECK(capture.events("Memory Usage").empty());
  CHECK(capture.findings("host_mem") == Lines{"PARTIAL host_mem: not in the expected format x3",
                                              "PARTIAL host_mem: incomplete line at the end x1",
                                              "PARTIAL host_mem: no memoryTotal x1"});
}

TEST_CASE("host_disk: each line is an interval, across all slices") {
  CounterCapture capture(host_setup());
  capture.host(
      "host_disk.data",
      "start_time " + mono(10) +
          "\n16:05:00 1 be/4 root 396.54 K/s 512.00 B/s 1.87 % 53.37 % python3 a.py\n"
          "    TIME  TID  PRIO  USER     DISK READ  DISK WRITE  SWAPIN      IO    COMMAND\n"
          "16:05:01 1 be/4 root 2.00 M/s 3.00 K/s ?unavailable? python3\n");
  capture.prof().next_slice("host_disk.data");
  capture.host("host_disk.data", "16:05:02 1 be/4 root 0.00 B/s 0.50 G/s 1.10 % 53.52 % python3\n");
  capture.process();
  CHECK(capture.samples("host_disk") ==
        Lines{"host|Disk|Read|KB/s|10000000|30000000|406056960000",
              "host|Disk|Write|KB/s|10000000|30000000|512000000",
              "host|Disk|Usage|%|10000000|30000000|53370000",
              "host|Disk|Read|KB/s|30000000|50000000|2097152000000",
              "host|Disk|Write|KB/s|30000000|50000000|3072000000",
              "host|Disk|Usage|%|30000000|50000000|0", "host|Disk|Read|KB/s|50000000|70000000|0",
              "host|Disk|Write|KB/s|50000000|70000000|536870912000000",
              "host|Disk|Usage|%|50000000|70000000|53520000"});
  CHECK(capture.header("host_disk_usage") ==
        "Device_id,Peak Disk Read(KB/s),Recommend Disk Read(KB/s),Peak Disk Write(KB/s),"
        "Recommend Disk Write(KB/s)");
  CHECK(capture.table("host_disk_usage") == Lines{"host|2048.0|2560.0|524288.0|655360.0"});
  CHECK(capture.events("Disk Usage") ==
        Lines{counter_event("Disk Usage", 10'000'000, "Usage(%)", "53.37"),
              counter_event("Disk Usage", 30'000'000, "Usage(%)", "0.0"),
              counter_event("Disk Usage", 50'000'000, "Usage(%)", "53.52")});
  CHECK(capture.unified("SELECT timestampNs - 1700000000000000000, readRate, writeRate, usage FROM"
                        " HOST_DISK_USAGE") == Lines{"10000000|406056.96|512|53.37",
                                                     "30000000|2097152|3072|0",
                                                     "50000000|0|536870912|53.52"});
  CHECK(capture.findings("host_disk").empty());
}

TEST_CASE("host_disk: a damaged line leaves its interval empty") {
  CounterCapture capture(host_setup());
  capture.host("host_disk.data",
               "16:05:00 1 be/4 root 1.00 K/s 1.00 K/s 1.00 % 1.00 % a\n"  // before the start
               "start_time " +
                   mono(0) +
                   "\n"
                   "16:05:00 1 be/4 root 1.00 X/s 1.00 K/s 1.00 % 1.00 % a\n"
                   "16:05:00 1 be/4 root 9999999999999.00 G/s 1.00 K/s 1.00 % 1.00 % a\n"
                   "16:05:00 1 be/4 root 1.00\n"
                   "16:05:00 1 be/4 root 1.00 K/s 2.00 K/s 1.00 % 3.00 % a\n"
                   "start_time " +
                   mono(10) +
                   "\n"
                   "start_time " +
                   mono(100) +
                   "\n"
                   "16:05:00 1 be/4 root 1.00 K/s 2.00 K/s 1.00 % 4.00 % a\n"
                   "16:05");
  capture.process();
  CHECK(capture.events("Disk Usage") ==
        Lines{counter_event("Disk Usage", 60'000'000, "Usage(%)", "3.0"),
              counter_event("Disk Usage", 100'000'000, "Usage(%)", "4.0")});
  CHECK(capture.findings("host_disk") ==
        Lines{"PARTIAL host_disk: no start_time precedes it x1",
              "PARTIAL host_disk: not in the expected format x3",
              "PARTIAL host_disk: older than the previous samples x1",
              "PARTIAL host_disk: incomplete line at the end x1"});
}

TEST_CASE("host_network: each card is relative to its speed, with rates per second") {
  CounterCapture capture(host_setup());
  const std::string head = "Inter-|   Receive\n face |bytes\n";
  capture.host("host_network.data", "time " + mono(0) + "\n" + head + net("lo", 5, 5) +
                                        net("eth0", 1000, 0) + net("eth1", 0, 0));
  // 8 Mbit/s are 1000 bytes per ms. In 10 ms: 5000 of 10,000, and 10,000 of 100,000.
  capture.host("host_network.data", "time " + mono(10) + "\n" + net("lo", 6, 6) +
                                        net("eth0", 4000, 2000) + net("eth1", 10'000, 0));
  capture.prof().next_slice("host_network.data");
  // 20 ms later: the first card's counter has decreased.
  capture.host("host_network.data", "time " + mono(30) + "\n" + net("lo", 7, 7) +
                                        net("eth0", 1, 5000) + net("eth1", 10'000, 50'000));
  capture.process();
  CHECK(capture.samples("host_network") ==
        Lines{"host|eth0|Speed|KB/s||0|1000000", "host|eth1|Speed|KB/s||0|10000000",
              "host|lo|Rx|KB/s|0|10000000|1", "host|lo|Tx|KB/s|0|10000000|1",
              "host|eth0|Rx|KB/s|0|10000000|3000", "host|eth0|Tx|KB/s|0|10000000|2000",
              "host|eth1|Rx|KB/s|0|10000000|10000", "host|eth1|Tx|KB/s|0|10000000|0",
              "host|lo|Rx|KB/s|10000000|30000000|1", "host|lo|Tx|KB/s|10000000|30000000|1",
              "host|eth1|Rx|KB/s|10000000|30000000|0",
              "host|eth1|Tx|KB/s|10000000|30000000|50000"});
  CHECK(capture.header("host_network_usage") ==
        "Device_id,Netcard Speed(KB/s),Peak Used Speed(KB/s),Recommend Speed(KB/s)");
  // 2.5 MB/s; the 98th percentile of two values is the larger one.
  CHECK(capture.table("host_network_usage") == Lines{"host|10742.1875|2441.40625|3051.7578125"});
  CHECK(capture.events("Network Usage") ==
        Lines{counter_event("Network Usage", 0, "Usage(%)", "30.0"),
              counter_event("Network Usage", 10'000'000, "Usage(%)", "25.0")});
  CHECK(capture.unified("SELECT timestampNs - 1700000000000000000, usage, speed FROM"
                        " HOST_NETWORK_USAGE") == Lines{"0|30|1500000", "10000000|25|2500000"});
  CHECK(capture.findings("host_network") == Lines{"PARTIAL host_network: counter decreased x1"});
}

TEST_CASE("host_network: damaged lines are counted, and a card of unknown speed is not exported") {
  ProfSetup setup = host_setup();
  setup.info["netCard"] = "[]";
  CounterCapture capture(setup);
  capture.host("host_network.data", net("eth0", 1, 1) + "time " + mono(0) + "\n" +
                                        net("eth0", 1, 1) + "eth1: 1 2 3\nno card\n" + "time " +
                                        mono(-5) + "\n" + net("eth0", 9, 9) + "time " + mono(10) +
                                        "\n" + net("eth0", 11, 1) + "time 999");
  capture.process();
  CHECK(capture.samples("host_network") ==
        Lines{"host|eth0|Rx|KB/s|0|10000000|10", "host|eth0|Tx|KB/s|0|10000000|0"});
  CHECK(capture.table("host_network_usage").empty());
  CHECK(capture.events("Network Usage").empty());
  CHECK(capture.findings("host_network") ==
        Lines{"PARTIAL host_network: not in the expected format x3",
              "PARTIAL host_network: same time as the previous sample x1",
              "PARTIAL host_network: incomplete line at the end x1",
              "note host_network: network card of unknown speed x1"});
}

TEST_CASE("host usage: empty files give no data and no finding") {
  CounterCapture capture(host_setup());
  for (const char* stem : {"host_cpu", "host_mem", "host_disk", "host_network"})
    capture.host(std::string(stem) + ".data", "");
  capture.process();
  for (const char* kind : {"host_cpu", "host_mem", "host_disk", "host_network"}) {
    CAPTURE(kind);
    CHECK(capture.samples(kind).empty());
    CHECK(capture.findings(kind).empty());
    CHECK(capture.table(std::string(kind) + "_usage").empty());
  }
}
