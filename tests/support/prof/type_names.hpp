// Type numbers used by the tests, and their names in type_info_dic (cann_host.md 1.5). The product
// must take the names from the dictionary, so numbers that the format does not define are invented.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "support/prof/host_records.hpp"

namespace msprof::test::prof {

// Runtime task types; 6 and 98 are fixed.
inline constexpr std::uint32_t kKernelAicore = 0, kKernelAicpu = 1, kEventRecord = 2,
                               kStreamWaitEvent = 3, kMemcpyAsync = 5, kMaintenance = 6,
                               kNotifyWait = 28, kNotifyRecord = 29, kKernelAivec = 66,
                               kKernelMixAic = 67, kKernelMixAiv = 68, kFftsPlus = 82,
                               kFlipTask = 98;
// Added to the dictionary only by runs that use it.
inline constexpr std::uint32_t kRdmaSend = 40;
// Calls.
inline constexpr std::uint32_t kLaunch = 5, kStepInfo = 7, kHcomAllReduce = 0x20001;
inline constexpr std::uint32_t kModelExecute = 1, kModelLoad = 2;
inline constexpr std::uint32_t kMaster = 0x10001, kSlave = 0x10002;
inline constexpr std::uint32_t kAclnnAdd = 0x50001, kAclMemcpyAsync = 0x30001,
                               kAclRecordEvent = 0x30002, kAclStreamWaitEvent = 0x30003,
                               kAclExecute = 0x20002, kAclMalloc = 0x30010;
inline constexpr std::uint32_t kRtLaunch = 0x10001, kRtMemcpy = 0x10003, kRtEvent = 0x10004,
                               kRtNotify = 0x10006;

struct TypeName {
  std::uint32_t level = 0, type = 0;
  std::string_view name;
};
inline constexpr std::array kTypeNames = {
    TypeName{kRuntime, kKernelAicore, "KERNEL_AICORE"},
    TypeName{kRuntime, kKernelAicpu, "KERNEL_AICPU"},
    TypeName{kRuntime, kEventRecord, "EVENT_RECORD"},
    TypeName{kRuntime, kStreamWaitEvent, "STREAM_WAIT_EVENT"},
    TypeName{kRuntime, kMemcpyAsync, "MEMCPY_ASYNC"},
    TypeName{kRuntime, kMaintenance, "MAINTENANCE"},
    TypeName{kRuntime, kNotifyWait, "NOTIFY_WAIT"},
    TypeName{kRuntime, kNotifyRecord, "NOTIFY_RECORD"},
    TypeName{kRuntime, kKernelAivec, "KERNEL_AIVEC"},
    TypeName{kRuntime, kKernelMixAic, "KERNEL_MIX_AIC"},
    TypeName{kRuntime, kKernelMixAiv, "KERNEL_MIX_AIV"},
    TypeName{kRuntime, kFftsPlus, "FFTS_PLUS"},
    TypeName{kRuntime, kFlipTask, "FLIP_TASK"},
    TypeName{kRuntime, kRtLaunch, "LaunchKernelWithHandle"},
    TypeName{kRuntime, kRtMemcpy, "MemcopyAsync"},
    TypeName{kRuntime, kRtEvent, "EventRecord"},
    TypeName{kRuntime, kRtNotify, "NotifyWait"},
    TypeName{kNode, kLaunch, "launch"},
    TypeName{kNode, kStepInfo, "step_info"},
    TypeName{kNode, kHcomAllReduce, "hcom_allReduce_"},
    TypeName{kModel, kModelExecute, "ModelExecute"},
    TypeName{kModel, kModelLoad, "ModelLoad"},
    TypeName{kHccl, kMaster, "master"},
    TypeName{kHccl, kSlave, "slave"},
    TypeName{kAcl, kAclnnAdd, "aclnnAdd"},
    TypeName{kAcl, kAclMemcpyAsync, "aclrtMemcpyAsync"},
    TypeName{kAcl, kAclRecordEvent, "aclrtRecordEvent"},
    TypeName{kAcl, kAclStreamWaitEvent, "aclrtStreamWaitEvent"},
    TypeName{kAcl, kAclExecute, "aclmdlExecute"},
    TypeName{kAcl, kAclMalloc, "aclrtMalloc"},
};

}  // namespace msprof::test::prof
