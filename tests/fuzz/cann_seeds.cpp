#include "cann_seeds.hpp"

#include <algorithm>
#include <filesystem>

#include "counter_seeds.hpp"
#include "seeds.hpp"
#include "support/files.hpp"
#include "support/prof/prof_scene.hpp"
#include "support/temp_folder.hpp"

namespace msprof::fuzz {

namespace fs = std::filesystem;

namespace {

using namespace test::prof;

constexpr std::uint32_t kThread = 9;

void add_tasks(ProfScene& scene, bool is_hwts) {
  const TaskPmu pmu{9000, {900, 800, 700, 600, 500, 400, 30, 20}, {}};
  TaskPmu mix = pmu;
  mix.blocks = {{100, {1, 2, 3, 4, 5, 6, 7, 8}}};
  const OpKind add = {"add",  "Add", is_hwts ? Core::aic : Core::aiv,
                      2,      0,     {{0, 2, 0, {8, 4}}, {1, 2, 1, {4}}},
                      "axis", true};
  const OpKind attention = {"attention", "Attention", Core::mix_aic, 1, 1};
  scene.call(kModel, kModelLoad, {kThread, 1000, 9000}, 1);
  scene.call(kModel, kModelExecute, {kThread, 9500, 13'000}, 1, 1);
  scene.launch(add, {kThread, 10'000, 11'000}, {3, 1, 20'000, 22'000, 0},
               {.in_model = true, .pmu = pmu});
  if (is_hwts) {
    scene.launch(add, {kThread, 14'000, 15'000}, {3, 2, 23'000, 24'000, 0}, {.pmu = pmu});
  } else {
    scene.launch(attention, {kThread, 14'000, 15'000}, {3, 2, 23'000, 24'000, 0}, {.pmu = mix});
  }
  scene.launch({"topk", "TopK", Core::aicpu, 1}, {kThread, 16'000, 17'000},
               {3, 3, 25'000, 26'000, 0});
  scene.copy({kThread, 18'000, 19'000}, {3, 4, 27'000, 27'400, 0}, 100, 1);
  scene.flip(kThread, 19'500, 27'600, 0, 3, 1);
  scene.record_event({kThread, 20'000, 21'000}, {3, 1, 28'000, 28'020, 0});
  Collective op{"hcom", "group", "MESH-RING", 8, {}};
  op.steps.push_back({"Memcpy", kMemcpyAsync, {5, 0, 30'000, 31'000, 0}, 64, 0, true});
  scene.collective(op, kThread, 22'000);
}

void add_rest(ProfScene& scene) {
  ProfFolder& folder = scene.folder();
  const auto at = [&](std::uint64_t ns) { return folder.setup().host_at(ns); };
  const auto ticks = [&](std::uint64_t ns) { return folder.setup().ticks_at(ns); };
  folder.host(GraphIdMap{kThread, at(2000), folder.hash("net"), 1, 1});
  FusionOp fused{kThread, at(3000), folder.hash("add"), 1, 2, 3, 4, 10, {}};
  fused.fused = {folder.hash("a"), folder.hash("b")};
  folder.host(fused);
  scene.mark(kThread, 1000, 2000, "mark");
  TxMark ex;
  ex.is_ex = true;
  ex.mark = 7;
  ex.message = "Ex";
  folder.host(ex);
  scene.memory(kThread, 10'100, "add", 64, 1024, 1024);
  scene.memory(kThread, 10'200, "add", 64, -1024, 0);
  folder.host(LogicStream{kThread, at(100), 1, {3, 5}});
  folder.host(Mc2Comm{kThread, at(100), folder.hash("group"), 8, 0, 6, {5}});
  folder.host(CaptureStream{kThread, at(100), 0, 3, 4, 2, 0});
  folder.host(ExpandStream{at(100), 0});
  constexpr std::pair<std::uint16_t, std::uint64_t> kTags[] = {
      {0, 18'000}, {2, 21'000}, {10000, 21'100}, {10001, 21'200},
      {3, 22'000}, {4, 23'000}, {1, 23'100},     {11, 24'000}};
  for (const auto& [tag, ns] : kTags) scene.step(0, ns, tag, tag == 11 ? 7 : 1, 1, 3);
  for (std::uint8_t state = 0; state < 3; ++state) {
    folder.device(0, TsTaskType{ticks(40'000 + 100u * state), 3, 9, 1, state});
    folder.device(0, TsMemcpy{ticks(41'000 + 100u * state), 3, 10, state});
  }
  folder.device(0, TsBlocks{ticks(19'000), 3, 1, 4, 0});
  folder.device(0, LpmFreq{{{ticks(0), 1000}, {ticks(21'000), 800}}});
  folder.device(0, OldAicpuNode{{3, 3, ticks(25'100), ticks(25'900), 1, 2, 3, ticks(25'000),
                                 ticks(26'000), 4}});
  folder.device(0, DataQueue{10, 1, 2, "Last queue dequeue", "net"});
  folder.device(0, L2Cache{0, 3, 1, {10, 20, 3, 4, 5, 6, 7, 8}});
}

// The states of a task as recorded by a 310: waiting, running, complete.
void add_time_line(ProfFolder& folder) {
  for (std::uint16_t state = 1; state <= 3; ++state) {
    folder.device(0,
                  TimeLine{1, state, 3, 8, folder.setup().ticks_at(50'000 + 100u * state), 1, 0});
  }
}

std::string numbered(const std::vector<std::pair<std::size_t, std::string>>& parts) {
  std::string bytes;
  for (const auto& [number, content] : parts) {
    bytes += static_cast<char>(number);
    bytes += static_cast<char>(content.size() & 0xff);
    bytes += static_cast<char>(content.size() >> 8);
    bytes += content;
  }
  return bytes;
}

const std::string& find_content(const std::vector<NamedBytes>& files, const std::string& name) {
  static const std::string none;
  const auto found = std::find_if(files.begin(), files.end(),
                                  [&](const NamedBytes& file) { return file.first == name; });
  return found == files.end() ? none : found->second;
}

// Returns each file of the list separately, and all of them together.
std::vector<std::string> numbered_seeds(std::string_view target, CannChip chip) {
  auto files = cann_files(chip);
  // Only for one chip: only few bytes of these files depend on the chip.
  if (chip == CannChip::stars) {
    for (NamedBytes& file : counter_files()) files.push_back(std::move(file));
  }
  const auto names = cann_file_names(target);
  const std::string first =
      target == "cann_device" ? std::string(1, static_cast<char>(chip)) : std::string();
  std::vector<std::string> seeds;
  std::vector<std::pair<std::size_t, std::string>> all;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string& content = find_content(files, names[i]);
    if (content.empty()) continue;
    seeds.push_back(first + numbered({{i, content}}));
    all.emplace_back(i, content);
  }
  seeds.push_back(first + numbered(all));
  return seeds;
}

}  // namespace

std::vector<NamedBytes> cann_files(CannChip chip) {
  const test::TempFolder temp;
  const bool is_hwts = chip == CannChip::hwts || chip == CannChip::mini;
  ProfSetup setup = is_hwts ? setup_910a() : chip == CannChip::v6 ? setup_950() : ProfSetup();
  setup.l2_events = is_hwts ? "0x59,0x5b,0x5c" : "0xfb,0xfc,0x90,0x91,0x9c";
  if (chip == CannChip::mini) setup.platform = "0";
  describe_counters(setup);
  ProfFolder folder(temp.path(), setup);
  ProfScene scene(folder);
  add_tasks(scene, is_hwts);
  add_rest(scene);
  if (chip == CannChip::mini) add_time_line(folder);
  folder.finish();
  std::vector<NamedBytes> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder.folder())) {
    if (!entry.is_regular_file()) continue;
    files.emplace_back(entry.path().lexically_relative(folder.folder()).string(),
                       test::read_file(entry.path()));
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> cann_file_names(std::string_view target) {
  std::vector<std::string> names;
  const auto is_text = [](const std::string& name) {
    return name.find("_dic.") != std::string::npos || name.find("/data/") == std::string::npos;
  };
  for (const CannChip chip : kCannChips) {
    for (const auto& [name, bytes] : cann_files(chip)) {
      if (name.ends_with(".done")) continue;
      const bool is_host = name.starts_with("host/");
      const bool wanted = target == "cann_texts"  ? is_text(name)
                          : target == "cann_host" ? is_host && !is_text(name)
                                                  : !is_host && !is_text(name);
      if (wanted && std::find(names.begin(), names.end(), name) == names.end()) {
        names.push_back(name);
      }
    }
  }
  // Added last, because kept inputs rely on the numbers of the others.
  for (const auto& [name, bytes] : counter_files()) {
    const bool is_record = !is_counter_text(name);
    const bool wanted = target == "cann_texts"    ? !is_record
                        : target == "cann_device" ? is_record && name.starts_with("device_")
                                                  : is_record && name.starts_with("host/");
    if (wanted) names.push_back(name);
  }
  return names;
}

std::vector<std::string> cann_seeds(std::string_view target) {
  if (target != "cann_folder") {
    auto seeds = numbered_seeds(target, CannChip::stars);
    if (target != "cann_device") return seeds;
    for (const CannChip chip : {CannChip::hwts, CannChip::mini, CannChip::v6}) {
      const auto more = numbered_seeds(target, chip);
      seeds.insert(seeds.end(), more.begin(), more.end());
    }
    return seeds;
  }
  std::vector<std::string> seeds;
  for (const CannChip chip : kCannChips) {
    std::vector<SeedFile> packed;
    for (const auto& [name, bytes] : cann_files(chip)) packed.push_back({false, name, bytes});
    for (const auto& [name, bytes] : counter_files()) packed.push_back({false, name, bytes});
    seeds.push_back(pack(packed));
  }
  return seeds;
}

}  // namespace msprof::fuzz
