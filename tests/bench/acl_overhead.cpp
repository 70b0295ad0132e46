// What recording costs an application for CANN: pairs of rounds in one process, off and on in turn,
// so that a machine that changes its speed favours neither. acl_overhead [PAIRS] [FOLDER]
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "acl/acl_prof.h"

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

void check(aclError code, const char* what) {
  if (code == ACL_SUCCESS) return;
  std::fprintf(stderr, "acl_overhead: %s: %d\n", what, code);
  std::exit(1);
}

// A chain of 3 x 3 convolutions of 16 channels on pictures of `side` x `side`.
std::string chain(int layers, int side) {
  const std::string size = std::to_string(side);
  std::string text =
      R"({"format": "msprof-model", "version": 1, "name": "chain", "inputs": [{"name": "l0", "shape": [16, )" +
      size + ", " + size + R"(]}], "layers": [)";
  for (int i = 1; i <= layers; ++i) {
    text += i > 1 ? ", " : "";
    text += R"({"name": "l)" + std::to_string(i) + R"(", "type": "Conv2D", "inputs": ["l)" +
            std::to_string(i - 1) + R"("], "out_channels": 16, "kernel": 3, "pad": 1})";
  }
  return text + "]}";
}

class Runner {
 public:
  explicit Runner(const std::string& model) {
    check(aclmdlLoadFromMem(model.data(), model.size(), &id_), "aclmdlLoadFromMem");
    aclmdlDesc* desc = aclmdlCreateDesc();
    check(aclmdlGetDesc(desc, id_), "aclmdlGetDesc");
    add(input_, aclmdlGetInputSizeByIndex(desc, 0));
    add(output_, aclmdlGetOutputSizeByIndex(desc, 0));
    aclmdlDestroyDesc(desc);
  }
  double seconds(int executions) {
    const auto start = Clock::now();
    for (int i = 0; i < executions; ++i)
      check(aclmdlExecute(id_, input_, output_), "aclmdlExecute");
    return std::chrono::duration<double>(Clock::now() - start).count();
  }
  // The application's end frees what it holds.
  void unload() { check(aclmdlUnload(id_), "aclmdlUnload"); }

 private:
  static void add(aclmdlDataset* dataset, std::size_t bytes) {
    void* memory = nullptr;
    check(aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
    check(aclrtMemset(memory, bytes, 0, bytes), "aclrtMemset");
    check(aclmdlAddDatasetBuffer(dataset, aclCreateDataBuffer(memory, bytes)),
          "aclmdlAddDatasetBuffer");
  }
  std::uint32_t id_ = 0;
  aclmdlDataset* input_ = aclmdlCreateDataset();
  aclmdlDataset* output_ = aclmdlCreateDataset();
};

double recorded_seconds(Runner& runner, int executions) {
  std::uint32_t device = 0;
  aclprofConfig* config =
      aclprofCreateConfig(&device, 1, ACL_AICORE_PIPE_UTILIZATION, nullptr,
                          ACL_PROF_ACL_API | ACL_PROF_TASK_TIME | ACL_PROF_AICORE_METRICS);
  check(aclprofStart(config), "aclprofStart");
  const double seconds = runner.seconds(executions);
  check(aclprofStop(config), "aclprofStop");
  aclprofDestroyConfig(config);
  return seconds;
}

void measure(const char* what, int layers, int side, int pairs, const std::string& folder) {
  Runner runner(chain(layers, side));
  // As many executions as take about 200 ms.
  const double one = runner.seconds(20) / 20;
  const int executions = std::max(1, static_cast<int>(0.2 / one));
  std::vector<double> ratios;
  for (int i = 0; i < pairs; ++i) {
    const bool on_first = i % 2 == 0;
    const double first =
        on_first ? recorded_seconds(runner, executions) : runner.seconds(executions);
    const double second =
        on_first ? runner.seconds(executions) : recorded_seconds(runner, executions);
    ratios.push_back(on_first ? first / second : second / first);
    for (const auto& entry : fs::directory_iterator(folder)) fs::remove_all(entry);
  }
  runner.unload();
  std::sort(ratios.begin(), ratios.end());
  const auto at = [&](double share) {
    return ratios[static_cast<std::size_t>(share * static_cast<double>(ratios.size() - 1))];
  };
  std::printf("%-28s %6.1f us a layer: recording on / off, median %.4f (quartiles %.4f, %.4f)\n",
              what, one * 1e6 / layers, at(0.5), at(0.25), at(0.75));
}

}  // namespace

int main(int argc, char** argv) {
  const int pairs = argc > 1 ? std::atoi(argv[1]) : 31;
  std::string folder =
      argc > 2 ? argv[2] : (fs::temp_directory_path() / "acl_overhead_XXXXXX").string();
  if (argc <= 2 && ::mkdtemp(folder.data()) == nullptr) return 1;
  check(aclInit(nullptr), "aclInit");
  check(aclrtSetDevice(0), "aclrtSetDevice");
  check(aclprofInit(folder.data(), folder.size()), "aclprofInit");
  measure("30 layers", 30, 36, pairs, folder);
  measure("30 layers of about 20 us", 30, 14, pairs, folder);
  check(aclprofFinalize(), "aclprofFinalize");
  check(aclFinalize(), "aclFinalize");
  if (argc <= 2) fs::remove_all(folder);
  return 0;
}
