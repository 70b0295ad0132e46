// What a stamp costs: a push and its pop, and a range, beside two readings of the clock, in one run
// and in turns. The last line is what a pair costs beyond the readings; at most 100 ns are
// promised. Each record of 256 bytes needs fresh pages of its file from the kernel, which is part
// of the cost; MSPROF_BENCH_FOLDER says on which disk.
#include <stdlib.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "runtime/acl/include/acl/acl.h"
#include "runtime/acl/include/acl/acl_prof.h"
#include "runtime/engine/clock.hpp"

namespace {

constexpr int kPairs = 10'000;
constexpr int kTurns = 31;
constexpr double kPromisedNs = 100;

template <typename Action>
double ns_each(Action action) {
  const std::uint64_t begin = msprof::runtime::monotonic_ns();
  for (int i = 0; i < kPairs; ++i) action();
  return static_cast<double>(msprof::runtime::monotonic_ns() - begin) / kPairs;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + kTurns / 2, values.end());
  return values[kTurns / 2];
}

void* start(const std::string& folder) {
  if (aclInit(nullptr) != ACL_SUCCESS) return nullptr;
  if (aclprofInit(folder.c_str(), folder.size()) != ACL_SUCCESS) return nullptr;
  const auto* const config =
      aclprofCreateConfig(nullptr, 0, ACL_AICORE_NONE, nullptr, ACL_PROF_MSPROFTX);
  if (aclprofStart(config) != ACL_SUCCESS) return nullptr;
  void* const stamp = aclprofCreateStamp();
  return aclprofSetStampTraceMessage(stamp, "infer", 5) == ACL_SUCCESS ? stamp : nullptr;
}

}  // namespace

int main() {
  const char* const chosen = getenv("MSPROF_BENCH_FOLDER");
  std::string folder = chosen != nullptr ? chosen : std::filesystem::temp_directory_path().string();
  folder += "/msprof_bench_XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) return 1;
  void* const stamp = start(folder);
  if (stamp == nullptr) return 1;
  std::vector<double> clocks, pushes, ranges;
  volatile std::uint64_t sum = 0;
  for (int turn = 0; turn < kTurns; ++turn) {
    clocks.push_back(ns_each([&] {
      sum = sum + msprof::runtime::monotonic_ns();
      sum = sum + msprof::runtime::monotonic_ns();
    }));
    pushes.push_back(ns_each([&] {
      aclprofPush(stamp);
      aclprofPop();
    }));
    ranges.push_back(ns_each([&] {
      std::uint32_t id = 0;
      aclprofRangeStart(stamp, &id);
      aclprofRangeStop(id);
    }));
  }
  aclFinalize();
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  const double beyond = median(pushes) - median(clocks);
  std::printf("two readings of the clock  %6.1f ns\n", median(clocks));
  std::printf("push and pop               %6.1f ns\n", median(pushes));
  std::printf("range start and stop       %6.1f ns\n", median(ranges));
  std::printf("a pair beyond the readings %6.1f ns, promised %.0f\n", beyond, kPromisedNs);
  return beyond <= kPromisedNs ? 0 : 2;
}
