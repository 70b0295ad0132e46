#include "runtime/acl/prof/type_names.hpp"

#include "runtime/acl/prof/recorder.hpp"

namespace msprof::acl {

namespace {

struct TypeName {
  Level level;
  std::uint32_t type;
  const char* name;
};

constexpr TypeName kTypes[] = {
    {Level::runtime, task_type::kAiCore, "KERNEL_AICORE"},
    {Level::runtime, task_type::kAiCpu, "KERNEL_AICPU"},
    {Level::runtime, task_type::kEventRecord, "EVENT_RECORD"},
    {Level::runtime, task_type::kStreamWaitEvent, "STREAM_WAIT_EVENT"},
    {Level::runtime, task_type::kMemcpyAsync, "MEMCPY_ASYNC"},
    {Level::runtime, 6, "MAINTENANCE"},
    {Level::runtime, task_type::kCallback, "CALLBACK_LAUNCH"},
    {Level::runtime, task_type::kMemsetAsync, "MEMSET_ASYNC"},
    {Level::runtime, task_type::kProfilerTrace, "PROFILER_TRACE_EX"},
    {Level::runtime, task_type::kNotifyRecord, "NOTIFY_RECORD"},
    {Level::runtime, task_type::kNotifyWait, "NOTIFY_WAIT"},
    {Level::runtime, task_type::kValueWrite, "MEM_WRITE_VALUE"},
    {Level::runtime, task_type::kValueWait, "MEM_WAIT_VALUE"},
    {Level::runtime, task_type::kAiVector, "KERNEL_AIVEC"},
    {Level::runtime, task_type::kFlip, "FLIP_TASK"},
    {Level::runtime, runtime_call::kLaunch, "LaunchKernelWithHandle"},
    {Level::runtime, runtime_call::kAicpuLaunch, "AicpuKernelLaunch"},
    {Level::runtime, runtime_call::kMemcpyAsync, "MemcopyAsync"},
    {Level::runtime, runtime_call::kEventRecord, "EventRecord"},
    {Level::runtime, runtime_call::kStreamWaitEvent, "StreamWaitEvent"},
    {Level::runtime, runtime_call::kMemsetAsync, "MemsetAsync"},
    {Level::runtime, runtime_call::kCallback, "CallbackLaunch"},
    {Level::runtime, runtime_call::kProfilerTrace, "ProfilerTraceEx"},
    {Level::runtime, runtime_call::kNotifyRecord, "NotifyRecord"},
    {Level::runtime, runtime_call::kNotifyWait, "NotifyWait"},
    {Level::runtime, runtime_call::kValueWrite, "MemWriteValue"},
    {Level::runtime, runtime_call::kValueWait, "MemWaitValue"},
    {Level::runtime, record_type::kTaskTrack, "task_track"},
    {Level::runtime, record_type::kMemcpyInfo, "memcpy_info"},
    {Level::node, record_type::kNodeBasicInfo, "node_basic_info"},
    {Level::node, record_type::kTensorInfo, "tensor_info"},
    {Level::node, record_type::kLaunch, "launch"},
    {Level::node, record_type::kTaskMemoryInfo, "task_memory_info"},
    {Level::node, record_type::kStepInfo, "step_info"},
    {Level::node, record_type::kFusionOpInfo, "fusion_op_info"},
    {Level::node, record_type::kNodeAttrInfo, "node_attr_info"},
    {Level::model, record_type::kGraphIdMap, "graph_id_map"},
    {Level::model, record_type::kModelExecute, "ModelExecute"},
    {Level::model, record_type::kModelLoad, "ModelLoad"},
};

std::string line(Level level, std::uint32_t type, const char* name) {
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
#define CALL(name, call_class) lines += line(Level::acl, call_type(Call::name), #name);
#include "runtime/acl/prof/calls.def"
#undef CALL
  return lines;
}

}  // namespace msprof::acl
