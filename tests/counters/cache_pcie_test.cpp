// Last-level caches, from binary records and from text, and PCIe.
#include <array>
#include <catch2/catch.hpp>

#include "counters/counter_capture.hpp"
#include "support/files.hpp"

using namespace msprof::test;
using prof::ProfSetup;

namespace {

struct __attribute__((packed)) Llc {
  std::uint64_t us, count;
  std::uint32_t event, cache;
};
struct __attribute__((packed)) Llc2 {
  std::uint32_t none, count, event, cache;
  std::uint64_t ns;
};
struct __attribute__((packed)) Pcie {
  std::uint64_t ns;
  std::uint32_t device = 0;
  std::uint32_t values[7][3]{};
};

using LlcCounts = std::array<std::uint64_t, 8>;
constexpr std::array<std::uint32_t, 8> kLlcReadCodes = {0x00, 0x01, 0x02, 0x13,
                                                        0x20, 0x22, 0x34, 0x36};
constexpr std::array<std::uint32_t, 8> kLlcWriteCodes = {0x00, 0x01, 0x03, 0x14,
                                                         0x21, 0x23, 0x35, 0x37};

ProfSetup with_llc(std::string platform, const std::string& profiling) {
  ProfSetup setup;
  setup.platform = std::move(platform);
  setup.sample["llc_profiling"] = '"' + profiling + '"';
  return setup;
}

void llc(CounterCapture& capture, std::uint64_t us, std::uint32_t cache, const LlcCounts& counts,
         const std::array<std::uint32_t, 8>& codes = kLlcReadCodes) {
  for (std::size_t i = 0; i < counts.size(); ++i)
    capture.record("llc.data", Llc{us, counts[i], codes[i], cache});
}

// A PCIe record in which each value is its index (from 1) times `factor`.
Pcie pcie(std::uint64_t after_ns, std::uint32_t factor) {
  Pcie record{.ns = 4'000'000'000 + after_ns};
  for (std::uint32_t i = 0; i < 21; ++i) record.values[i / 3][i % 3] = (i + 1) * factor;
  return record;
}

}  // namespace

TEST_CASE("LLC: a sample has its hit rate and the bytes moved since the previous one") {
  CounterCapture capture(with_llc("5", "read"));
  // 676 hits in 1000 lookups; 8192 + 8192 lines moved.
  llc(capture, 1000, 0, {1, 2, 100, 200, 400, 300, 600, 76});
  llc(capture, 1000, 5, {1, 1, 1, 0, 2, 0, 0, 0});
  llc(capture, 2000, 0, {8192, 8192, 0, 0, 0, 0, 0, 0});
  llc(capture, 2000, 5, {0, 0, 0, 1, 1, 0, 15, 0});
  capture.process();
  CHECK(capture.samples("llc") == Lines{"0|LLC 0 Read|Hit Rate|%||1000000|676",
                                        "0|LLC 5 Read|Hit Rate|%||1000000|500",
                                        "0|LLC 0 Read|Hit Rate|%||2000000|0",
                                        "0|LLC 0 Read|Throughput|MB/s|1000000|2000000|1048576",
                                        // 0.0625 is rounded half to even.
                                        "0|LLC 5 Read|Hit Rate|%||2000000|62",
                                        "0|LLC 5 Read|Throughput|MB/s|1000000|2000000|0"});
  CHECK(capture.header("llc_read_write") == "Device_id,Mode,Task,Hit Rate(%),Throughput(MB/s)");
  CHECK(capture.table("llc_read_write") ==
        Lines{"0|read|Average|30.95|500.0", "0|read|0|33.8|1000.0", "0|read|5|28.1|0.0"});
  const Lines events = capture.events("LLC");
  REQUIRE(events.size() == 6);
  CHECK(events[0] == counter_event("LLC 0 Read/Hit Rate", 1'000'000, "Hit Rate(%)", "67.6"));
  CHECK(events[3] ==
        counter_event("LLC 0 Read/Throughput", 2'000'000, "Throughput(MB/s)", "1000.0"));
  CHECK(capture.unified("SELECT deviceId, llcId, timestampNs - 1700000000000000000, hitRate,"
                        " throughput, value FROM LLC JOIN STRING_IDS ON id = mode") ==
        Lines{"0|0|1000000|67.6|NULL|read", "0|5|1000000|50.0|NULL|read",
              "0|0|2000000|0.0|1048576000|read", "0|5|2000000|6.2|0|read"});
  CHECK(capture.findings("llc").empty());
}

TEST_CASE("LLC: writes have separate events, and version 2.0 has absolute times") {
  ProfSetup setup = with_llc("4", "write");
  setup.version = "2.0";
  CounterCapture capture(setup);
  const std::uint64_t begin = setup.begin_us * 1000;
  for (std::size_t i = 0; i < kLlcWriteCodes.size(); ++i)
    capture.record("llc.data",
                   Llc2{0, static_cast<std::uint32_t>(i), kLlcWriteCodes[i], 1, begin + 3});
  capture.process();
  // (2 + 3 + 5 + 7) / (4 + 6); a single sample has no throughput.
  CHECK(capture.samples("llc") == Lines{"0|LLC 1 Write|Hit Rate|%||3|1700"});
  CHECK(capture.table("llc_read_write") ==
        Lines{"0|write|Average|170.0|N/A", "0|write|1|170.0|N/A"});
}

TEST_CASE("LLC: incomplete samples, unknown events and damage are counted") {
  CounterCapture capture(with_llc("5", "read"));
  llc(capture, 1000, 0, {1, 1, 1, 1, 1, 1, 1, 1});
  for (const std::uint32_t event : {0x00U, 0x01U, 0x77U})
    capture.record("llc.data", Llc{2000, 64, event, 0});
  capture.record("llc.data", Llc{2500, 1, 0x00, 0xFFFFFFFF});
  llc(capture, 3000, 0, {1, 1, 1, 1, 2, 1, 2, 1});
  capture.device("llc.data", "cut");
  capture.process();
  CHECK(capture.samples("llc") == Lines{"0|LLC 0 Read|Hit Rate|%||1000000|2000",
                                        "0|LLC 0 Read|Throughput|MB/s|1000000|2000000|8192",
                                        "0|LLC 0 Read|Hit Rate|%||3000000|1000",
                                        "0|LLC 0 Read|Throughput|MB/s|2000000|3000000|128"});
  CHECK(capture.report().lacking() == Lines{"some events of the last level cache"});
  const Lines found = capture.findings("llc");
  CHECK(std::count(found.begin(), found.end(),
                   "PARTIAL llc: sample without one of its events x1") == 1);
  CHECK(std::count(found.begin(), found.end(), "PARTIAL llc: ends in the middle of a record x3") ==
        1);
  CHECK(std::count(found.begin(), found.end(),
                   "PARTIAL llc: impossible cache, event, count or time x1") == 1);
}

TEST_CASE("LLC: if the counted events are unknown, nothing is computed") {
  CounterCapture capture(with_llc("5", ""));
  llc(capture, 1000, 0, {1, 1, 1, 1, 1, 1, 1, 1});
  capture.process();
  CHECK(capture.samples("llc").empty());
  CHECK(capture.findings("llc") == Lines{"PARTIAL llc: unknown events x1"});
}

TEST_CASE("LLC of the 310: the share of each CPU is read from text") {
  CounterCapture capture(with_llc("0", "capacity"));
  capture.device("llc.data",
                 "#  time counts unit events\n"
                 "0.001000000 16384 hisi_l3c0_1/dsid0/ (66.67%)\n"
                 "0.001000000 32768 hisi_l3c0_1/dsid2/\n"
                 "0.001000000 <not counted> hisi_l3c0_1/dsid3/\n"
                 "0.001000000 16 hisi_l3c0_1/dsid1/\n"
                 "0.002000000 163");
  capture.prof().next_slice("llc.data", 0);
  capture.device("llc.data", "84 hisi_l3c0_1/dsid2/\n");
  capture.process();
  CHECK(capture.samples("llc") ==
        Lines{"0|LLC CPU 0|Capacity|MB||1000000|1048576", "0|LLC CPU 1|Capacity|MB||1000000|1024",
              "0|LLC CPU 2|Capacity|MB||1000000|2097152", "0|LLC CPU 3|Capacity|MB||1000000|0",
              "0|LLC CPU 2|Capacity|MB||2000000|1048576"});
  // CPUs 2 to 7 are AI CPUs, each with a column if it has samples; CPU 0 is the control CPU, CPU 1
  // is neither.
  CHECK(capture.header("llc_aicpu") == "Device_id,Metric,CPU2(KB),CPU3(KB),Total(KB)");
  CHECK(capture.table("llc_aicpu") == Lines{"0|Used Capacity of LLC|1536.0|0.0|1536.0"});
  CHECK(capture.header("llc_ctrlcpu") == "Device_id,Metric,CPU0(KB),Total(KB)");
  CHECK(capture.table("llc_ctrlcpu") == Lines{"0|Used Capacity of LLC|1024.0|1024.0"});
  CHECK(capture.table("llc_read_write").empty());
  CHECK(capture.events("LLC of AI CPU") ==
        Lines{counter_event("Core 2", 1'000'000, "Capacity(MB)", "2.0"),
              counter_event("Core 3", 1'000'000, "Capacity(MB)", "0.0"),
              counter_event("Core 2", 2'000'000, "Capacity(MB)", "1.0")});
  CHECK(capture.events("LLC of Ctrl CPU") ==
        Lines{counter_event("Core 0", 1'000'000, "Capacity(MB)", "1.0")});
  CHECK(capture.findings("llc").empty());
}

TEST_CASE("LLC of the 310: bandwidth and cache hits are computed") {
  CounterCapture capture(with_llc("0", "bandwidth"));
  // Two caches; 16384 lines are 1 MiB, in 1 ms.
  capture.device("llc.data",
                 "0.001 8192 l3c0/read_allocate/\n"
                 "0.001 4096 l3c1/read_allocate/\n"
                 "0.001 4096 l3c0/read_noallocate/\n"
                 "0.001 8192 l3c0/read_hit/\n"
                 "0.003 0 l3c0/write_allocate/\n"
                 "0.003 32768 l3c0/write_noallocate/\n"
                 "0.003 0 l3c0/write_hit/\n");
  capture.process();
  CHECK(capture.samples("llc") == Lines{"0|LLC|Read|MB/s|0|1000000|1048576",
                                        "0|LLC|Read Hit|MB/s|0|1000000|524288",
                                        "0|LLC|Write|MB/s|1000000|3000000|2097152",
                                        "0|LLC|Write Hit|MB/s|1000000|3000000|0"});
  CHECK(capture.header("llc_bandwidth") == "Device_id,Metric,l3c_rd,l3c_wr");
  CHECK(capture.table("llc_bandwidth") == Lines{"0|BandWidth(MB/s)|1000.0|1000.0",
                                                "0|Hit_Rate(%)|50.0|0.0",
                                                "0|Hit_BandWidth(MB/s)|500.0|0.0"});
  CHECK(capture.events("LLC Bandwidth") ==
        Lines{counter_event("LLC/Read", 1'000'000, "Read(MB/s)", "1000.0"),
              counter_event("LLC/Write", 3'000'000, "Write(MB/s)", "1000.0")});
}

TEST_CASE("LLC of the 310: invalid lines are counted") {
  CounterCapture capture(with_llc("0", "bandwidth"));
  capture.device("llc.data",
                 "0.001 5 l3c0/read_allocate/\n"  // no other event at this time
                 "0.002 99999999999999999999 l3c0/read_hit/\n"
                 "0.002 9223372036854775807 l3c0/read_hit/\n"
                 "x 1 l3c0/read_hit/\n"
                 "0.002 1\n"
                 "0.002 1 l3c0/other/\n");
  capture.device("llc.data", std::string("\0\0\n", 3) + std::string(70'000, '1') + "\n0.003");
  capture.process();
  CHECK(capture.samples("llc").empty());
  const Lines found = capture.findings("llc");
  CHECK(std::count(found.begin(), found.end(), "PARTIAL llc: not in the expected format x5") == 1);
  CHECK(std::count(found.begin(), found.end(), "PARTIAL llc: line longer than 64 KB x1") == 1);
  CHECK(std::count(found.begin(), found.end(), "PARTIAL llc: incomplete line at the end x1") == 1);
  CHECK(std::count(found.begin(), found.end(),
                   "PARTIAL llc: sample without one of its events x1") == 1);
}

TEST_CASE("PCIe: a sample has 21 values, and the table their means over the run") {
  CounterCapture capture;
  capture.record("pcie.data", pcie(1'000'000, 100));
  Pcie idle = pcie(2'000'000, 300);
  idle.values[1][0] = 0xFFFFF;
  capture.record("pcie.data", idle);
  capture.process();
  const Lines samples = capture.samples("pcie");
  REQUIRE(samples.size() == 41);
  CHECK(samples[0] == "0|PCIe Tx posted|Min|MB/s||1000000|100000000");
  CHECK(samples[11] == "0|PCIe Tx non-posted latency|Avg|us||1000000|1200");
  CHECK(samples[24] == "0|PCIe Tx non-posted|Max|MB/s||2000000|1500000000");
  CHECK(capture.header("pcie") == "Device_id,Mode,Min,Max,Avg");
  // The mean of v * 100 and v * 300 is v * 200 bytes per microsecond.
  CHECK(capture.table("pcie") == Lines{"0|Tx_p_avg(MB/s)|190.735|381.47|572.205",
                                       "0|Tx_np_avg(MB/s)|381.47|953.674|1144.409",
                                       "0|Tx_cpl_avg(MB/s)|1335.144|1525.879|1716.614",
                                       "0|Tx_latency_avg(us)|2.0|2.2|2.4",
                                       "0|Rx_p_avg(MB/s)|2479.553|2670.288|2861.023",
                                       "0|Rx_np_avg(MB/s)|3051.758|3242.493|3433.228",
                                       "0|Rx_cpl_avg(MB/s)|3623.962|3814.697|4005.432"});
  const Lines events = capture.events("PCIe");
  REQUIRE(events.size() == 8);
  const std::string now = "|" + at(1'000'000) + "|";
  CHECK(events[0] == "PCIe_post" + now + R"({"Tx":286.102294921875,"Rx":1430.511474609375})");
  CHECK(events[3] == "PCIe_nonpost_latency" + now + R"({"Tx":1.2,"Rx":0.0})");
  CHECK(capture.unified("SELECT deviceId, timestampNs - 1700000000000000000, txPostMin,"
                        " txNonpostMin, txNonpostLatencyAvg, rxCplAvg FROM PCIE") ==
        // Above 32 bits.
        Lines{"0|1000000|100000000|400000000|1200|2100000000",
              "0|2000000|300000000|NULL|3600|6300000000"});
  CHECK(capture.findings("pcie").empty());
}

TEST_CASE("PCIe: samples without posted transfers are only in the store") {
  CounterCapture capture;
  Pcie idle = pcie(1'000'000, 1);
  idle.values[0][0] = 0xFFFFF;
  idle.values[0][1] = idle.values[0][2] = 0;
  capture.record("pcie.data", idle);
  capture.record("pcie.data", pcie(1'000'000, 2));  // same time as above
  capture.process();
  CHECK(capture.samples("pcie").size() == 41);
  CHECK(capture.events("PCIe").size() == 4);
  CHECK(capture.unified("SELECT txPostMax FROM PCIE") == Lines{"4000000"});
}

TEST_CASE(
    "PCIe: records across two slices, truncated and damaged ones and an unexpected chip are "
    "handled") {
  ProfSetup setup;
  setup.platform = "7";
  CounterCapture capture(setup);
  const Pcie first = pcie(1'000'000, 100);
  const std::string_view bytes(reinterpret_cast<const char*>(&first), sizeof(first));
  capture.device("pcie.data", bytes.substr(0, 50));
  capture.prof().next_slice("pcie.data", 0);
  capture.device("pcie.data", bytes.substr(50));
  Pcie damaged = pcie(2'000'000, 100);
  damaged.ns = UINT64_MAX;
  capture.record("pcie.data", damaged);
  capture.record("pcie.data", pcie(3'000'000, 100));
  capture.device("pcie.data", bytes.substr(0, 95));
  capture.process();
  CHECK(capture.unified("SELECT timestampNs - 1700000000000000000 FROM PCIE") ==
        Lines{"1000000", "3000000"});
  CHECK(capture.findings("pcie") == Lines{"PARTIAL pcie: impossible device or time x1",
                                          "PARTIAL pcie: ends in the middle of a record x95",
                                          "note pcie: not expected on this chip x1"});
}

TEST_CASE("PCIe: a missing slice loses the records at its borders") {
  ProfSetup setup;
  setup.device_monotonic_ns += 1'000'000'000'000'000;
  CounterCapture capture(setup);
  std::string bytes;
  for (std::uint64_t ms = 1; ms <= 6; ++ms) {
    const Pcie record = pcie(1'000'000'000'000'000 + ms * 1'000'000, 1000);
    bytes.append(reinterpret_cast<const char*>(&record), sizeof(record));
  }
  capture.device("pcie.data", bytes.substr(0, 250));
  capture.prof().next_slice("pcie.data", 0);
  capture.device("pcie.data", bytes.substr(400));
  capture.process();
  CHECK(capture.unified("SELECT timestampNs - 1700000000000000000 FROM PCIE") ==
        Lines{"1000000", "2000000", "6000000"});
  CHECK(capture.findings("pcie") == Lines{"PARTIAL pcie: bytes lost or added within a record x1"});
}

TEST_CASE("LLC and PCIe: empty files give no table and no finding") {
  for (const std::string chip : {"5", "0"}) {
    CAPTURE(chip);
    CounterCapture capture(with_llc(chip, ""));
    const auto data = capture.prof().folder() / "device_0" / "data";
    write_file(data / "llc.data.0.slice_0", "");
    write_file(data / "pcie.data.0.slice_0", "");
    capture.process();
    for (const std::string kind : {"llc", "pcie"}) CHECK(capture.findings(kind).empty());
    CHECK(capture.table("llc_read_write").empty());
    CHECK(capture.table("pcie").empty());
    CHECK(capture.events("LLC").empty());
    CHECK(capture.events("PCIe").empty());
  }
}
