// Dumps of /proc: CPU times and memory of devices, of the host, and of processes.
#include <catch2/catch.hpp>

#include "counters/counter_capture.hpp"

using namespace msprof::test;
using prof::ProfSetup;

namespace {

// A block of a dump of a device or the host, `ns` after the start.
std::string block(std::uint64_t ns, const std::string& lines, bool is_host = false) {
  return "TimeStamp:" + std::to_string((is_host ? 5'000'000'000 : 4'000'000'000) + ns) +
         "\nIndex:0\nDataLen:" + std::to_string(lines.size()) + "\n" + lines + "\n";
}

std::string stat_line(const std::string& name, int user, int sys) {
  return "17 (" + name + ") S 0 1 1 0 -1 4194560 415 573186 30 289 " + std::to_string(user) + " " +
         std::to_string(sys) + " 3 4 20 0 1 0 4 4694016 520 18446744073709551615 0 0\n";
}

std::string meminfo(int free) {
  return "MemTotal:       1000 kB\nMemFree:  " + std::to_string(free) +
         " kB\nBuffers: 3 kB\nCached: 4 kB\nSwapCached: 0 kB\nShmem: 5 kB\nCommitLimit: 6 kB\n"
         "Committed_AS: 7 kB\nHugePages_Total:     8\nHugePages_Free:      9\n";
}

}  // namespace

TEST_CASE("CPU usage is for the whole run, grouped by the role of the cores") {
  CounterCapture capture;
  // Core 0 is the control CPU, 2 to 7 are AI CPUs; the kind of core 1 is not recorded.
  capture.device("SystemCpuUsage.data",
                 block(0,
                       "cpu  900 0 0 0 0 0 0 0 0 0\ncpu0 500 0 0 100 0 0 0 0 0 0\n"
                       "cpu1 7 0 0 0 0 0 0 0 0 0\ncpu2 1 1 1 1 1 1 1 1 1 1\n"));
  const std::string second = block(1'000'000'000,
                                   "cpu0 525 0 50 125 0 0 0 0 0 0\ncpu1 9 0 0 0 0 0 0 0 0 0\n"
                                   "cpu2 11 21 21 31 1 1 6 6 6 6\ncpu3 1 0 0 0 0 0 0 0 0 0\n");
  capture.device("SystemCpuUsage.data", second.substr(0, 60));
  capture.prof().next_slice("SystemCpuUsage.data", 0);
  capture.device("SystemCpuUsage.data", second.substr(60) + "softirq 1 2 3\nctxt 77\n");
  // The first line of a block has the total of all host CPUs.
  capture.host(
      "host_sys_cpu.data",
      block(0, "cpu  10 0 0 10 0 0 0 0 0 0\ncpu0 10 0 0 10 0 0 0 0 0 0\n", true) +
          block(2'000'000'000, "cpu  30 0 0 40 0 0 0 0 0 0\ncpu0 30 0 0 40 0 0 0 0 0 0\n", true));
  capture.process();
  const Lines samples = capture.samples("cpu_usage");
  REQUIRE(samples.size() == 50);
  CHECK(samples[0] == "0|CPU 0|User|%|0|1000000000|25");
  CHECK(samples[12] == "0|CPU 1|Sys|%|0|1000000000|0");
  CHECK(samples[30] == "host|CPU|User|%|0|2000000000|20");
  CHECK(capture.header("cpu_usage") ==
        "Device_id,Cpu Type,User(%),Sys(%),IoWait(%),Irq(%),Soft(%),Idle(%)");
  CHECK(capture.table("cpu_usage") == Lines{"0|aicpu|10.0|20.0|0.0|0.0|5.0|30.0",
                                            "0|ctrlcpu|25.0|50.0|0.0|0.0|0.0|25.0",
                                            "host|host|40.0|0.0|0.0|0.0|0.0|60.0"});
  CHECK(capture.findings("cpu_usage").empty());
}

TEST_CASE("CPU usage omits what started before the collection") {
  CounterCapture capture;
  const std::uint64_t early = 0 - std::uint64_t{1'000'000'000};
  capture.device("SystemCpuUsage.data", block(early, "cpu0 0 0 0 0 0 0 0 0 0 0\n") +
                                            block(1'000'000'000, "cpu0 99 0 0 0 0 0 0 0 0 0\n") +
                                            block(2'000'000'000, "cpu0 100 0 0 3 0 0 0 0 0 0\n"));
  capture.process();
  CHECK(capture.samples("cpu_usage").size() == 20);
  CHECK(capture.table("cpu_usage") == Lines{"0|ctrlcpu|25.0|0.0|0.0|0.0|0.0|75.0"});
}

TEST_CASE("CPU usage: damaged blocks are counted, the rest is kept") {
  CounterCapture capture;
  capture.device("SystemCpuUsage.data",
                 "cpu0 1 1 1 1 1 1 1 1 1 1\n" +  // not preceded by a time stamp
                     block(1'000'000'000,
                           "cpu0 5 5 5 5 5 5 5 5 5 5\ncpu1 5 5 5 5 5\n"
                           "cpu99999 1 1 1 1 1 1 1 1 1 1\nsomething\n") +
                     block(2'000'000'000,
                           "cpu0 4 6 6 6 6 6 6 6 6 6\n"
                           "cpu0 9 9 9 9 9 9 9 9 9 99999999999999999999\n") +
                     block(2'000'000'000, "cpu0 7 7 7 7 7 7 7 7 7 7\n") +
                     "TimeStamp:12x\ncpu0 8 8 8 8 8 8 8 8 8 8\n");
  capture.device("SystemCpuUsage.data", "cpu0 1 2");
  capture.process();
  CHECK(capture.samples("cpu_usage").size() == 9);
  CHECK(capture.findings("cpu_usage") ==
        Lines{"PARTIAL cpu_usage: not preceded by a time stamp x2",
              "PARTIAL cpu_usage: not in the expected format x5",
              "PARTIAL cpu_usage: incomplete line at the end x1",
              "PARTIAL cpu_usage: counter decreased x1",
              "PARTIAL cpu_usage: same time as the previous sample x1"});
}

TEST_CASE("CPU usage of a process: its share of all CPUs is computed for any process name") {
  CounterCapture capture;
  const std::string all = "cpu  50 20 30 0 0 0 0 0 0 0\n";
  capture.device("17-CpuUsage.data",
                 block(0, stat_line("a (b) c", 10, 3) + "ProcessName:a (b) c: d\n" + all));
  capture.prof().next_slice("17-CpuUsage.data", 0);
  capture.device("17-CpuUsage.data", block(500'000'000, stat_line("a (b) c", 20, 13) +
                                                            "ProcessName:a (b) c: d\n" + all));
  capture.device("5-CpuUsage.data",
                 block(0, "5 (short) S 0 1 1 0 -1 0 0 0 0 0 50 0 0 0 20\n" + all));
  capture.host("17-CpuUsage.data", block(0, stat_line("x", 1, 2) + all, true));
  capture.process();
  CHECK(capture.samples("process_cpu_usage").size() == 21);
  // The process itself used 20 ticks in half a second.
  CHECK(capture.store("SELECT subject.text, value, time_ns - begin_ns FROM counter JOIN track ON"
                      " track.id = track_id JOIN name ON name.id = name_id JOIN name AS subject ON"
                      " subject.id = subject_name_id WHERE name.text = 'Usage'") ==
        Lines{"a (b) c: d (17)|20|500000000"});
  CHECK(capture.header("process_cpu_usage") == "Device_id,PID,Name,CPU(%)");
  CHECK(capture.table("process_cpu_usage") ==
        Lines{"0|5|short|50.0", "0|17|a (b) c: d|30.0", "host|17|x|10.0"});
  CHECK(capture.findings("process_cpu_usage").empty());
}

TEST_CASE("CPU usage of a process: damaged blocks are counted, the rest is kept") {
  CounterCapture capture;
  const std::string all = "cpu  50 50\n";
  capture.device("17-CpuUsage.data",
                 block(0, stat_line("x", 1, 2) + "ProcessName:x\n") +  // end missing
                     block(1, stat_line("x", 5, 6) + all) +
                     block(2, "17 x S 0 1\n" + all) +                       // no name in brackets
                     block(3, "18 (x) S 0 1 1 0 -1 0 0 0 0 0 1 1 0 0\n") +  // another process
                     block(4, stat_line("x", 5, 5) + all) +                 // decreased
                     block(4, stat_line("x", 5, 5) + "cpu 18446744073709551615 1\n") +
                     block(4, stat_line("x", 6, 6) + all));
  capture.device("17-CpuUsage.data", "TimeStamp:4000000009\n17 (x) S");
  capture.process();
  CHECK(capture.findings("process_cpu_usage") ==
        Lines{"PARTIAL process_cpu_usage: block without an end x1",
              "PARTIAL process_cpu_usage: not in the expected format x3",
              "PARTIAL process_cpu_usage: incomplete line at the end x1",
              "PARTIAL process_cpu_usage: counter decreased x1",
              "PARTIAL process_cpu_usage: same time as the previous sample x1"});
  CHECK(capture.table("process_cpu_usage").size() == 1);
}

TEST_CASE("memory of devices and host: values are means of /proc/meminfo") {
  CounterCapture capture;
  const std::string second = block(2'000'000, meminfo(201));
  capture.device("Memory.data", block(1'000'000, meminfo(100)) + second.substr(0, 80));
  capture.prof().next_slice("Memory.data", 0);
  capture.device("Memory.data", second.substr(80));
  capture.host("host_sys_mem.data", block(0, "MemTotal: 2000 kB\n", true));
  capture.process();
  const Lines samples = capture.samples("sys_mem");
  REQUIRE(samples.size() == 19);
  CHECK(samples[1] == "0|Memory|Memory Free|kB||1000000|100");
  CHECK(samples[7] == "0|Memory|Huge Pages Total|pages||1000000|8");
  CHECK(capture.header("sys_mem") ==
        "Device_id,Memory Total(kB),Memory Free(kB),Buffers(kB),Cached(kB),Share Memory(kB),"
        "Commit Limit(kB),Committed AS(kB),Huge Pages Total(pages),Huge Pages Free(pages)");
  CHECK(capture.table("sys_mem") ==
        Lines{"0|1000|150|3|4|5|6|7|8|9", "host|2000|N/A|N/A|N/A|N/A|N/A|N/A|N/A|N/A"});
  CHECK(capture.findings("sys_mem").empty());
}

TEST_CASE("memory: damaged blocks are counted, the rest is kept") {
  CounterCapture capture;
  capture.device("Memory.data",
                 "MemFree: 5 kB\n\n" +  // not preceded by a time stamp
                     block(1, "MemFree: 5 kB\nMemTotal: 18446744073709551616 kB\nBuffers: 1 MB\n") +
                     block(2, "nothing\n"));
  capture.device("Memory.data", "TimeStamp:4000000003\nMemFree: 6 kB\nTimeStamp:4000000004\n");
  capture.device("Memory.data", "MemFree: 7 kB\nMem");
  capture.process();
  CHECK(capture.samples("sys_mem") == Lines{"0|Memory|Memory Free|kB||1|5"});
  CHECK(capture.findings("sys_mem") == Lines{"PARTIAL sys_mem: not preceded by a time stamp x1",
                                             "PARTIAL sys_mem: not in the expected format x4",
                                             "PARTIAL sys_mem: block without an end x2",
                                             "PARTIAL sys_mem: incomplete line at the end x1"});
}

TEST_CASE("memory of processes: values are means of pages, largest first") {
  CounterCapture capture;
  capture.device("17-Memory.data", block(0, "ProcessName:small one\n10 5 1 0 0 0 0\n") +
                                       block(1, "ProcessName:small one\n13 5 1 0 0 0 0\n"));
  capture.device("233-Memory.data", block(0, "ProcessName:large\n1000 5 1 0 0 0 0\n"));
  capture.host("17-Memory.data", block(0, "1 2 3 4 5 6 7\n", true));
  capture.process();
  CHECK(capture.header("process_mem") ==
        "Device_id,PID,Name,Size(pages),Resident(pages),Shared(pages)");
  CHECK(capture.table("process_mem") ==
        Lines{"0|233|large|1000|5|1", "0|17|small one|11|5|1", "host|17||1|2|3"});
  CHECK(capture.samples("process_mem").front() == "0|small one (17)|Size|pages||0|10");
  CHECK(capture.findings("process_mem").empty());
}

TEST_CASE("memory of processes: damaged blocks are counted, the rest is kept") {
  CounterCapture capture;
  capture.device("17-Memory.data", "1 2 3 4 5 6 7\n\n" +  // not preceded by a time stamp
                                       block(0, "1 2 3 4 5 6\n") + block(1, "1 2 3 4 5 6 -7\n") +
                                       block(2, "1 2 3 4 5 6 7\n") + "TimeStamp:4000000003\n");
  capture.device("17-Memory.data", "1 2 3 4 5 6 7\nTimeStamp:4000000004\n1 2 3 4 5 6 7\n");
  capture.process();
  CHECK(capture.samples("process_mem").size() == 3);
  CHECK(capture.findings("process_mem") ==
        Lines{"PARTIAL process_mem: not preceded by a time stamp x1",
              "PARTIAL process_mem: not in the expected format x2",
              "PARTIAL process_mem: block without an end x2"});
}

TEST_CASE("dumps of /proc that are empty or have a single sample give no data") {
  CounterCapture capture;
  for (const char* stem :
       {"SystemCpuUsage.data", "17-CpuUsage.data", "Memory.data", "17-Memory.data"})
    capture.device(stem, "");
  capture.device("SystemCpuUsage.data", block(1, "cpu0 1 1 1 1 1 1 1 1 1 1\n"));
  capture.process();
  for (const char* table : {"cpu_usage", "process_cpu_usage", "sys_mem", "process_mem"}) {
    CHECK(capture.table(table).empty());
    CHECK(capture.findings(table).empty());
  }
}
