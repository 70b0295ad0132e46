// Records mstx ranges and marks, with and without a domain, around an operator:
//   acl_program_example_mstx_with_domain OUTPUT
#include "acl/acl_prof.h"
#include "example.hpp"
#include "mstx/ms_tools_ext.h"

using namespace example;

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  check(aclInit(nullptr), "aclInit");
  check(aclprofInit(argv[1], std::strlen(argv[1])), "aclprofInit");
  constexpr int kRounds = 4;
  {
    const Device device(0);
    std::uint32_t devices[] = {0};
    aclprofConfig* config =
        aclprofCreateConfig(devices, 1, ACL_AICORE_PIPE_UTILIZATION, nullptr,
                            ACL_PROF_ACL_API | ACL_PROF_TASK_TIME | ACL_PROF_MSPROFTX);
    expect(config != nullptr, "aclprofCreateConfig");
    check(aclprofStart(config), "aclprofStart");

    mstxDomainHandle_t domain = mstxDomainCreateA("operators");
    expect(domain != nullptr, "mstxDomainCreateA");
    for (int round = 0; round < kRounds; ++round) {
      const mstxRangeId outer = mstxRangeStartA("round", nullptr);
      expect(outer != 0, "mstxRangeStartA");
      const mstxRangeId range = mstxDomainRangeStartA(domain, "add", device.stream());
      expect(range != 0, "mstxDomainRangeStartA");
      add_tensors(device.stream());
      mstxDomainRangeEnd(domain, range);
      mstxDomainMarkA(domain, "added", device.stream());
      mstxRangeEnd(outer);
      mstxMarkA("next", nullptr);
    }
    mstxDomainDestroy(domain);

    check(aclprofStop(config), "aclprofStop");
    check(aclprofDestroyConfig(config), "aclprofDestroyConfig");
  }
  check(aclprofFinalize(), "aclprofFinalize");
  check(aclFinalize(), "aclFinalize");
  print("rounds", kRounds);
  print("adds", kRounds);
  return 0;
}
