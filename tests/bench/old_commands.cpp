// old_commands MSPROF FOLDER [RECORDS]: import of a CANN 5 capture and of a JOB folder of 2020,
// with RECORDS records in the task log. Compares them with a bare insert of the same rows, and with
// the import rate of a newer capture of the same chip; prints medians of three rounds. Source:
// cann5_classic.md 5, 6.
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "cann_baselines.hpp"
#include "command_runs.hpp"
#include "support/prof/prof_run.hpp"

namespace {

namespace fs = std::filesystem;
using namespace msprof::bench;
using namespace msprof::test::prof;

constexpr int kRounds = 3;
constexpr std::uint64_t kTasksOfModel = 1000;  // per execution
constexpr std::uint64_t kFirstTick = 1'000'000;
constexpr std::uint32_t kStream = 3;
constexpr std::uint16_t kFirstTask = 30'000;  // identifies an operator without its stream
constexpr std::uint16_t kTaskMark = 0x6BD3;

template <typename... Numbers>
void put(std::string& out, Numbers... numbers) {
  (out.append(reinterpret_cast<const char*>(&numbers), sizeof(numbers)), ...);
}

void fill(std::string& out, std::size_t record) {
  out.resize((out.size() + record - 1) / record * record);
}

void write(const fs::path& path, const std::string& bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

std::uint16_t task_at(std::uint64_t i) {
  return static_cast<std::uint16_t>(kFirstTask + i % kTasksOfModel);
}

// Paths and file names of the parts of a capture.
struct Names {
  fs::path info, data;
  std::string hwts, aicore;
};

void write_device(const Names& names, std::uint64_t records) {
  write(names.info / "info.json.0",
        R"({"platform_version": "1", "pid": "7", "DeviceInfo": [{"hwts_frequency": "100",)"
        R"( "aic_frequency": "1000", "ai_core_num": 32}]})");
  write(names.info / "host_start.log.0",
        "[Device0]\nclock_realtime: 1600000000000000000\nclock_monotonic_raw: 50000000000\n");
  write(names.info / "dev_start.log.0",
        "clock_realtime: 1600000000000000000\nclock_monotonic_raw: 50000000000\n"
        "cntvct: 1000000\n");
  write(names.info / "sample.json",
        R"({"ai_core_profiling_mode": "task-based",)"
        R"( "ai_core_profiling_events": "0x8,0xa,0x9,0xb,0xc,0xd,0x54,0x55"})");
  write(names.info / "start_info.0", R"({"collectionTimeBegin": "1600000000000000",)"
                                     R"( "clockMonotonicRaw": "50000000000"})");
  std::string hwts, aicore;
  for (std::uint64_t i = 0; i < records; ++i) {
    put(hwts, static_cast<std::uint8_t>(i % 2 | i % 16 << 4), std::uint8_t{0}, kTaskMark,
        std::uint16_t{0}, task_at(i / 2), kFirstTick + 500 * (i + 1), kStream);
    fill(hwts, 64);
    if (i % 2 == 0) continue;
    put(aicore, static_cast<std::uint8_t>(i / 2 % 16 << 4), std::uint8_t{0}, kTaskMark,
        std::uint16_t{0}, task_at(i / 2), std::uint64_t{0}, std::uint64_t{9000 + i % 77},
        std::uint64_t{0});
    for (std::uint64_t slot = 0; slot < 8; ++slot) put(aicore, 100 * slot + i % 99);
    put(aicore, kStream);
    fill(aicore, 128);
  }
  write(names.data / (names.hwts + ".slice_0"), hwts);
  write(names.data / (names.aicore + ".slice_0"), aicore);
}

fs::path make_cann5(const fs::path& home, std::uint64_t records) {
  const fs::path folder = home / "PROF_5";
  const fs::path data = folder / "device_0" / "data";
  write_device({folder / "device_0", data, "hwts.data.0", "aicore.data.0"}, records);
  std::string tasks, steps, calls;
  for (std::uint64_t i = 0; i < kTasksOfModel; ++i) {
    const std::string name = fmt::format("net/op{}", i);
    put(tasks, std::uint16_t{0x5A5A}, std::uint16_t{23}, 0U, std::uint64_t{1});
    tasks += name + std::string(120 - name.size(), '\0');
    put(tasks, std::uint64_t{1});
    tasks += "Conv2D" + std::string(50, '\0');
    put(tasks, std::uint64_t{0}, 1000 + i, 0U, 8U, 1U, kStream, task_at(i), std::uint16_t{0});
    fill(tasks, 256);
  }
  for (std::uint64_t i = 0; i < records / 2; i += kTasksOfModel) {
    const std::uint64_t begin = kFirstTick + 1000 * i + 1;
    for (const auto& [tick, tag] : {std::pair(begin, std::uint16_t{0}),
                                    std::pair(begin + 1000 * kTasksOfModel, std::uint16_t{1})}) {
      put(steps, std::uint8_t{0}, std::uint8_t{10}, std::uint16_t{40}, 0U, tick, std::uint64_t{1},
          std::uint64_t{1}, std::uint16_t{3}, std::uint16_t{1}, tag);
      fill(steps, 40);
    }
    put(calls, std::uint16_t{0x5A5A}, std::uint16_t{0}, 2U, 50'000'000'000 + begin,
        50'000'000'900 + begin, 7U, 8U);
    calls += "aclmdlExecute";
    fill(calls, 128);
  }
  write(data / "Framework.task_desc_info.0.slice_0", tasks);
  write(data / "ts_track.data.0.slice_0", steps);
  write(data / "AclModule.acl_model.0.slice_0", calls);
  return folder;
}

fs::path make_job(const fs::path& home, std::uint64_t records) {
  const fs::path folder = home / "JOBABC";
  const std::string tag = ".dev.profiler_default_tag.0";
  write_device({folder, folder / "data", "hwts.log.data.45" + tag, "aicore.data.43" + tag},
               records);
  std::string tasks, graph;
  for (std::uint64_t i = 0; i < kTasksOfModel; ++i) {
    tasks += fmt::format("Default/Conv2D-op{} 8 {} 15\n", i, task_at(i));
    graph += fmt::format(
        "op_name:Default/Conv2D-op{} op_type:Conv2D input_id:0 input_format:NC1HWC0 "
        "input_data_type:40 input_shape:\"1,2\"\n",
        i);
  }
  write(folder / "data/Framework.host.vm.task_desc_info.0.slice_0", tasks);
  write(folder / "data/Framework.host.vm.graph_desc_info.0.slice_0", graph);
  return folder;
}

struct Measured {
  double rows_per_second = 0;
};

Measured measure(const std::string& msprof, const fs::path& home, const fs::path& folder,
                 const std::string& name) {
  const fs::path out = home / "out";
  const fs::path store = out / "sqlite" / "msprof.db";
  std::vector<CommandRun> imports;
  std::vector<double> inserts;
  for (int round = 0; round < kRounds; ++round) {
    fs::remove_all(out);
    imports.push_back(
        run_command({msprof, "import", "-q", "-dir", folder.string(), "--output", out.string()}));
    inserts.push_back(bare_copy_seconds(store, home / "bare.db"));
  }
  const double rows = static_cast<double>(rows_in(store));
  const double seconds = median_seconds(imports);
  fmt::print(
      "  {:<18}  {:6.2f} x the rate of a bare insert of the same {:.2f} M rows: {:.2f} s, bare "
      "{:.2f} s, peak {:.0f} MB (goal 512)\n",
      name, median(inserts) / seconds, rows / 1e6, seconds, median(inserts), peak_mb(imports));
  fs::remove_all(out);
  return {rows / seconds};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: old_commands MSPROF FOLDER [RECORDS]\n");
    return 2;
  }
  const fs::path home = fs::path(argv[2]) / "old_commands";
  const std::uint64_t records = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1'000'000;
  fs::remove_all(home);
  fmt::print("old captures, {} records of tasks, medians of {} rounds\n", records, kRounds);
  RunShape shape;
  shape.tasks = records / 2;
  const MadeRun run = make_run(home, setup_910a(), shape);
  const Measured newer = measure(argv[1], home, run.folder, "newer, import");
  const Measured cann5 = measure(argv[1], home, make_cann5(home, records), "CANN 5, import");
  const Measured job = measure(argv[1], home, make_job(home, records), "JOB folder, import");
  fmt::print(
      "  rows per second     {:6.2f} (CANN 5) and {:.2f} (JOB) x those of the newer (goal 1)\n",
      cann5.rows_per_second / newer.rows_per_second, job.rows_per_second / newer.rows_per_second);
  fs::remove_all(home);
  return 0;
}
