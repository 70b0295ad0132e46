// Numbers of the types in records, and their names in type_info_dic. Readers use the names; the
// numbers of runtime calls and tasks are chosen here, except 6 and 98. For Recording and the
// recorder. Source: cann_host.md 1.4, 1.8, 1.9.
#pragma once

#include <cstdint>
#include <string>

namespace msprof::acl {

enum class CallLevel : std::uint16_t {
  runtime = 5000,
  node = 10000,
  model = 15000,
  acl = 20000,
  msproftx = 20500
};

// Level runtime: types of tasks and of calls.
namespace task_type {
inline constexpr std::uint32_t kAiCore = 0, kAiCpu = 1, kEventRecord = 2, kStreamWaitEvent = 3,
                               kMemcpyAsync = 5, kCallback = 40, kMemsetAsync = 41,
                               kProfilerTrace = 42, kNotifyRecord = 43, kNotifyWait = 44,
                               kValueWrite = 45, kValueWait = 46, kAiVector = 66, kFlip = 98;
}
namespace runtime_call {
inline constexpr std::uint32_t kLaunch = 0x10001, kAicpuLaunch = 0x10002, kMemcpyAsync = 0x10003,
                               kEventRecord = 0x10004, kStreamWaitEvent = 0x10005,
                               kMemsetAsync = 0x10006, kCallback = 0x10007,
                               kProfilerTrace = 0x10008, kNotifyRecord = 0x10009,
                               kNotifyWait = 0x1000A, kValueWrite = 0x1000B, kValueWait = 0x1000C;
}
namespace record_type {
inline constexpr std::uint32_t kTaskTrack = 802, kMemcpyInfo = 806;
inline constexpr std::uint32_t kNodeBasicInfo = 0, kTensorInfo = 1, kFusionOpInfo = 2, kLaunch = 5,
                               kTaskMemoryInfo = 6, kStepInfo = 7, kNodeAttrInfo = 9;
inline constexpr std::uint32_t kGraphIdMap = 0, kModelExecute = 1, kModelLoad = 2;
}  // namespace record_type

// Returns all these types, and the calls in calls.def, as lines of type_info_dic.
std::string type_info_lines();

}  // namespace msprof::acl
