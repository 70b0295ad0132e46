#include "runtime/acl/prof/type_names.hpp"

#include "runtime/acl/prof/recorder.hpp"

namespace msprof::acl {

namespace {

struct TypeName {
  CallLevel level;
  std::uint32_t type;
  const char* name;
};

constexpr TypeName kTypes[] = {
    {CallLevel::runtime, task_type::kAiCore, "KERNEL_AICORE"},
    {CallLevel::runtime, task_type::kAiCpu, "KERNEL_AICPU"},
    {CallLevel::runtime, task_type::kEventRecord, "EVENT_RECORD"},
    {CallLevel::runtime, task_type::kStreamWaitEvent, "STREAM_WAIT_EVENT"},
    {CallLevel::runtime, task_type::kMemcpyAsync, "MEMCPY_ASYNC"},
    {CallLevel::runtime, 6, "MAINTENANCE"},
    {CallLevel::runtime, task_type::kCallback, "CALLBACK_LAUNCH"},
    {CallLevel::runtime, task_type::kMemsetAsync, "MEMSET_ASYNC"},
    {CallLevel::runtime, task_type::kProfilerTrace, "PROFILER_TRACE_EX"},
    {CallLevel::runtime, task_type::kNotifyRecord, "NOTIFY_RECORD"},
    {CallLevel::runtime, task_type::kNotifyWait, "NOTIFY_WAIT"},
    {CallLevel::runtime, task_type::kValueWrite, "MEM_WRITE_VALUE"},
    {CallLevel::runtime, task_type::kValueWait, "MEM_WAIT_VALUE"},
    {CallLevel::runtime, task_type::kAiVector, "KERNEL_AIVEC"},
    {CallLevel::runtime, task_type::kFlip, "FLIP_TASK"},
    {CallLevel::runtime, runtime_call::kLaunch, "LaunchKernelWithHandle"},
    {CallLevel::runtime, runtime_call::kAicpuLaunch, "AicpuKernelLaunch"},
    {CallLevel::runtime, runtime_call::kMemcpyAsync, "MemcopyAsync"},
    {CallLevel::runtime, runtime_call::kEventRecord, "EventRecord"},
    {CallLevel::runtime, runtime_call::kStreamWaitEvent, "StreamWaitEvent"},
    {CallLevel::runtime, runtime_call::kMemsetAsync, "MemsetAsync"},
    {CallLevel::runtime, runtime_call::kCallback, "CallbackLaunch"},
    {CallLevel::runtime, runtime_call::kProfilerTrace, "ProfilerTraceEx"},
    {CallLevel::runtime, runtime_call::kNotifyRecord, "NotifyRecord"},
    {CallLevel::runtime, runtime_call::kNotifyWait, "NotifyWait"},
    {CallLevel::runtime, runtime_call::kValueWrite, "MemWriteValue"},
    {CallLevel::runtime, runtime_call::kValueWait, "MemWaitValue"},
    {CallLevel::runtime, record_type::kTaskTrack, "task_track"},
    {CallLevel::runtime, record_type::kMemcpyInfo, "memcpy_info"},
    {CallLevel::node, record_type::kNodeBasicInfo, "node_basic_info"},
    {CallLevel::node, record_type::kTensorInfo, "tensor_info"},
    {CallLevel::node, record_type::kLaunch, "launch"},
    {CallLevel::node, record_type::kTaskMemoryInfo, "task_memory_info"},
    {CallLevel::node, record_type::kStepInfo, "step_info"},
    {CallLevel::node, record_type::kFusionOpInfo, "fusion_op_info"},
    {CallLevel::node, record_type::kNodeAttrInfo, "node_attr_info"},
    {CallLevel::model, record_type::kGraphIdMap, "graph_id_map"},
    {CallLevel::model, record_type::kModelExecute, "ModelExecute"},
    {CallLevel::model, record_type::kModelLoad, "ModelLoad"},
};

std::string line(CallLevel level, std::uint32_t type, const char* name) {
  return std::to_string(static_cast<unsigned>(level)) + "_" + std::to_string(type) + ":" + name +
         "\n";
}

}  // namespace

std::uint32_t call_type(Call call) {
  static constexpr CallClass kClasses[] = {
#define CALL(name, call_class) CallClass::call_class,
#include "runtime/acl/prof/calls.def"
#undef CALL
  };
  const auto number = static_cast<std::uint32_t>(call);
  return static_cast<std::uint32_t>(kClasses[number]) << 16U | number;
}

std::string type_info_lines() {
  std::string lines;
  for (const TypeName& type : kTypes) lines += line(type.level, type.type, type.name);
#define CALL(name, call_class) lines += line(CallLevel::acl, call_type(Call::name), #name);
#include "runtime/acl/prof/calls.def"
#undef CALL
  return lines;
}

}  // namespace msprof::acl
