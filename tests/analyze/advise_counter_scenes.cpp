#include "analyze/advise_counter_scenes.hpp"

namespace msprof::test {

namespace {

constexpr std::int64_t kMebibyte = 1 << 20;
// Start of the first operator of each scene.
constexpr std::int64_t kFirstOpUs = 2'000'000;

// Bytes moved in 100 us at `mb_per_s`.
constexpr std::int64_t bandwidth_bytes(std::int64_t mb_per_s) {
  return mb_per_s * kMebibyte / 10'000;
}

// The device computes in the first half of a second and is idle in the second half.
std::unique_ptr<OperatorScene> half_busy() {
  auto scene = std::make_unique<OperatorScene>();
  scene->add_overlap(0, 0, 500'000);
  scene->add_overlap(3, 500'000, 1'000'000);
  return scene;
}

}  // namespace

// The first operator waits for memory and moves 90.6 % (met) or 87.5 % of the peak bandwidth; the
// second one, which computes, reaches the peak.
ScenePtr of_bandwidth(bool is_met) {
  auto scene = std::make_unique<OperatorScene>();
  scene->add({"load", "Add", "AI_CORE", 100, 0, 8, {{"vec", 0.3}, {"mte2", 0.6}}});
  scene->add({"mm", "MatMul", "AI_CORE", 100, 0, 8, {{"mac", 0.9}, {"mte2", 0.1}}});
  for (const char* const counter : {"Read", "Write"}) {
    const auto track = scene->add_track({"hbm", "HBM 0", counter, "MB/s", kMebibyte, true});
    scene->add_interval(track, kFirstOpUs - 100, kFirstOpUs, 0);
    scene->add_interval(track, kFirstOpUs, kFirstOpUs + 100,
                        bandwidth_bytes(is_met ? 18'125 : 17'500));
    scene->add_interval(track, kFirstOpUs + 100, kFirstOpUs + 200, bandwidth_bytes(20'000));
  }
  return scene;
}

ScenePtr of_cache(bool is_met) {
  auto scene = std::make_unique<OperatorScene>();
  const auto hits = scene->add_track({"llc", "LLC 0 Read", "Hit Rate", "%", 1000});
  const auto moved = scene->add_track({"llc", "LLC 0 Read", "Throughput", "MB/s", kMebibyte, true});
  for (std::int64_t i = 0; i < 12; ++i) {
    const bool is_idle = i >= 10;  // no accesses, so no hits either
    scene->add_interval(hits, 100 * i, 100 * i + 100, is_idle ? 0 : is_met ? 49'000 : 50'000);
    scene->add_interval(moved, 100 * i, 100 * i + 100, is_idle ? 0 : bandwidth_bytes(2'000));
  }
  return scene;
}

// Two CPUs: while the device is idle, the process uses 90 % (met) or 89 % of one CPU.
ScenePtr of_host_cpu(bool is_met) {
  auto scene = half_busy();
  const auto track = [&](const char* subject) {
    return scene->add_track({"host_cpu", subject, "Usage", "%", 1, false, true});
  };
  const auto first = track("CPU 0"), second = track("CPU 1"), mean = track("CPU Avg");
  scene->add_interval(first, 0, 600'000, 30);
  scene->add_interval(mean, 0, 600'000, 95);
  scene->add_interval(first, 600'000, 1'000'000, 60);
  scene->add_interval(second, 600'000, 1'000'000, is_met ? 30 : 29);
  return scene;
}

ScenePtr of_disk(bool is_met) {
  auto scene = half_busy();
  const auto usage = scene->add_track({"host_disk", "Disk", "Usage", "%", 1, false, true});
  const auto read = scene->add_track({"host_disk", "Disk", "Read", "KB/s", 1024, false, true});
  for (std::int64_t i = 0; i <= 10; ++i) {
    scene->add_sample(usage, 100'000 * i, i <= 6 ? 10 : is_met ? 50 : 49);
    scene->add_sample(read, 100'000 * i, 99 << 20);
  }
  return scene;
}

// 20 steps. The rule ignores the first tenth; in 17 of the remaining steps memory grows.
ScenePtr of_growing_memory(bool is_met) {
  auto scene = std::make_unique<OperatorScene>();
  const auto track = [&](const char* counter) {
    return scene->add_track({"npu_mem", "NPU MEM APP", counter, "KB", 1024});
  };
  const auto ddr = track("DDR"), hbm = track("HBM"), both = track("Memory");
  const std::int64_t more = is_met ? kMebibyte : kMebibyte * 9 / 10;
  for (std::int64_t step = 1; step <= 20; ++step) {
    scene->add_iteration(step, 1000 * step, 1000 * step + 900);
    const std::int64_t bytes = 256 * kMebibyte + step * more;
    scene->add_sample(ddr, 1000 * step + 500, 0);
    scene->add_sample(hbm, 1000 * step + 500, bytes);
    scene->add_sample(both, 1000 * step + 500, bytes);
  }
  return scene;
}

ScenePtr of_network_errors(bool is_met) {
  auto scene = std::make_unique<OperatorScene>();
  const auto errors = scene->add_track({"roce", "Port 0", "Rx Errors", "packets"});
  const auto packets = scene->add_track({"roce", "Port 0", "Rx Packets", "packets"});
  for (std::int64_t i = 0; i < 4; ++i) {
    scene->add_sample(errors, 100 * i, is_met && i == 2 ? 7 : 5);
    scene->add_sample(packets, 100 * i, 1000 * i);
  }
  return scene;
}

ScenePtr of_network_pressure(bool is_met) {
  auto scene = std::make_unique<OperatorScene>();
  const auto retries =
      scene->add_track({"netdev_stats", "RoCE", "New Packet Retries", "packets/s", 1, true});
  const auto sent = scene->add_track({"netdev_stats", "RoCE", "Tx Packets", "packets/s", 1, true});
  for (std::int64_t i = 0; i < 4; ++i) {
    scene->add_interval(retries, 100 * i, 100 * i + 100, is_met && i == 2 ? 3 : 0);
    scene->add_interval(sent, 100 * i, 100 * i + 100, 1000);
  }
  return scene;
}

// The frequency drops three times; the voltage drops with all three (met), or with only two.
ScenePtr of_voltage(bool is_met) {
  auto scene = std::make_unique<OperatorScene>();
  scene->add_overlap(0, 0, 1'000'000);
  const auto mhz = scene->add_track({"lpm_freq", "AI Core", "AI Core Freq", "MHz"});
  const auto mv = scene->add_track({"lpm_freq", "AI Core", "Aicore Voltage", "mV"});
  for (std::int64_t i = 0; i < 3; ++i) {
    const std::int64_t begin_us = 300'000 * i;
    const bool has_voltage = i > 0 || is_met;
    scene->add_sample(mhz, begin_us, 1000);
    scene->add_sample(mhz, begin_us + 100'000, 950);
    scene->add_sample(mv, begin_us, 900);
    scene->add_sample(mv, begin_us + (has_voltage ? 105'000 : 200'000), 850);
  }
  return scene;
}

}  // namespace msprof::test
