// cann_counters MSPROF FOLDER [SAMPLES]: of each kind of system counters, a file of SAMPLES
// samples: import as a ratio to a bare read of its bytes and a bare prepared insert of the same
// rows, and its timeline as a ratio to a bare write of the same bytes, in the same run. Medians of
// three rounds. Source: cann_system.md 2 to 16.
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
// "4:000010000": on the clock of the device, which starts at 4 s, a sample each 10 us.
std::string stamp(std::uint64_t i) {
  return fmt::format("{}:{:09}", 4 + i / 100'000, i % 100'000 * 10'000);
}

struct CounterKind {
  std::string_view name;  // of its table, and of its layer where it has one
  std::string_view stem;
  bool is_text;
  bool is_of_host;
  bool has_layer;
  std::uint64_t per_record;  // samples that a record or line gives, about
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
    {"host_mem", "host_mem.data", true, true, false, 1,
     [](std::string& out, std::uint64_t i) {
       out += fmt::format("{} 200000 {} 100 50 0 4000 0\n", 5'000'000'000 + i * 1000, 1000 + i);
     }},
};

ProfSetup setup_of_counters() {
  ProfSetup setup;
  setup.sample["hbm_profiling_events"] = "\"read,write\"";
  setup.sample["qosEvents"] = "\"A,B,C,D\"";
  setup.info["memoryTotal"] = "1000000000";
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
    // What is not read yet has no layer either.
    if (!kind.has_layer || rows < samples / 4) continue;
    timelines.push_back(command({"export", "timeline", "--layers", std::string(kind.name)}));
    writes.push_back(bare_write_of(products, home / "bare.json"));
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
