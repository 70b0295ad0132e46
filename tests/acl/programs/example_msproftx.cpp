// Records stamps of every kind and steps around an operator:
//   acl_program_example_msproftx OUTPUT
#include "acl/acl_prof.h"
#include "example.hpp"

using namespace example;

namespace {

void* make_stamp(const char* message) {
  void* stamp = aclprofCreateStamp();
  expect(stamp != nullptr, "aclprofCreateStamp");
  check(
      aclprofSetStampTraceMessage(stamp, message, static_cast<std::uint32_t>(std::strlen(message))),
      "aclprofSetStampTraceMessage");
  return stamp;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  check(aclInit(nullptr), "aclInit");
  check(aclprofInit(argv[1], std::strlen(argv[1])), "aclprofInit");
  constexpr int kSteps = 3;
  {
    const Device device(0);
    std::uint32_t devices[] = {0};
    aclprofConfig* config = aclprofCreateConfig(
        devices, 1, ACL_AICORE_PIPE_UTILIZATION, nullptr,
        ACL_PROF_ACL_API | ACL_PROF_TASK_TIME | ACL_PROF_AICORE_METRICS | ACL_PROF_MSPROFTX);
    expect(config != nullptr, "aclprofCreateConfig");
    check(aclprofStart(config), "aclprofStart");

    for (int step = 0; step < kSteps; ++step) {
      aclprofStepInfo* info = aclprofCreateStepInfo();
      expect(info != nullptr, "aclprofCreateStepInfo");
      check(aclprofGetStepTimestamp(info, ACL_STEP_START, device.stream()),
            "aclprofGetStepTimestamp");

      void* mark = make_stamp("step begins");
      check(aclprofMark(mark), "aclprofMark");
      aclprofDestroyStamp(mark);

      void* nested = make_stamp("add");
      check(aclprofPush(nested), "aclprofPush");
      add_tensors(device.stream());
      check(aclprofPop(), "aclprofPop");
      aclprofDestroyStamp(nested);

      void* range = make_stamp("add again");
      std::uint32_t id = 0;
      check(aclprofRangeStart(range, &id), "aclprofRangeStart");
      add_tensors(device.stream());
      check(aclprofRangeStop(id), "aclprofRangeStop");
      aclprofDestroyStamp(range);

      const char* message = "on the stream";
      check(aclprofMarkEx(message, std::strlen(message), device.stream()), "aclprofMarkEx");
      check(aclprofGetStepTimestamp(info, ACL_STEP_END, device.stream()),
            "aclprofGetStepTimestamp");
      check(aclrtSynchronizeStream(device.stream()), "aclrtSynchronizeStream");
      aclprofDestroyStepInfo(info);
    }

    check(aclprofStop(config), "aclprofStop");
    check(aclprofDestroyConfig(config), "aclprofDestroyConfig");
  }
  check(aclprofFinalize(), "aclprofFinalize");
  check(aclFinalize(), "aclFinalize");
  print("steps", kSteps);
  print("adds", 2 * kSteps);
  return 0;
}
