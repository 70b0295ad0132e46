// HBM and HCCS: data moved between two samples.
#include <catch2/catch.hpp>
#include <cstring>

#include "counters/counter_capture.hpp"

using namespace msprof::test;
using prof::ProfSetup;

namespace {

struct __attribute__((packed)) Hbm {
  std::uint64_t us;
  std::uint64_t count;
  std::uint32_t event, channel;
};
struct __attribute__((packed)) Hbm2 {
  std::uint32_t none[2]{};
  std::uint32_t event, channel;
  std::uint64_t count, ns;
};

constexpr std::uint64_t kMegabyte = 1 << 20;
// Counts of 32 bytes that equal `mb` MB/s over a millisecond.
constexpr std::uint64_t of_rate(std::uint64_t mb) {
  return mb * kMegabyte / 32 / 1000;
}

}  // namespace

TEST_CASE("HBM: the rate of a channel is computed since its previous sample") {
  CounterCapture capture;
  capture.record("hbm.data", Hbm{1000, 5, 0, 2});
  capture.record("hbm.data", Hbm{2000, 32 * 1024, 0, 2});
  // Channels have independent samples, and so do reading and writing.
  capture.record("hbm.data", Hbm{2000, 7, 1, 2});
  capture.record("hbm.data", Hbm{2500, 7, 0, 3});
  capture.record("hbm.data", Hbm{4000, 64 * 1024, 0, 2});
  capture.record("hbm.data", Hbm{4000, 64 * 1024, 1, 2});
  capture.process();
  CHECK(capture.samples("hbm") == Lines{"0|HBM 2|Read|MB/s|1000000|2000000|1048576",
                                        "0|HBM 2|Read|MB/s|2000000|4000000|2097152",
                                        "0|HBM 2|Write|MB/s|2000000|4000000|2097152"});
  // 1 MB in 1 ms, then 2 MB in 2 ms.
  CHECK(capture.header("hbm") == "Device_id,Metric,Read(MB/s),Write(MB/s)");
  CHECK(capture.table("hbm") == Lines{"0|Average|1000.000|1000.000", "0|2|1000.0|1000.0"});
  CHECK(capture.events("HBM") ==
        Lines{counter_event("HBM 2/Read", 2'000'000, "Read(MB/s)", "1000.0"),
              counter_event("HBM 2/Read", 4'000'000, "Read(MB/s)", "1000.0"),
              counter_event("HBM 2/Write", 4'000'000, "Write(MB/s)", "1000.0")});
  CHECK(capture.unified("SELECT deviceId, timestampNs - 1700000000000000000, bandwidth, hbmId,"
                        " value FROM HBM JOIN STRING_IDS ON id = type") ==
        Lines{"0|2000000|1048576000|2|read", "0|4000000|1048576000|2|read",
              "0|4000000|1048576000|2|write"});
  CHECK(capture.findings("hbm").empty());
}

TEST_CASE("HBM: records of version 2.0 have absolute times") {
  ProfSetup setup;
  setup.version = "2.0";
  CounterCapture capture(setup);
  const std::uint64_t begin = setup.begin_us * 1000;
  capture.record("hbm.data", Hbm2{.event = 0, .channel = 0, .count = 1, .ns = begin + 1'000'001});
  capture.record("hbm.data",
                 Hbm2{.event = 0, .channel = 0, .count = of_rate(2000), .ns = begin + 2'000'001});
  capture.process();
  CHECK(capture.samples("hbm") ==
        Lines{"0|HBM 0|Read|MB/s|1000001|2000001|" + std::to_string(of_rate(2000) * 32)});
}

TEST_CASE("HBM: damaged records are counted, the rest is kept") {
  CounterCapture capture;
  for (std::uint64_t ms = 1; ms <= 5; ++ms) {
    capture.record("hbm.data", Hbm{ms * 1000, 1024, 0, 0});
    if (ms == 2) capture.record("hbm.data", Hbm{ms * 1000, 1024, 0, 0});  // twice
    if (ms == 3) capture.record("hbm.data", Hbm{ms * 1000, 1, 0, 0xFFFFFFFF});
  }
  capture.device("hbm.data", "cut");
  capture.process();
  CHECK(capture.samples("hbm").size() == 4);
  CHECK(capture.findings("hbm") == Lines{"PARTIAL hbm: impossible channel or time x1",
                                         "PARTIAL hbm: ends in the middle of a record x3",
                                         "PARTIAL hbm: same time as the previous sample x1"});
}

TEST_CASE("HBM: an empty file or a single sample gives no table and no finding") {
  for (const bool has_sample : {false, true}) {
    CounterCapture capture;
    has_sample ? capture.record("hbm.data", Hbm{1000, 1, 0, 0}) : capture.device("hbm.data", "");
    capture.process();
    CHECK(capture.table("hbm").empty());
    CHECK(capture.events("HBM").empty());
    CHECK(capture.findings("hbm").empty());
  }
}

TEST_CASE("HCCS: rates are differences of two totals, also across slices") {
  CounterCapture capture;
  constexpr std::string_view kHead = "time_stamp(s):time_stamp(ns) send_amount receive_amount\n";
  capture.device("hccs.data", std::string(kHead) + "4:001000000 1000 5000000\n4:002000000 10");
  capture.prof().next_slice("hccs.data", 0);
  capture.device("hccs.data", "49576 5000000\n4:004000000 1049576 9194304\n");
  capture.process();
  CHECK(capture.samples("hccs") ==
        Lines{"0|HCCS|Tx|MB/s|1000000|2000000|1048576", "0|HCCS|Rx|MB/s|1000000|2000000|0",
              "0|HCCS|Tx|MB/s|2000000|4000000|0", "0|HCCS|Rx|MB/s|2000000|4000000|4194304"});
  CHECK(capture.header("hccs") == "Device_id,Mode,Max,Min,Average");
  CHECK(capture.table("hccs") ==
        Lines{"0|Tx (MB/s)|1000.0|0.0|500.0", "0|Rx (MB/s)|2000.0|0.0|1000.0"});
  CHECK(capture.events("HCCS").front() == counter_event("Tx", 2'000'000, "Tx(MB/s)", "1000.0"));
  CHECK(capture.unified("SELECT deviceId, timestampNs - 1700000000000000000, txThroughput,"
                        " rxThroughput FROM HCCS") ==
        Lines{"0|2000000|1048576000|0", "0|4000000|0|2097152000"});
  CHECK(capture.findings("hccs").empty());
}

TEST_CASE("HCCS: invalid lines, decreasing counters and repeated times are counted") {
  CounterCapture capture;
  capture.device("hccs.data",
                 "4:001000000 100 100\n"
                 "4:002000000 200\n"                     // a field is missing
                 "4:00300000 300 300\n"                  // eight digits of ns
                 "4:004000000 99999999999999999999 1\n"  // above 64 bits
                 "4:005000000 50 500\n"                  // the first counter decreased
                 "4:005000000 60 600\n"                  // no time passed
                 "4:006000000 150 700\n");
  capture.device("hccs.data", std::string(70'000, 'x') + "\n" + std::string("\0\0\n", 3) + "4:007");
  capture.process();
  CHECK(capture.samples("hccs") == Lines{"0|HCCS|Rx|MB/s|1000000|5000000|400",
                                         "0|HCCS|Tx|MB/s|5000000|6000000|100",
                                         "0|HCCS|Rx|MB/s|5000000|6000000|200"});
  CHECK(capture.findings("hccs") == Lines{"PARTIAL hccs: not in the expected format x4",
                                          "PARTIAL hccs: line longer than 64 KB x1",
                                          "PARTIAL hccs: incomplete line at the end x1",
                                          "PARTIAL hccs: counter decreased x1",
                                          "PARTIAL hccs: same time as the previous sample x1"});
}

TEST_CASE("HBM and HCCS: on an unexpected chip they are read and reported") {
  ProfSetup setup;
  setup.platform = "9";
  CounterCapture capture(setup);
  capture.record("hbm.data", Hbm{1000, 5, 0, 2});
  capture.device("hccs.data", "4:001000000 100 100\n");
  // A single sample only starts an interval, so no finding is reported.
  capture.process();
  CHECK(capture.findings("hbm").empty());
  CHECK(capture.findings("hccs").empty());

  capture.record("hbm.data", Hbm{2000, 32 * 1024, 0, 2});
  capture.device("hccs.data", "4:002000000 300 200\n");
  capture.process();
  CHECK(capture.samples("hbm") == Lines{"0|HBM 2|Read|MB/s|1000000|2000000|1048576"});
  CHECK(capture.samples("hccs") ==
        Lines{"0|HCCS|Tx|MB/s|1000000|2000000|200", "0|HCCS|Rx|MB/s|1000000|2000000|100"});
  CHECK(capture.findings("hbm") == Lines{"note hbm: not expected on this chip x1"});
  CHECK(capture.findings("hccs") == Lines{"note hccs: not expected on this chip x1"});
}

TEST_CASE("HBM is expected on more chips than HCCS") {
  CounterCapture capture(prof::setup_310b());
  for (const std::uint64_t ms : {1U, 2U}) {
    capture.record("hbm.data", Hbm{ms * 1000, 5, 0, 2});
    capture.device("hccs.data", "4:00" + std::to_string(ms) + "000000 100 100\n");
  }
  capture.process();
  CHECK(capture.findings("hbm").empty());
  CHECK(capture.findings("hccs") == Lines{"note hccs: not expected on this chip x1"});
}
