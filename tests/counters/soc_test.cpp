// SoC counters: accelerators, levels, dies, links, masters, address translation, ports.
#include <catch2/catch.hpp>
#include <cstring>

#include "counters/counter_capture.hpp"

using namespace msprof::test;
using prof::ProfSetup;

namespace {

constexpr std::string_view kSoc = "stars_soc_profile.data";
constexpr std::uint64_t kSocMs = 1'000'000;

// Records of 64 bytes: a header, and values at given offsets.
class SocRecord {
 public:
  SocRecord(unsigned function, std::uint64_t ticks, unsigned upper = 0) : bytes_(64, '\0') {
    put<std::uint16_t>(0, static_cast<std::uint16_t>(function | upper << 10));
    put<std::uint16_t>(2, 0x6BD3);
    put<std::uint64_t>(8, ticks);
  }
  template <typename Value>
  SocRecord& put(std::size_t at, Value value) {
    std::memcpy(bytes_.data() + at, &value, sizeof(value));
    return *this;
  }
  template <typename Value>
  SocRecord& put(std::size_t at, std::initializer_list<Value> values) {
    for (const Value value : values) {
      put(at, value);
      at += sizeof(value);
    }
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

SocRecord acc_pmu(const CounterCapture& capture, std::uint64_t ns, std::uint16_t accelerator,
                  std::initializer_list<std::uint64_t> values) {
  return SocRecord(26, capture.setup().ticks_at(ns)).put(18, accelerator).put(32, values);
}

SocRecord sio(const CounterCapture& capture, std::uint64_t ns, std::uint16_t die,
              std::initializer_list<std::uint32_t> values) {
  return SocRecord(25, capture.setup().ticks_at(ns)).put(18, die).put(32, values);
}

ProfSetup on_chip(const std::string& platform) {
  ProfSetup setup;
  setup.platform = platform;
  return setup;
}

// Formats an event as "name|ts|{"key":value,"key":value}".
std::string event_line(std::string_view name, std::int64_t ns, std::string_view arguments) {
  return std::string(name) + "|" + at(ns) + "|{" + std::string(arguments) + "}";
}

struct __attribute__((packed)) SocPmu {
  std::uint8_t none[8]{};
  std::uint16_t task_type = 0, stream, task, type = 2;
  std::uint64_t events[8];
};
struct __attribute__((packed)) LaterSocPmu {
  std::uint8_t none[6]{};
  std::uint16_t type = 2, task_type = 0, stream;
  std::uint32_t task;
  std::uint64_t events[8];
};

struct __attribute__((packed)) Ub {
  std::uint16_t magic = 0, none_2 = 0, port, none_6 = 0;
  std::uint64_t us;
  std::uint64_t values[14];
};

}  // namespace

TEST_CASE("Acc PMU: each accelerator is separate, and the timeline has the largest") {
  CounterCapture capture;
  capture.device(kSoc, acc_pmu(capture, 1 * kSocMs, 1, {10, 20, 30, 40}).bytes());
  capture.device(kSoc, acc_pmu(capture, 1 * kSocMs, 0, {11, 19, 31, 39}).bytes());
  capture.device(kSoc, acc_pmu(capture, 2 * kSocMs, 0, {1, 2, 3, UINT64_MAX}).bytes());
  capture.process();
  CHECK(capture.samples("acc_pmu").front() == "0|Acc PMU 1|write_bandwidth|||1000000|10");
  CHECK(capture.samples("acc_pmu").back() == "0|Acc PMU 0|read_ost|||2000000|9223372036854775807");
  CHECK(capture.events("Acc PMU") ==
        Lines{counter_event("read_bandwidth", 1'000'000, "value", "20"),
              counter_event("read_ost", 1'000'000, "value", "40"),
              counter_event("write_bandwidth", 1'000'000, "value", "11"),
              counter_event("write_ost", 1'000'000, "value", "31"),
              counter_event("read_bandwidth", 2'000'000, "value", "2"),
              counter_event("read_ost", 2'000'000, "value", "9223372036854775807"),
              counter_event("write_bandwidth", 2'000'000, "value", "1"),
              counter_event("write_ost", 2'000'000, "value", "3")});
  CHECK(capture.unified("SELECT accId, readBwLevel, writeBwLevel, readOstLevel, writeOstLevel,"
                        " timestampNs - 1700000000000000000, deviceId FROM ACC_PMU") ==
        Lines{"0|19|11|39|31|1000000|0", "1|20|10|40|30|1000000|0",
              "0|2|1|9223372036854775807|3|2000000|0"});
  CHECK(capture.findings("stars_soc_profile").empty());
}

TEST_CASE("bandwidth levels: L2 buffer and MATA have the values of the record") {
  CounterCapture capture;
  capture.device(kSoc, SocRecord(28, capture.setup().ticks_at(kSocMs))
                           .put<std::uint16_t>(32, 5 | 200 << 3 | 1 << 11)
                           .bytes());
  capture.process();
  CHECK(capture.samples("stars_soc") ==
        Lines{"0|SoC|L2 Buffer Bw Level|||1000000|200", "0|SoC|Mata Bw Level|||1000000|5"});
  CHECK(capture.events("Stars Soc Info") ==
        Lines{counter_event("L2 Buffer Bw Level", 1'000'000, "L2 Buffer Bw Level", "200"),
              counter_event("Mata Bw Level", 1'000'000, "Mata Bw Level", "5")});
  CHECK(capture.unified("SELECT l2BufferBwLevel, mataBwLevel, timestampNs - 1700000000000000000,"
                        " deviceId FROM SOC_BANDWIDTH_LEVEL") == Lines{"200|5|1000000|0"});
}

TEST_CASE("SIO: the rate of a die uses its own interval, and devices are separate") {
  constexpr std::uint32_t kMb = 1 << 20;
  ProfSetup setup;
  setup.devices = {0, 1};
  CounterCapture capture(setup);
  for (const int device : {0, 1}) {
    const std::uint32_t factor = device == 0 ? 1 : 3;
    for (const std::uint64_t ms : {1ul, 2ul}) {
      for (const std::uint16_t die : {std::uint16_t{0}, std::uint16_t{1}}) {
        const auto record =
            sio(capture, ms * kSocMs, die, {kMb * factor * (die + 1u), 0, 0, 0, 0, 0, 0, 0});
        capture.device(kSoc, record.bytes(), device);
      }
    }
  }
  capture.process();
  CHECK(capture.samples("sio").front() == "0|SIO die 0|req_rx|MB/s|1000000|2000000|1048576");
  CHECK(capture.samples("sio").size() == 2 * 2 * 8);
  const Lines events = capture.events("SIO");
  CHECK(events.size() == 2 * 8);
  CHECK(std::count(events.begin(), events.end(),
                   event_line("req_rx", 2'000'000, "\"die 0\":1000.0,\"die 1\":2000.0")) == 1);
  CHECK(std::count(events.begin(), events.end(),
                   event_line("req_rx", 2'000'000, "\"die 0\":3000.0,\"die 1\":6000.0")) == 1);
  CHECK(capture.unified("SELECT deviceId, value, rxReq / 1048576, txDat FROM SIO JOIN STRING_IDS"
                        " ON id = name") ==
        Lines{"0|die 0|1000|0", "0|die 1|2000|0", "1|die 0|3000|0", "1|die 1|6000|0"});
}

TEST_CASE("chip transmissions: links and PCIe have separate events") {
  CounterCapture capture;
  const auto ticks = capture.setup().ticks_at(kSocMs);
  const std::initializer_list<std::uint64_t> values{7, 8};
  capture.device(kSoc, SocRecord(27, ticks, 63).put<std::uint16_t>(18, 65).put(32, values).bytes());
  capture.device(kSoc, SocRecord(27, ticks, 34).put<std::uint16_t>(18, 2).put(32, values).bytes());
  capture.device(kSoc, SocRecord(27, ticks, 1).put(32, values).bytes());
  capture.process();
  CHECK(capture.samples("stars_chip_trans") == Lines{"0|PA Link 1|PA Link Rx|||1000000|7",
                                                     "0|PA Link 1|PA Link Tx|||1000000|8",
                                                     "0|PCIE 2|PCIE Write Bandwidth|||1000000|7",
                                                     "0|PCIE 2|PCIE Read Bandwidth|||1000000|8"});
  CHECK(
      capture.events("Stars Chip Trans") ==
      Lines{
          event_line("PA Link Rx", 1'000'000, "\"PA Link Rx\":7,\"PA Link ID\":1"),
          event_line("PA Link Tx", 1'000'000, "\"PA Link Tx\":8,\"PA Link ID\":1"),
          event_line("PCIE Write Bandwidth", 1'000'000, "\"PCIE Write Bandwidth\":7,\"PCIE ID\":2"),
          event_line("PCIE Read Bandwidth", 1'000'000, "\"PCIE Read Bandwidth\":8,\"PCIE ID\":2")});
  CHECK(capture.findings("stars_soc_profile") ==
        Lines{"note stars_soc_profile: records of transmission type 1 present, not read x1"});
}

TEST_CASE("chips 15 and 16 have different SoC records") {
  ProfSetup setup = on_chip("15");
  setup.sample["qosEvents"] = "\"A,B\"";
  CounterCapture capture(setup);
  const auto ticks = [&](std::uint64_t ms) { return setup.ticks_at(ms * kSocMs); };
  constexpr std::uint32_t kMb = 1 << 20;
  for (const unsigned die : {0u, 2u, 3u}) {
    for (const std::uint64_t ms : {1ul, 2ul})
      capture.device(kSoc, SocRecord(25, ticks(ms), die)
                               .put<std::uint32_t>(28, {kMb, 0, 0, 0})
                               .put<std::uint32_t>(48, {0, 0, 0, 2 * kMb})
                               .bytes());
  }
  capture.device(kSoc, SocRecord(27, ticks(1), 1).put<std::uint64_t>(16, {UINT64_MAX, 9}).bytes());
  for (const unsigned die : {0u, 1u})
    capture.device(
        kSoc,
        SocRecord(24, ticks(1), die).put<std::uint32_t>(24, {1, 2, 30 + die, 40 + die}).bytes());
  capture.device(kSoc, SocRecord(29, ticks(1), 1).put<std::uint16_t>(24, {5, 1800}).bytes());
  capture.process();
  const Lines sio_events = capture.events("SIO");
  CHECK(std::count(sio_events.begin(), sio_events.end(),
                   event_line("dat_tx", 2'000'000,
                              "\"D-DIE0\":2000.0,\"U-DIE0\":2000.0,\"U-DIE1\":2000.0")) == 1);
  CHECK(capture.events("Stars Chip Trans") ==
        Lines{counter_event("PCIE Read Bandwidth", 1'000'000, "U-Die1", "9")});
  CHECK(capture.events("QoS") ==
        Lines{event_line("QoS A", 1'000'000, "\"die 0\":30,\"die 1\":31"),
              event_line("QoS B", 1'000'000, "\"die 0\":40,\"die 1\":41")});
  CHECK(capture.unified("SELECT value, bandwidth / 1048576, dieId FROM QOS JOIN STRING_IDS"
                        " ON id = eventName") ==
        Lines{"QoS A|30|0", "QoS B|40|0", "QoS A|31|1", "QoS B|41|1"});
  CHECK(capture.samples("low_power") == Lines{"0|Die 1|AI Core Freq Die 1|MHz||1000000|1800"});
  CHECK(capture.unified("SELECT freq FROM AICORE_FREQ WHERE dieId = 1") == Lines{"1800"});
  CHECK(capture.findings("stars_soc_profile").empty());
}

TEST_CASE("the SoC file: damaged, unknown and late records are counted, the rest is kept") {
  CounterCapture capture(on_chip("1"));
  const auto add = [&](const SocRecord& record) { capture.device(kSoc, record.bytes()); };
  add(sio(capture, 1 * kSocMs, 0, {1, 2, 3, 4, 5, 6, 7, 8}));
  add(sio(capture, 1 * kSocMs, 0, {1, 2, 3, 4, 5, 6, 7, 8}));
  add(SocRecord(26, 1).put<std::uint16_t>(2, 0x1234));
  add(acc_pmu(capture, 2 * kSocMs, 0, {1, 2, 3, 4}));
  add(SocRecord(26, UINT64_MAX));
  add(SocRecord(30, capture.setup().ticks_at(3 * kSocMs)));
  add(SocRecord(24, capture.setup().ticks_at(3 * kSocMs)));
  for (std::uint16_t accelerator = 1; accelerator <= 1100; ++accelerator)
    add(acc_pmu(capture, 4 * kSocMs, accelerator, {1, 2, 3, 4}));
  capture.device(kSoc, "cut");
  capture.process();
  CHECK(capture.samples("sio").empty());
  CHECK(capture.samples("acc_pmu").size() == 4 * 1024);
  CHECK(capture.findings("stars_soc_profile") ==
        Lines{"note stars_soc_profile: not expected on this chip x1",
              "PARTIAL stars_soc_profile: impossible time x1",
              "PARTIAL stars_soc_profile: bad magic x1",
              "PARTIAL stars_soc_profile: ends in the middle of a record x3",
              "PARTIAL stars_soc_profile: same time as the previous sample x1",
              "PARTIAL stars_soc_profile: more subjects than possible x77",
              "note stars_soc_profile: records of function 24 present, not read x1",
              "note stars_soc_profile: records of function 30 present, not read x1"});
}

TEST_CASE("QoS: a record has as many values as names, without overflow") {
  struct __attribute__((packed)) Qos {
    std::uint64_t none[2]{};
    std::uint64_t ticks;
    std::uint32_t bandwidth[10]{};
  };
  ProfSetup setup;
  setup.sample["qosEvents"] = "\"OTHERS, SDMA\"";
  CounterCapture capture(setup);
  // The second record continues in the next slice and has the earlier time.
  const Qos later{.ticks = setup.ticks_at(2 * kSocMs), .bandwidth = {4096, 7, 9}};
  const Qos earlier{.ticks = setup.ticks_at(1 * kSocMs), .bandwidth = {1, 2, 3}};
  capture.record("qos.data", later);
  const std::string bytes(reinterpret_cast<const char*>(&earlier), sizeof(earlier));
  capture.device("qos.data", bytes.substr(0, 30));
  capture.prof().next_slice("qos.data", 0);
  capture.device("qos.data", bytes.substr(30));
  capture.process();
  CHECK(capture.samples("qos") ==
        Lines{"0|QoS OTHERS|Bandwidth|MB/s||1000000|1", "0|QoS SDMA|Bandwidth|MB/s||1000000|2",
              "0|QoS OTHERS|Bandwidth|MB/s||2000000|4096", "0|QoS SDMA|Bandwidth|MB/s||2000000|7"});
  CHECK(capture.events("QoS").back() == counter_event("QoS SDMA", 2'000'000, "value", "7"));
  CHECK(capture.unified("SELECT value, bandwidth, timestampNs - 1700000000000000000, dieId FROM"
                        " QOS JOIN STRING_IDS ON id = eventName WHERE bandwidth > 4194304") ==
        Lines{"QoS OTHERS|4294967296|2000000|-1", "QoS SDMA|7340032|2000000|-1"});
  CHECK(capture.findings("qos").empty());
}

TEST_CASE("QoS: files without names, truncated or empty files are handled") {
  CounterCapture capture;
  capture.device("qos.data", SocRecord(0, 0).put<std::uint64_t>(16, 300'000'000).bytes());
  capture.device("qos.data", std::string(64, '\0'));
  capture.device("qos.data", SocRecord(0, 0).put<std::uint64_t>(16, 300'000'000).bytes() + "cut");
  capture.device("stars_soc_profile.data", "");
  capture.process();
  CHECK(capture.samples("qos").empty());
  CHECK(capture.events("QoS").empty());
  CHECK(capture.findings("qos") == Lines{"PARTIAL qos: impossible time x1",
                                         "PARTIAL qos: ends in the middle of a record x3",
                                         "PARTIAL qos: unknown events x2"});
  CHECK(capture.findings("stars_soc_profile").empty());
}

TEST_CASE("SoC PMU: tasks have their rates in file order") {
  ProfSetup setup;
  setup.devices = {0, 1};
  setup.sample["npuEvents"] = "\"HA:0x0,0x1;SMMU:0x2,0x8a,0x8c,0x8d\"";
  CounterCapture capture(setup);
  capture.record("socpmu.data", SocPmu{.stream = 5, .task = 9, .events = {1, 3, 1, 1}}, 1);
  capture.record("socpmu.data", SocPmu{.stream = 4, .task = 8, .events = {0, 128, 127, 1}});
  capture.record("socpmu.data", SocPmu{.stream = 3, .task = 7, .events = {5, 0, 1, 1}});
  capture.record("socpmu.data", SocPmu{.stream = 3, .task = 7, .type = 4, .events = {5}});
  capture.record("socpmu.data", SocPmu{.stream = 3, .task = 7, .type = 1, .events = {5}});
  capture.record("socpmu.data", SocPmu{.stream = 3, .task = 7, .type = 9, .events = {5}});
  capture.record("socpmu.data", SocPmu{.stream = 3, .task = 6, .events = {1, 128, 127, 0}});
  capture.device("socpmu.data", "cut");
  capture.process();
  CHECK(capture.header("soc_pmu") == "Device_id,Stream Id,Task Id,TLB Hit Rate,TLB Miss Rate");
  CHECK(capture.table("soc_pmu") ==
        Lines{"0|4|8|1.0|0.0", "0|3|7|0|0", "0|3|6|0.992188|0.007812", "1|5|9|0.666667|0.333333"});
  CHECK(capture.store("SELECT count(*), count(time_ns), count(DISTINCT track_id) FROM counter JOIN"
                      " track ON track.id = track_id JOIN name ON name.id = kind_name_id WHERE"
                      " text = 'soc_pmu'") == Lines{"24|0|12"});
  CHECK(capture.findings("socpmu") == Lines{"PARTIAL socpmu: unknown type x1",
                                            "PARTIAL socpmu: ends in the middle of a record x3",
                                            "note socpmu: records of the HA present, not read x1"});
  CHECK(capture.header("page_fault") == "Device Id,Stream Id,Task Id,Page Fault Num,Op Name");
  CHECK(capture.table("page_fault") == Lines{"0|3|7|5|N/A"});
}

TEST_CASE("SoC PMU: task ids of chips 15 and 16 have 32 bits") {
  ProfSetup setup = on_chip("16");
  setup.sample["npuEvents"] = "\"SMMU:0x8d,0x8c,0x8a,0x2\"";
  CounterCapture capture(setup);
  capture.record("socpmu.data", LaterSocPmu{.stream = 5, .task = 100'000, .events = {1, 1, 4, 2}});
  capture.process();
  CHECK(capture.table("soc_pmu") == Lines{"0|5|100000|0.5|0.5"});
}

TEST_CASE("SoC PMU: there is no table if an event was not counted or the events are unknown") {
  for (const char* events : {"\"SMMU:0x2,0x8a,0x8c,0x2\"", "\"HA:0x1\""}) {
    ProfSetup setup;
    setup.sample["npuEvents"] = events;
    CounterCapture capture(setup);
    capture.record("socpmu.data", SocPmu{.stream = 4, .task = 8, .events = {1, 2, 3, 4}});
    capture.process();
    CHECK(capture.table("soc_pmu").empty());
    const bool is_named = std::string(events).find("SMMU") != std::string::npos;
    CHECK(capture.findings("socpmu") ==
          (is_named ? Lines{} : Lines{"PARTIAL socpmu: unknown events x1"}));
  }
  CounterCapture capture;
  capture.device("socpmu.data", "");
  capture.process();
  CHECK(capture.findings("socpmu").empty());
}

TEST_CASE("UB: each port and sample has a row and an event") {
  CounterCapture capture(on_chip("15"));
  capture.record("ub.data", Ub{.port = 12, .us = 1000, .values = {5, 6, 7}});
  capture.record("ub.data", Ub{.port = 3, .us = 1000, .values = {1, 2}});
  capture.record("ub.data", Ub{.port = 3, .us = UINT64_MAX, .values = {1, 2}});
  capture.device("ub.data", "cut");
  capture.process();
  CHECK(capture.header("ub") ==
        "Device_id,PortId,TimeStamp,UBRxPortBandWidth(MB/s),UBTxPortBandWidth(MB/s)");
  CHECK(capture.table("ub") ==
        Lines{"0|12|" + at(1'000'000) + "|5|6", "0|3|" + at(1'000'000) + "|1|2"});
  CHECK(capture.events("UB") ==
        Lines{event_line("UB Port003", 1'000'000,
                         "\"bandwidth_rx(MB/s)\":1,\"bandwidth_tx(MB/s)\":2"),
              event_line("UB Port012", 1'000'000,
                         "\"bandwidth_rx(MB/s)\":5,\"bandwidth_tx(MB/s)\":6")});
  CHECK(capture.samples("ub").size() == 28);
  CHECK(capture.samples("ub")[2] == "0|UB Port012|rx_port_bandwidth|||1000000|7");
  CHECK(capture.findings("ub") ==
        Lines{"PARTIAL ub: impossible time x1", "PARTIAL ub: ends in the middle of a record x3"});
}
