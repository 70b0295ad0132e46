// Measures the cost of recording for a CANN application. Rounds with recording on and off alternate
// in one process, so that a change of CPU speed favours neither. Goal: at most 2 %, and at most 10
// % for layers of 20 us. For each pair two times are compared: CPU time of the process, including
// the runtime's threads, and wall time, which other programs also influence.
// acl_overhead [PAIRS] [FOLDER]
#include <time.h>

#include <algorithm>
#include <cmath>
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

struct Times {
  double passed_s = 0;
  double used_s = 0;  // CPU time of all threads
};

double clock_seconds(clockid_t clock) {
  timespec now = {};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

void check(aclError code, const char* what) {
  if (code == ACL_SUCCESS) return;
  std::fprintf(stderr, "acl_overhead: %s: %d\n", what, code);
  std::exit(1);
}

// A chain of 3 x 3 convolutions of 16 channels on images of `side` x `side`.
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
  Times run(int executions) {
    const Times begin = {clock_seconds(CLOCK_MONOTONIC), clock_seconds(CLOCK_PROCESS_CPUTIME_ID)};
    for (int i = 0; i < executions; ++i)
      check(aclmdlExecute(id_, input_, output_), "aclmdlExecute");
    return {clock_seconds(CLOCK_MONOTONIC) - begin.passed_s,
            clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - begin.used_s};
  }
  // The fastest of 41 runs is the one least disturbed by other programs.
  double fastest_s() {
    double fastest = run(1).passed_s;
    for (int i = 0; i < 40; ++i) fastest = std::min(fastest, run(1).passed_s);
    return fastest;
  }
  // Buffers are freed when the process exits.
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

Times run_recorded(Runner& runner, int executions) {
  std::uint32_t device = 0;
  aclprofConfig* config =
      aclprofCreateConfig(&device, 1, ACL_AICORE_PIPE_UTILIZATION, nullptr,
                          ACL_PROF_ACL_API | ACL_PROF_TASK_TIME | ACL_PROF_AICORE_METRICS);
  check(aclprofStart(config), "aclprofStart");
  runner.run(1);  // creates the record files
  const Times times = runner.run(executions);
  check(aclprofStop(config), "aclprofStop");
  aclprofDestroyConfig(config);
  return times;
}

// Prints the median and the quartiles.
void print(const char* what, std::vector<double> ratios) {
  std::sort(ratios.begin(), ratios.end());
  const auto at = [&](double share) {
    return ratios[static_cast<std::size_t>(share * static_cast<double>(ratios.size() - 1))];
  };
  std::printf("  %-14s on / off: median %.4f (quartiles %.4f, %.4f)\n", what, at(0.5), at(0.25),
              at(0.75));
}

void measure(int layers, int side, int pairs, const std::string& folder) {
  Runner runner(chain(layers, side));
  const double one = runner.fastest_s();
  std::printf("%d layers of %.1f us\n", layers, one * 1e6 / layers);
  // About 50 ms of executions per round: with many short pairs, other programs matter less.
  const int executions = std::max(1, static_cast<int>(0.05 / one));
  std::vector<double> used, passed;
  for (int i = 0; i < pairs; ++i) {
    Times on, off;
    if (i % 2 == 0) on = run_recorded(runner, executions);
    runner.run(1);
    off = runner.run(executions);
    if (i % 2 == 1) on = run_recorded(runner, executions);
    used.push_back(on.used_s / off.used_s);
    passed.push_back(on.passed_s / off.passed_s);
    for (const auto& entry : fs::directory_iterator(folder)) fs::remove_all(entry);
  }
  runner.unload();
  print("processor time", used);
  print("time passed", passed);
}

// Finds the image size for which one layer takes about `layer_s` seconds.
int side_for(double layer_s, int layers) {
  int best = 0;
  double best_off = 1e9;
  for (int side = 6; side <= 40; side += 2) {
    Runner runner(chain(layers, side));
    const double off = std::abs(runner.fastest_s() / layers - layer_s);
    runner.unload();
    if (off < best_off) best = side;
    best_off = std::min(best_off, off);
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  const int pairs = argc > 1 ? std::atoi(argv[1]) : 101;
  std::string folder =
      argc > 2 ? argv[2] : (fs::temp_directory_path() / "acl_overhead_XXXXXX").string();
  if (argc <= 2 && ::mkdtemp(folder.data()) == nullptr) return 1;
  check(aclInit(nullptr), "aclInit");
  check(aclrtSetDevice(0), "aclrtSetDevice");
  check(aclprofInit(folder.data(), folder.size()), "aclprofInit");
  constexpr int kLayers = 30;
  measure(kLayers, 36, pairs, folder);
  measure(kLayers, side_for(20e-6, kLayers), pairs, folder);
  check(aclprofFinalize(), "aclprofFinalize");
  check(aclFinalize(), "aclFinalize");
  if (argc <= 2) fs::remove_all(folder);
  return 0;
}
