// Records one operator of the library by function calls:
//   acl_program_example_create_config OUTPUT
#include "acl/acl_prof.h"
#include "example.hpp"

using namespace example;

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  check(aclInit(nullptr), "aclInit");
  check(aclprofInit(argv[1], std::strlen(argv[1])), "aclprofInit");
  {
    const Device device(0);
    std::uint32_t devices[] = {0};
    const std::uint64_t bits = ACL_PROF_ACL_API | ACL_PROF_TASK_TIME | ACL_PROF_AICORE_METRICS |
                               ACL_PROF_AICPU | ACL_PROF_L2CACHE | ACL_PROF_HCCL_TRACE |
                               ACL_PROF_MSPROFTX | ACL_PROF_RUNTIME_API;
    aclprofConfig* config =
        aclprofCreateConfig(devices, 1, ACL_AICORE_PIPE_UTILIZATION, nullptr, bits);
    expect(config != nullptr, "aclprofCreateConfig");
    const char* memory_frequency = "15";
    // The vendor's example sets this on a card; a host has no such memory.
    expect(aclprofSetConfig(ACL_PROF_SYS_HARDWARE_MEM_FREQ, memory_frequency,
                            std::strlen(memory_frequency)) == ACL_ERROR_INVALID_PROFILING_CONFIG,
           "aclprofSetConfig");
    check(aclprofStart(config), "aclprofStart");
    add_tensors(device.stream());
    check(aclprofStop(config), "aclprofStop");
    check(aclprofDestroyConfig(config), "aclprofDestroyConfig");
  }
  check(aclprofFinalize(), "aclprofFinalize");
  check(aclFinalize(), "aclFinalize");
  print("adds", 1);
  return 0;
}
