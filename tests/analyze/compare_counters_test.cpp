// System counters in comparisons: changes beyond the runs' own noise are distinguished from noise.
#include <catch2/catch.hpp>
#include <functional>

#include "analyze/advise_scenes.hpp"
#include "analyze/compare/compare.hpp"

using namespace msprof;
using namespace msprof::test;

namespace {

constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kSamples = 64;
constexpr std::int64_t kStepUs = 1000;

// Bytes counted in one step at `mb_per_s`.
constexpr std::int64_t counted_bytes(std::int64_t mb_per_s) {
  return mb_per_s * kMiB / 1000;
}

using Fill = std::function<void(OperatorScene&)>;

RunProfile make_run(const Fill& fill) {
  OperatorScene scene;
  scene.add({"mm", "MatMul"});
  fill(scene);
  return read_run(scene.db(), "PROF_1", false, ProfileUnit::whole_run);
}

// A channel whose rate alternates between `mean` + `sway` and `mean` - `sway` MB/s.
void add_channel(OperatorScene& scene, const char* counter, std::int64_t mean,
                 std::int64_t sway = 20) {
  const auto track = scene.add_track({"hbm", "HBM 0", counter, "MB/s", kMiB, true});
  for (std::int64_t i = 0; i < kSamples; ++i)
    scene.add_interval(track, kStepUs * i, kStepUs * (i + 1),
                       counted_bytes(i % 2 == 0 ? mean + sway : mean - sway));
}

RunProfile run_of_channels(std::int64_t read, std::int64_t write, std::int64_t sway = 20) {
  return make_run([&](OperatorScene& scene) {
    add_channel(scene, "Write", write, sway);
    add_channel(scene, "Read", read, sway);
  });
}

const CounterChange& find_change(const Comparison& comparison, const std::string& name) {
  for (const CounterChange& change : comparison.counters) {
    if (change.name == name) return change;
  }
  FAIL("no counter " << name);
  return comparison.counters.front();
}

}  // namespace

TEST_CASE("changed counters are listed before those within noise") {
  const Comparison comparison =
      compare({run_of_channels(1000, 1000)}, {run_of_channels(1500, 1050)});
  REQUIRE(comparison.counters.size() == 2);
  const CounterChange& read = comparison.counters[0];
  CHECK(read.name == "HBM 0 Read");
  CHECK(read.device == "device");
  CHECK(read.kind == "hbm");
  CHECK(read.unit == "MB/s");
  CHECK(read.mean.base == Approx(1000).epsilon(1e-4));
  CHECK(read.mean.now == Approx(1500).epsilon(1e-4));
  CHECK(read.mean.percent().value() == Approx(50).epsilon(1e-3));
  CHECK(read.mean.noise == Approx(150).epsilon(1e-3));  // a tenth of `now`
  CHECK(read.base_samples == kSamples);
  CHECK_FALSE(read.mean.is_noise());
  CHECK(comparison.counters[1].name == "HBM 0 Write");
  CHECK(comparison.counters[1].mean.is_noise());
}

TEST_CASE("the variation between time ranges of a run is the noise between two single runs") {
  const auto run = [](std::int64_t low, std::int64_t high) {
    return make_run([&](OperatorScene& scene) {
      const auto track = scene.add_track({"hbm", "HBM 0", "Read", "MB/s", kMiB, true});
      // Each level is held for 1/16 of the run.
      for (std::int64_t i = 0; i < kSamples; ++i)
        scene.add_interval(track, kStepUs * i, kStepUs * (i + 1),
                           counted_bytes(i / 4 % 2 == 0 ? low : high));
    });
  };
  CHECK(compare({run(500, 1500)}, {run(900, 1700)}).counters[0].mean.is_noise());
  CHECK_FALSE(compare({run(980, 1020)}, {run(1280, 1320)}).counters[0].mean.is_noise());
}

TEST_CASE("with several runs, the differences between runs of one side are the noise") {
  const auto run = [](std::int64_t read) { return run_of_channels(read, 1000); };
  // The noise is twice the largest difference within one side: 400.
  CHECK(compare({run(900), run(1100)}, {run(1350), run(1390)}).counters[0].mean.is_noise());
  CHECK_FALSE(compare({run(990), run(1010)}, {run(1350), run(1390)}).counters[0].mean.is_noise());
  const Comparison many =
      compare({run(1000), run(1001), run(999)}, {run(1040), run(1041), run(1039)});
  // 4 %: a comparison of fewer runs would treat it as noise
  CHECK_FALSE(find_change(many, "HBM 0 Read").mean.is_noise());
  CHECK(compare({run(1000)}, {run(1040)}).counters[0].mean.is_noise());
}

TEST_CASE("a change that is small beside the other counters of its kind is noise") {
  const auto run = [](std::int64_t idle_percent) {
    return make_run([&](OperatorScene& scene) {
      for (const auto& [cpu, percent] :
           {std::pair{"CPU 0", std::int64_t{90}}, {"CPU 1", idle_percent}}) {
        const auto track = scene.add_track({"host_cpu", cpu, "Usage", "%", 1, false, true});
        for (std::int64_t i = 0; i < kSamples; ++i)
          scene.add_interval(track, kStepUs * i, kStepUs * (i + 1), percent);
      }
    });
  };
  CHECK(find_change(compare({run(1)}, {run(2)}), "CPU 1 Usage").mean.is_noise());
  const CounterChange busier = find_change(compare({run(1)}, {run(20)}), "CPU 1 Usage");
  CHECK_FALSE(busier.mean.is_noise());
  CHECK(busier.device == "host");
}

TEST_CASE("values are weighted by their duration, and totals count by their growth per second") {
  const auto run = [](std::int64_t packets_before, std::int64_t packets_per_step) {
    return make_run([&](OperatorScene& scene) {
      const auto mhz = scene.add_track({"lpm_freq", "AI Core", "AI Core Freq", "MHz"});
      scene.add_sample(mhz, 0, 1000);
      scene.add_sample(mhz, 9000, 500);
      scene.add_sample(mhz, 10'000, 1000);
      const auto packets = scene.add_track({"roce", "Port 0", "Rx Packets", "packets"});
      for (std::int64_t i = 0; i < kSamples; ++i)
        scene.add_sample(packets, kStepUs * i, packets_before + packets_per_step * i);
    });
  };
  const Comparison same = compare({run(0, 10)}, {run(1'000'000, 10)});
  const CounterChange mhz = find_change(same, "AI Core Freq");
  CHECK(mhz.mean.base == Approx(950));
  const CounterChange packets = find_change(same, "Port 0 Rx Packets");
  CHECK(packets.unit == "packets/s");
  CHECK(packets.mean.base == Approx(10'000));
  CHECK(packets.mean.is_noise());
  CHECK_FALSE(
      find_change(compare({run(0, 10)}, {run(0, 20)}), "Port 0 Rx Packets").mean.is_noise());
}

TEST_CASE("processes are identified by name, and two with the same name are not distinguished") {
  const auto run = [](std::initializer_list<const char*> subjects) {
    return make_run([&](OperatorScene& scene) {
      for (const char* const subject : subjects) {
        const auto track = scene.add_track(
            {"process_cpu_usage", subject, "utime", "s", 100, false, true, "python3"});
        for (std::int64_t i = 0; i < kSamples; ++i) scene.add_sample(track, kStepUs * i, i);
      }
    });
  };
  const Comparison comparison = compare({run({"python3 (7)"})}, {run({"python3 (8)"})});
  REQUIRE(comparison.counters.size() == 1);
  CHECK(comparison.counters[0].name == "python3 utime");
  CHECK(comparison.counters[0].unit == "s/s");
  CHECK(comparison.counters[0].mean.base == Approx(10));
  CHECK(compare({run({"python3 (7)", "python3 (8)"})}, {run({"python3 (9)"})}).counters.empty());
}

TEST_CASE("counters of only one side are not compared") {
  const RunProfile read_only =
      make_run([](OperatorScene& scene) { add_channel(scene, "Read", 9); });
  const Comparison comparison = compare({run_of_channels(9, 9)}, {read_only});
  REQUIRE(comparison.counters.size() == 1);
  CHECK(comparison.counters[0].name == "HBM 0 Read");
  CHECK(compare({read_only}, {make_run([](OperatorScene&) {})}).counters.empty());
}
