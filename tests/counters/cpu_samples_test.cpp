// ai_ctrl_cpu and tscpu: samples of the functions that run on a device's CPUs.
#include <catch2/catch.hpp>

#include "counters/counter_capture.hpp"

using namespace msprof::test;
using prof::ProfSetup;

namespace {

struct __attribute__((packed)) TsCpu {
  std::uint32_t magic = 0xABABABAB, none = 0;
  std::uint64_t trace[20]{};
  std::uint32_t unused[2]{};
  std::uint64_t address = 0, ns = 4'001'000'000;
  std::uint64_t counts[14]{};
};
static_assert(sizeof(TsCpu) == 304);

// The device clock is at 4 s when the collection starts; core 0 is a control CPU, 2 to 7 are AI
// CPUs.
std::string sample(int core, const std::string& count_and_event, const std::string& frame) {
  return "my sched 1402/1404 [00" + std::to_string(core) + "] 4.001000: " + count_and_event +
         ":\n\tffff8 " + frame + "\n\t40000 main+0x20 (/bin/a)\n\n";
}

// A 910A, for which the vendor's tool reads both kinds.
ProfSetup cpu_setup() {
  ProfSetup setup = prof::setup_910a();
  setup.sample = {{"ts_cpu_profiling_events", "\"0x11,0x8\""}};
  return setup;
}

}  // namespace

TEST_CASE("control and AI CPUs: events are counted by event and by function, in all slices") {
  CounterCapture capture(cpu_setup());
  capture.device("ai_ctrl_cpu.data", sample(0, "30 r11", "memcpy+0x1f (/lib64/libc.so.6)"));
  capture.device("ai_ctrl_cpu.data", sample(0, "500 raw 0x10", "[unknown] ([unknown])"));
  capture.device("ai_ctrl_cpu.data", sample(0, "9 r99", "memcpy+0x2 (/lib64/libc.so.6)"));
  capture.device("ai_ctrl_cpu.data", sample(0, "60 r11", "[unknown] ([unknown])").substr(0, 50));
  capture.prof().next_slice("ai_ctrl_cpu.data", 0);
  capture.device("ai_ctrl_cpu.data", sample(0, "60 r11", "[unknown] ([unknown])").substr(50));
  capture.device("ai_ctrl_cpu.data", sample(7, "5 r8", "f(int, (x)) const+0x1 (/bin/a (deleted))"));
  capture.device("ai_ctrl_cpu.data", sample(7, "7 r11:k", "memcpy+0x1f (/lib64/libc.so.6)"));
  capture.device("ai_ctrl_cpu.data", sample(1, "7 r11", "memcpy+0x1f (/lib64/libc.so.6)"));
  capture.process();
  CHECK(capture.samples("ctrl_cpu") ==
        Lines{"0|memcpy|0x11|||1000000|30", "0|unknown|0x10|||1000000|500",
              "0|memcpy|0x99|||1000000|9", "0|unknown|0x11|||1000000|60"});
  CHECK(capture.header("ctrl_cpu_pmu_events") == "Device_id,Event,Name,Count");
  // r10 is 0x10, which has a known name; 0x99 has none.
  CHECK(capture.table("ctrl_cpu_pmu_events") ==
        Lines{"0|0x10|Br_mis_pred|500", "0|0x11|Cpu_cycles|90", "0|0x99|N/A|9"});
  CHECK(capture.header("ctrl_cpu_top_function") == "Device_id,Function,Module,Cycles,Cycles(%)");
  CHECK(capture.table("ctrl_cpu_top_function") ==
        Lines{"0|unknown|[unknown]|60|66.667", "0|memcpy|/lib64/libc.so.6|30|33.333"});
  CHECK(capture.table("ai_cpu_pmu_events") == Lines{"0|0x11|Cpu_cycles|7", "0|0x8|Inst_retired|5"});
  CHECK(capture.table("ai_cpu_top_function") == Lines{"0|memcpy|/lib64/libc.so.6|7|100.0"});
  CHECK(capture.store("SELECT text FROM track JOIN name ON name.id = detail_name_id WHERE"
                      " number = 8") == Lines{"/bin/a (deleted)"});
  CHECK(capture.store("SELECT text FROM track JOIN name ON name.id = subject_name_id WHERE"
                      " number = 8") == Lines{"f(int, (x)) const"});
  CHECK(capture.findings("ai_ctrl_cpu") == Lines{"note ai_ctrl_cpu: samples of other cores x1",
                                                 "note ai_ctrl_cpu: times not checked x1"});
}

TEST_CASE("control and AI CPUs: damaged samples are counted, the rest is kept") {
  CounterCapture capture(cpu_setup());
  const std::string good = sample(0, "1 r11", "f+0x1 (/bin/a)");
  capture.device("ai_ctrl_cpu.data",
                 good + "nonsense\n\tffff f+0x1 (a)\n\n" + sample(0, "x r11", "f+0x1 (/bin/a)") +
                     sample(0, "99999999999999999999 r11", "f+0x1 (/bin/a)") +
                     sample(0, "1 cycles", "f+0x1 (/bin/a)") + sample(0, "1 r11", "no module") +
                     "a 1/1 [000] 4.1: 1 r11:\n\n"                       // no frame
                     "a 1/1 [000] 4.1: 2 r11:\n\tff f+0x1 (/bin/a)\n" +  // no empty line at the end
                     good +
                     std::string("\0\n\n", 3) + "a 1/1 [000] 4.1: 3 r11:\n\tff f");
  capture.process();
  CHECK(capture.table("ctrl_cpu_pmu_events") == Lines{"0|0x11|Cpu_cycles|4"});
  CHECK(capture.findings("ai_ctrl_cpu") ==
        Lines{"PARTIAL ai_ctrl_cpu: not in the expected format x6",
              "PARTIAL ai_ctrl_cpu: a sample without a function x2",
              "PARTIAL ai_ctrl_cpu: incomplete line at the end x1",
              "note ai_ctrl_cpu: times not checked x1"});
}

TEST_CASE("control and AI CPUs: an empty file gives no data and no finding") {
  CounterCapture capture(cpu_setup());
  capture.device("ai_ctrl_cpu.data", "");
  capture.device("tscpu.data", "");
  capture.process();
  for (const char* table : {"ctrl_cpu_pmu_events", "ai_cpu_top_function", "ts_cpu_pmu_events"})
    CHECK(capture.table(table).empty());
  CHECK(capture.findings("ai_ctrl_cpu").empty());
  CHECK(capture.findings("tscpu").empty());
}

TEST_CASE("TS CPU: requested events are in numeric order, with five functions") {
  CounterCapture capture(cpu_setup());
  for (std::uint64_t i = 0; i < 6; ++i) {
    TsCpu record;
    record.address = 0x1000 + i;
    record.counts[0] = 0x11;
    record.counts[1] = i == 0 ? 5 : 1;
    record.counts[2] = 0x8;
    record.counts[3] = 20;
    record.counts[4] = 0x12;
    record.counts[5] = 1000;
    capture.record("tscpu.data", record);
  }
  capture.process();
  CHECK(capture.samples("ts_cpu").size() == 18);
  // Numeric order: as text, 9 would be greater than 120.
  CHECK(capture.table("ts_cpu_pmu_events") ==
        Lines{"0|0x8|Inst_retired|120", "0|0x11|Cpu_cycles|10"});
  CHECK(capture.header("ts_cpu_top_function") == "Device_id,Function,Cycles,Cycles(%)");
  CHECK(capture.table("ts_cpu_top_function") == Lines{"0|0x1000|5|50.0", "0|0x1001|1|10.0",
                                                      "0|0x1002|1|10.0", "0|0x1003|1|10.0",
                                                      "0|0x1004|1|10.0"});
  CHECK(capture.findings("tscpu") == Lines{"note tscpu: times not checked x1"});
}

TEST_CASE("TS CPU: without a list of events all are counted; an unexpected chip is reported") {
  ProfSetup setup;
  setup.platform = "15";
  CounterCapture capture(setup);
  TsCpu record;
  record.counts[0] = 0x16;
  record.counts[1] = 3;
  capture.record("tscpu.data", record);
  capture.process();
  CHECK(capture.table("ts_cpu_pmu_events") == Lines{"0|0x16|L2d_cache|3"});
  CHECK(capture.findings("tscpu") ==
        Lines{"note tscpu: not expected on this chip x1", "note tscpu: times not checked x1"});
}

TEST_CASE("TS CPU: records of 184 bytes are reported and not interpreted") {
  CounterCapture capture(cpu_setup());
  std::string record(184, '\0');
  record.replace(0, 4, "\xab\xab\xab\xab");
  capture.device("tscpu.data", record + record);
  capture.process();
  CHECK(capture.samples("ts_cpu").empty());
  CHECK(capture.table("ts_cpu_pmu_events").empty());
  CHECK(capture.report().verdict() == msprof::Severity::without);
  CHECK(capture.findings("tscpu") == Lines{"note tscpu: records of 184 bytes, not read x2"});
}

TEST_CASE("TS CPU: records with a bad magic or an impossible event are counted") {
  CounterCapture capture(cpu_setup());
  TsCpu record;
  record.counts[0] = 0x11;
  record.counts[1] = 7;
  capture.record("tscpu.data", record);
  record.counts[2] = 0xED;
  capture.record("tscpu.data", record);
  record.counts[2] = 0;
  capture.record("tscpu.data", record);
  record.magic = 1;
  capture.record("tscpu.data", record);
  record.magic = 0xABABABAB;
  record.counts[1] = UINT64_MAX;
  capture.record("tscpu.data", record);
  capture.record("tscpu.data", record);
  capture.device("tscpu.data", "cut");
  capture.process();
  CHECK(capture.samples("ts_cpu").size() == 4);
  CHECK(capture.table("ts_cpu_pmu_events") == Lines{"0|0x11|Cpu_cycles|9223372036854775807"});
  CHECK(capture.findings("tscpu") == Lines{"PARTIAL tscpu: bad magic or event x2",
                                           "PARTIAL tscpu: ends in the middle of a record x3",
                                           "note tscpu: times not checked x1"});
}
