// cann_counters MSPROF FOLDER [SAMPLES]: for each kind of system counter, a file of SAMPLES
// samples. Prints the import as a ratio to a bare read of its bytes and a bare prepared insert of
// the same rows, and the timeline as a ratio to a bare write of the same bytes, in the same run;
// medians of three rounds. Source: cann_system.md 2 to 21.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "cann_baselines.hpp"
#include "command_runs.hpp"
#include "support/prof/prof_folder.hpp"

namespace {

namespace fs = std::filesystem;
using namespace msprof::bench;
using namespace msprof::test::prof;

constexpr int kRounds = 3;
constexpr std::size_t kBufferBytes = 1 << 20;

template <typename... Numbers>
void put(std::string& out, Numbers... numbers) {
  (out.append(reinterpret_cast<const char*>(&numbers), sizeof(numbers)), ...);
}
constexpr std::uint64_t operator""_u64(unsigned long long value) {
  return value;
}
constexpr std::uint32_t u32(std::uint64_t value) {
  return static_cast<std::uint32_t>(value);
}
// e.g. "4:000010000": device clock, starting at 4 s, one sample every 10 us.
std::string stamp(std::uint64_t i) {
  return fmt::format("{}:{:09}", 4 + i / 100'000, i % 100'000 * 10'000);
}

// Header of a /proc block.
std::string block_header(std::uint64_t i) {
  return fmt::format("TimeStamp:{}\nIndex:{}\nDataLen:99\n", 4'000'000'000 + i * 10'000, i);
}

struct CounterKind {
  std::string_view name;  // name of its table, and of its layer if it has one
  std::string_view stem;
  bool is_text;
  bool is_of_host;
  bool has_layer;
  std::uint64_t per_record;  // approximate number of samples per record or line
  void (*add)(std::string& out, std::uint64_t i);
};

const CounterKind kKinds[] = {
    {"hbm", "hbm.data", false, false, true, 1,
     [](std::string& out, std::uint64_t i) {
       put(out, i / 8 * 10, 4096 + i % 100, u32(i % 2), u32(i / 2 % 4));
     }},
    {"hccs", "hccs.data", true, false, true, 2,
     [](std::string& out, std::uint64_t i) {
       out += fmt::format("{} {} {}\n", stamp(i), i * 5000, i * 7000);
     }},
    {"npu_mem", "npu_mem.app", false, false, true, 3,
     [](std::string& out, std::uint64_t i) {
       put(out, u32(i), u32(0), 0_u64, 4096 * i, i % 1000 << 20);
     }},
    {"npu_module_mem", "npu_module_mem.data", false, false, false, 1,
     [](std::string& out, std::uint64_t i) {
       put(out, u32(i % 40), u32(0), 500'000'000 + i * 100, i << 10);
     }},
    {"ddr", "ddr.data", false, false, true, 1,
     [](std::string& out, std::uint64_t i) {
       put(out, u32(i / 2 * 10 + 10), u32(5000), u32(i % 2), u32(0), UINT32_MAX);
     }},
    {"llc", "llc.data", false, false, true, 1,
     [](std::string& out, std::uint64_t i) {
       constexpr std::uint32_t kEvents[] = {0x00, 0x01, 0x02, 0x13, 0x20, 0x22, 0x34, 0x36};
       put(out, i / 8 * 10, 1000 + i % 8, kEvents[i % 8], u32(0));
     }},
    {"pcie", "pcie.data", false, false, true, 21,
     [](std::string& out, std::uint64_t i) {
       put(out, 4'000'000'000 + i * 1000, u32(0));
       for (std::uint32_t k = 0; k < 21; ++k) put(out, 100 + k);
     }},
    {"qos", "qos.data", false, false, true, 4,
     [](std::string& out, std::uint64_t i) {
       put(out, 0_u64, 0_u64, 250'000'000 + i * 50);
       for (std::uint32_t k = 0; k < 10; ++k) put(out, 4000 + k);
     }},
    {"roce", "roce.data", true, false, true, 13,
     [](std::string& out, std::uint64_t i) {
       out += fmt::format("{0} 10000 10 1000 {1} {1} 0 0 10 1000 {1} {1} 0 0 0\n", stamp(i), i);
     }},
    {"nic", "nic.data", true, false, true, 13,
     [](std::string& out, std::uint64_t i) {
       out += fmt::format("{0} 10000 10 1000 {1} {1} 0 0 10 1000 {1} {1} 0 0 0\n", stamp(i), i);
     }},
    {"dvpp", "dvpp.data", true, false, false, 8,
     [](std::string& out, std::uint64_t i) {
       out += fmt::format("{0} 0 4 1 {1} {1} 50% 5 5 40% 1 1\n", stamp(i), i);
     }},
    {"netdev_stats", "netdev_stats.data", true, false, false, 18,
     [](std::string& out, std::uint64_t i) {
       out += fmt::format("{0} {1} {1} {1} {1} 0 0 {1} {1} 0 0 {1} {1} 0 {1} {1}\n",
                          5'000'000'000 + i * 10'000, i * 1000);
     }},
    {"cpu_usage", "SystemCpuUsage.data", true, false, false, 40,
     [](std::string& out, std::uint64_t i) {
       out += block_header(i);
       for (const char* const cpu : {"cpu ", "cpu0", "cpu1", "cpu2"})
         out += fmt::format("{0} {1} 0 {1} {1} 0 0 {1} 0 0 0\n", cpu, i * 3);
       out += '\n';
     }},
    {"process_cpu_usage", "4321-CpuUsage.data", true, false, false, 6,
     [](std::string& out, std::uint64_t i) {
       out += block_header(i);
       out += fmt::format(
           "4321 (python3) S 0 1 1 0 -1 0 415 573 30 289 {0} {0} 0 0 20 0 1 0 4 469 520\n"
           "ProcessName:python3\ncpu  {1} 0 {1} {1} 0 0 0 0 0 0\n\n",
           i, i * 3);
     }},
    {"sys_mem", "Memory.data", true, false, false, 9,
     [](std::string& out, std::uint64_t i) {
       out += block_header(i);
       out += fmt::format(
           "MemTotal: 16252928 kB\nMemFree: {0} kB\nBuffers: 90 kB\nCached: {0} kB\nShmem: 70"
           " kB\nCommitLimit: 8000000 kB\nCommitted_AS: 4000 kB\nHugePages_Total: 120\n"
           "HugePages_Free: 20\n\n",
           1000 + i);
     }},
    {"process_mem", "4321-Memory.data", true, false, false, 3,
     [](std::string& out, std::uint64_t i) {
       out += block_header(i);
       out += fmt::format("ProcessName:python3\n{} 300 100 50 0 200 0\n\n", 1000 + i);
     }},
    {"acc_pmu", "stars_soc_profile.data", false, false, true, 4,
     [](std::string& out, std::uint64_t i) {
       put(out, u32(0x6BD3'001A), u32(0), 250'000'000 + i * 50, u32(i % 3) << 16, u32(0), u32(0),
           u32(0), i, i, i, i);
     }},
    {"soc_pmu", "socpmu.data", false, false, false, 6,
     [](std::string& out, std::uint64_t i) {
       put(out, 0_u64, u32(0x0003'0000), u32(0x0002'0000 | (i % 65'536)), 1_u64, 9_u64, 5_u64,
           3_u64, 0_u64, 0_u64, 0_u64, 0_u64);
     }},
    {"host_cpu", "host_cpu.data", true, true, true, 5,
     [](std::string& out, std::uint64_t i) {
       out += fmt::format("time {}\n{}.{:02} 9.00\n", 5'000'000'000 + i * 10'000'000, 100 + i / 100,
                          i % 100);
       for (int thread = 0; thread < 3; ++thread)
         out += fmt::format(
             "{0} (python3) S 1 {0} 4 0 -1 41 1 2 3 4 {1} {1} 0 0 20 0 8 0 9 1 7 1 0 0 0 0 0 0 0 0"
             " 0 0 0 0 0 {2} 0\n",
             4321 + thread, i / 4, thread);
     }},
    {"host_mem", "host_mem.data", true, true, false, 1,
     [](std::string& out, std::uint64_t i) {
       out += fmt::format("{} 200000 {} 100 50 0 4000 0\n", 5'000'000'000 + i * 1000, 1000 + i);
     }},
    {"host_disk", "host_disk.data", true, true, false, 3,
     [](std::string& out, std::uint64_t i) {
       if (i == 0) out += "start_time 5000000000\n";
       out += "16:05:01 4321 be/4 root 12.50 K/s 3.00 K/s 0.00 % 1.25 % python3 a.py\n";
     }},
    {"host_network", "host_network.data", true, true, false, 2,
     [](std::string& out, std::uint64_t i) {
       out += fmt::format("time {0}\n  eth0: {1} 1 0 0 0 0 0 0 {1} 1 0 0 0 0 0 0\n",
                          5'000'000'000 + i * 10'000, i * 1000);
     }},
    {"host_syscall", "host_syscall.data", true, true, false, 1,
     [](std::string& out, std::uint64_t i) {
       out += fmt::format("{}.{:03} (0.005 ms): python3/4321 read(fd: 3) = 0\n", 1000 + i / 1000,
                          i % 1000);
     }},
    {"host_pthreadcall", "host_pthreadcall.data", true, true, false, 1,
     [](std::string& out, std::uint64_t i) {
       out +=
           fmt::format("[pid 4321] 10{:02}.{:06} python3->pthread_mutex_lock(0x1) = 0 <0.000005>\n",
                       i / 1'000'000, i % 1'000'000);
     }},
    {"static_op_mem", "unaging.additional.static_op_mem", false, true, false, 3,
     [](std::string& out, std::uint64_t i) {
       put(out, u32(0x2710'5A5A), u32(12), u32(4321), u32(60), 500'000'000 + i, 4096_u64, i % 100,
           i % 50, i % 50 + 9, 1_u64 << 20, 7_u64, u32(1));
       out.append(180, '\0');
     }},
    {"ai_core_utilization", "ffts_profile.data", false, false, true, 9,
     [](std::string& out, std::uint64_t i) {
       put(out, 1_u64);
       for (std::uint64_t event = 0; event < 8; ++event) put(out, 100 + event);
       put(out, 1000_u64, 4'000'000'000 + (i / 3 + 1) * 10'000, u32(8 | (i % 3) << 8), u32(0));
     }},
    {"voltage", "lpmInfoConv.data", false, false, true, 55,
     [](std::string& out, std::uint64_t i) {
       put(out, u32(55), u32(1));
       for (std::uint64_t k = 0; k < 55; ++k)
         put(out, 250'000'000 + (i * 55 + k) * 50, u32(800 + k), u32(0));
     }},
    {"ai_ctrl_cpu", "ai_ctrl_cpu.data", true, false, false, 1,
     [](std::string& out, std::uint64_t i) {
       out += fmt::format(
           "sched 1402/1402 [00{}] 9.{:06}: 300 r11:\n\tffff80 memcpy+0x1f (/lib64/libc.so.6)\n\n",
           2 + i % 6, i % 1'000'000);
     }},
    {"ts_cpu", "tscpu.data", false, false, false, 7,
     [](std::string& out, std::uint64_t i) {
       put(out, u32(0xABABABAB), u32(0));
       for (int k = 0; k < 20; ++k) put(out, 0_u64);
       put(out, 0_u64, 0x1000 + i % 8 * 16, 4'000'000'000 + i * 1000);
       for (std::uint64_t event = 0x10; event < 0x17; ++event) put(out, event, 5_u64);
     }},
};

ProfSetup setup_of_counters() {
  ProfSetup setup;
  setup.sample["hbm_profiling_events"] = "\"read,write\"";
  setup.sample["qosEvents"] = "\"A,B,C,D\"";
  setup.sample["npuEvents"] = "\"SMMU:0x2,0x8a,0x8c,0x8d\"";
  setup.sample["ai_core_profiling_mode"] = setup.sample["aiv_profiling_mode"] = "\"sample-based\"";
  setup.sample["ts_cpu_profiling_events"] = "\"0x11\"";
  setup.sample["host_disk_freq"] = "50";
  setup.info["memoryTotal"] = "1000000000";
  setup.info["cpuNums"] = "64";
  setup.info["sysClockFreq"] = "100";
  setup.info["netCard"] = R"([{"netCardName": "eth0", "speed": 10000}])";
  return setup;
}

fs::path make_capture(const fs::path& home, const CounterKind& kind, std::uint64_t samples) {
  ProfFolder folder(home, setup_of_counters());
  std::string buffer;
  const auto drain = [&] {
    if (kind.is_of_host) {
      folder.host(kind.stem, buffer);
    } else {
      folder.device(0, kind.stem, buffer);
    }
    buffer.clear();
  };
  for (std::uint64_t i = 0; i * kind.per_record < samples; ++i) {
    kind.add(buffer, i);
    if (buffer.size() >= kBufferBytes) drain();
  }
  drain();
  folder.finish();
  return folder.folder();
}

std::string layer_name(const CounterKind& kind) {
  return kind.name == "host_cpu" ? "cpu_usage" : std::string(kind.name);
}

double bare_read_seconds(const fs::path& folder) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<char> block(kBufferBytes);
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    std::FILE* const file = std::fopen(entry.path().c_str(), "rb");
    if (file == nullptr) continue;
    while (std::fread(block.data(), 1, block.size(), file) > 0) {
    }
    std::fclose(file);
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void measure(const std::string& msprof, const fs::path& scratch, const CounterKind& kind,
             std::uint64_t samples) {
  const fs::path home = scratch / kind.name;
  const fs::path capture = make_capture(home, kind, samples);
  const fs::path out = home / "out";
  const fs::path products = out / "mindstudio_profiler_output";
  const auto command = [&](std::vector<std::string> words) {
    words.insert(words.begin(), msprof);
    for (const std::string& word : {std::string("-q"), std::string("-dir"), capture.string(),
                                    std::string("--output"), out.string()})
      words.push_back(word);
    return run_command(std::move(words));
  };
  std::vector<CommandRun> imports, timelines;
  std::vector<double> reads, inserts, writes;
  std::uint64_t rows = 0;
  for (int round = 0; round < kRounds; ++round) {
    fs::remove_all(out);
    imports.push_back(command({"import"}));
    reads.push_back(bare_read_seconds(capture));
    inserts.push_back(bare_copy_seconds(out / "sqlite" / "msprof.db", home / "bare.db"));
    rows = rows_in(out / "sqlite" / "msprof.db");
    // A kind that is not imported yet has no layer either.
    if (!kind.has_layer || rows < samples / 4) continue;
    timelines.push_back(command({"export", "timeline", "--layers", layer_name(kind)}));
    writes.push_back(measure_bare_write(products, home / "bare.json"));
  }
  if (rows < samples / 4) {
    fmt::print("  {:<15} is not read\n", kind.name);
    fs::remove_all(home);
    return;
  }
  const double import_s = median_seconds(imports);
  const double bare_s = median(reads) + median(inserts);
  fmt::print(
      "  {:<15} import {:5.2f} x bare (goal {}): {:.2f} s, bare {:.2f} s, {:.2f} M rows,"
      " peak {:.0f} MB",
      kind.name, import_s / bare_s, kind.is_text ? 2.5 : 1.5, import_s, bare_s,
      static_cast<double>(rows) / 1e6, peak_mb(imports));
  if (!timelines.empty()) {
    const double mb = static_cast<double>(bytes_in(products)) / 1e6;
    const double seconds = median_seconds(timelines);
    fmt::print("; timeline {:4.0f} MB/s, {:.1f} x a bare write, peak {:.0f} MB", mb / seconds,
               seconds / median(writes), peak_mb(timelines));
  }
  fmt::print("\n");
  fs::remove_all(home);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: cann_counters MSPROF FOLDER [SAMPLES]\n");
    return 2;
  }
  const fs::path scratch = fs::path(argv[2]) / "cann_counters";
  const std::uint64_t samples = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1'000'000;
  fs::remove_all(scratch);
  fmt::print("cann, {} samples of each kind of system counters, medians of {} rounds\n", samples,
             kRounds);
  for (const CounterKind& kind : kKinds) measure(argv[1], scratch, kind, samples);
  fs::remove_all(scratch);
  return 0;
}
