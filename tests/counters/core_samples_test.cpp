// Core counters sampled over time; frequencies and voltages of other chips.
#include <catch2/catch.hpp>
#include <cstring>

#include "counters/counter_capture.hpp"

using namespace msprof::test;
using prof::ProfSetup;

namespace {

template <std::size_t kEvents>
struct __attribute__((packed)) SampleOf {
  std::uint8_t mode = 1, none_1 = 0;
  std::uint16_t none_2[3]{};
  std::uint64_t events[kEvents]{};
  std::uint64_t cycles = 0, time = 0;
  std::uint8_t count = kEvents, core = 0;
  std::uint8_t tail[6]{};
};
using Sample = SampleOf<8>;
using LaterSample = SampleOf<10>;

ProfSetup sampled(const std::string& platform) {
  ProfSetup setup;
  setup.platform = platform;
  setup.aic_metrics = "PipeUtilization";
  setup.aic_events = prof::kPipeEvents;
  setup.sample["ai_core_profiling_mode"] = setup.sample["aiv_profiling_mode"] = "\"sample-based\"";
  return setup;
}

// A sample `ns` after the start of the device. Events in order: vec, mac, scalar, mte1, mte2, mte3,
// icache.
Sample sample_at(const ProfSetup& setup, std::uint64_t ns, std::uint8_t core,
                 std::uint64_t cycles) {
  Sample sample{.cycles = cycles, .time = setup.device_monotonic_ns + ns, .core = core};
  const std::uint64_t parts[] = {4, 2, 8, 10, 5, 20};
  for (std::size_t i = 0; i < 6; ++i) sample.events[i] = cycles / parts[i];
  sample.events[6] = 8;
  sample.events[7] = 2;
  return sample;
}

constexpr std::uint64_t kMs = 1'000'000;

}  // namespace

TEST_CASE("sampled cores: utilization is per interval, metrics are for the whole run") {
  const ProfSetup setup = sampled("4");
  CounterCapture capture(setup);
  // 1000 MHz: 1,000,000 cycles per millisecond.
  capture.record("aicore.data", sample_at(setup, 1 * kMs, 0, 400'000));
  capture.record("aicore.data", sample_at(setup, 1 * kMs, 2, 200'000));
  capture.record("aicore.data", sample_at(setup, 2 * kMs, 0, 600'000));
  capture.record("aicore.data", sample_at(setup, 2 * kMs + 500, 2, 200'000));
  capture.record("aicore.data", sample_at(setup, 4 * kMs, 0, 600'000));
  capture.record("aiVectorCore.data", sample_at(setup, 1 * kMs, 1, 100));
  capture.process();
  CHECK(capture.header("ai_core_utilization") ==
        "Device_id,Core ID,vec_ratio,mac_ratio,scalar_ratio,mte1_ratio,mte2_ratio,mte3_ratio,"
        "icache_miss_rate,memory_bound");
  CHECK(capture.table("ai_core_utilization") ==
        Lines{"0|Core0|0.25|0.5|0.125|0.1|0.2|0.05|0.25|0.4",
              "0|Core2|0.25|0.5|0.125|0.1|0.2|0.05|0.25|0.4",
              "0|Average|0.25|0.5|0.125|0.1|0.2|0.05|0.25|0.4"});
  CHECK(capture.table("ai_vector_core_utilization").size() == 2);
  // The first sample of a core has no known interval.
  CHECK(capture.events("AI Core Utilization") ==
        Lines{counter_event("Core 0", 2'000'000, "Utilization(%)", "\"60.000000\""),
              counter_event("Core 2", 2'000'500, "Utilization(%)", "\"19.990005\""),
              counter_event("Average", 2'000'000, "Utilization(%)", "\"39.995002\""),
              counter_event("Core 0", 4'000'000, "Utilization(%)", "\"30.000000\""),
              counter_event("Average", 4'000'000, "Utilization(%)", "\"30.000000\"")});
  CHECK(capture.unified("SELECT timestampNs - 1700000000000000000, totalCycle, usage, freq, coreId,"
                        " value FROM SAMPLE_PMU_TIMELINE JOIN STRING_IDS ON id = coreType"
                        " WHERE coreId < 2") ==
        Lines{"1000000|400000|NULL|1000|0|AIC", "2000000|600000|60|1000|0|AIC",
              "4000000|600000|30|1000|0|AIC", "1000000|100|NULL|1000|1|AIV"});
  CHECK(capture.unified("SELECT m.value, p.value FROM SAMPLE_PMU_SUMMARY AS p JOIN STRING_IDS AS m"
                        " ON m.id = metric WHERE coreId = 0 LIMIT 2") ==
        Lines{"total_time|1600000000", "vec_ratio|0.25"});
  CHECK(capture.findings().empty());
}

TEST_CASE("sampled cores: a 910B has both kinds of cores in one file, distinguished by number") {
  const ProfSetup setup = sampled("5");
  CounterCapture capture(setup);
  for (const std::uint8_t core : {std::uint8_t{24}, std::uint8_t{25}})
    for (const std::uint64_t ms : {1ul, 2ul})
      capture.record("ffts_profile.data", sample_at(setup, ms * kMs, core, 1000));
  capture.device("ffts_profile.data", std::string(2 * sizeof(Sample), '\0'));
  capture.process();
  CHECK(capture.table("ai_core_utilization").front().starts_with("0|Core24|0.25|0.5|"));
  CHECK(capture.table("ai_vector_core_utilization").front().starts_with("0|Core25|0.25|0.5|"));
  CHECK(capture.events("AI Core Utilization").front() ==
        counter_event("Core 24", 2'000'000, "Utilization(%)", "\"0.100000\""));
  CHECK(capture.findings("core_samples").empty());
}

TEST_CASE("sampled cores: chips 15 and 16 have ten events and times in ticks") {
  ProfSetup setup = sampled("15");
  setup.aic_events = setup.aiv_events = "0x501,0x301,0x1,0x701,0x202,0x203,0x34,0x35,0x714,0x0";
  CounterCapture capture(setup);
  for (const std::uint64_t ms : {1ul, 2ul}) {
    LaterSample sample{.cycles = 1000, .time = setup.ticks_at(ms * kMs), .core = 36};
    sample.events[0] = 500;
    capture.record("ffts_profile.data", sample);
  }
  capture.process();
  CHECK(capture.table("ai_vector_core_utilization").front().starts_with("0|Core36|0.5|0.0|"));
  CHECK(capture.samples("ai_vector_core_utilization").front() ==
        "0|AI Vector Core 36|Utilization|%||1000000|1000");
  CHECK(capture.samples("ai_vector_core_utilization")[12] ==
        "0|AI Vector Core 36|0x501|M/s|1000000|2000000|500");
}

TEST_CASE("sampled cores: AI cores can be sampled while vector cores are measured per task") {
  ProfSetup setup = sampled("4");
  setup.sample["aiv_profiling_mode"] = "\"task-based\"";
  CounterCapture capture(setup);
  capture.record("aicore.data", sample_at(setup, kMs, 0, 1000));
  capture.record("aiVectorCore.data", sample_at(setup, kMs, 0, 1000));
  capture.process();
  CHECK(capture.samples("ai_core_utilization").size() == 9);
  CHECK(capture.samples("ai_vector_core_utilization").empty());
  CHECK(capture.report().kinds().count("vector_core_samples") == 0);
  CHECK(capture.report().kinds().count("aicore") == 1);
}

TEST_CASE("sampled cores: damaged records are counted, the rest is kept") {
  const ProfSetup setup = sampled("1");
  CounterCapture capture(setup);
  capture.record("aicore.data", sample_at(setup, 1 * kMs, 0, 1000));
  Sample no_sample = sample_at(setup, 2 * kMs, 0, 1000);
  no_sample.count = 200;
  capture.record("aicore.data", no_sample);
  capture.record("aicore.data", sample_at(setup, 2 * kMs, 0, 1000));
  // Two samples at the same time: the counts are kept, but no interval is made.
  capture.record("aicore.data", sample_at(setup, 2 * kMs, 0, 3000));
  capture.record("aicore.data", sample_at(setup, 3 * kMs, 0, UINT64_MAX));
  capture.device("aicore.data", "cut");
  capture.process();
  CHECK(capture.samples("ai_core_utilization").size() == 4 * 9);
  CHECK(capture.events("AI Core Utilization").size() == 2 * 2);
  CHECK(capture.unified("SELECT count(*) FROM SAMPLE_PMU_TIMELINE") == Lines{"3"});
  CHECK(capture.findings("core_samples") ==
        Lines{"PARTIAL core_samples: not a sample x1",
              "PARTIAL core_samples: ends in the middle of a record x3",
              "PARTIAL core_samples: same time as the previous sample x1"});
}

TEST_CASE("sampled cores: an empty file and samples of unknown events are handled") {
  ProfSetup setup = sampled("1");
  CounterCapture empty(setup);
  empty.device("aicore.data", "");
  empty.process();
  CHECK(empty.table("ai_core_utilization").empty());
  CHECK(empty.findings("core_samples").empty());
  setup.aic_events.clear();
  CounterCapture capture(setup);
  for (const std::uint64_t ms : {1ul, 2ul})
    capture.record("aicore.data", sample_at(setup, ms * kMs, 0, 500'000));
  capture.process();
  CHECK(capture.table("ai_core_utilization").empty());
  CHECK(capture.events("AI Core Utilization").front() ==
        counter_event("Core 0", 2'000'000, "Utilization(%)", "\"50.000000\""));
}

TEST_CASE("voltages of an unexpected chip are read and reported") {
  struct __attribute__((packed)) Changes {
    std::uint32_t count = 1, type = 1;
    struct __attribute__((packed)) {
      std::uint64_t ticks = 0;
      std::uint32_t value = 0, none = 0;
    } entries[55];
  };
  ProfSetup setup;
  setup.platform = "1";
  CounterCapture capture(setup);
  Changes changes;
  changes.entries[0].ticks = setup.ticks_at(kMs);
  changes.entries[0].value = 850;
  capture.record("lpmInfoConv.data", changes);
  capture.process();
  CHECK(capture.samples("lpm_freq").front() == "0|AI Core|Aicore Voltage|mV||1000000|850");
  CHECK(capture.findings("lpm_freq") == Lines{"note lpm_freq: not expected on this chip x1"});
}
