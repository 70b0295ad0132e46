// acl/acl_prof.h: the state machine, stamps and steps. prof_records.cpp reads the records of a
// subscription.
#include "runtime/acl/include/acl/acl_prof.h"

#include <cstring>
#include <mutex>
#include <new>
#include <string_view>
#include <vector>

#include "runtime/acl/api/call.hpp"
#include "runtime/acl/device/lookup.hpp"
#include "runtime/acl/prof/profiler.hpp"
#include "runtime/acl/prof/stamps.hpp"
#include "runtime/acl/prof/steps.hpp"
#include "runtime/prof/handles.hpp"

using namespace msprof::acl;

struct aclprofConfig {
  ProfConfig config;
};

struct aclprofSubscribeConfig {
  SubscribeOrder order;
};

namespace {

constexpr std::size_t kMaxSettingBytes = 256;
constexpr std::size_t kMaxMarkBytes = 127;

using AllHandles = msprof::runtime::ProfHandles<aclprofConfig, aclprofSubscribeConfig>;
[[maybe_unused]] const bool kHasHandles = (AllHandles::instance(), true);

msprof::runtime::Handles<aclprofConfig>& configs() {
  return AllHandles::instance().configs;
}

msprof::runtime::Handles<aclprofSubscribeConfig>& subscribe_configs() {
  return AllHandles::instance().subscribe_configs;
}

// Operators that the thread is currently describing, outermost first.
struct DescribedOp {
  OpInfo op;
  std::uint64_t begin_ns = 0;
};
std::vector<DescribedOp>& described_ops() {
  thread_local std::vector<DescribedOp> ops;
  return ops;
}

OpInfo described(const aclprofTensorInfo& info) {
  OpInfo op;
  op.name_hash = info.opNameId;
  op.type_hash = info.opTypeId;
  op.task_type = info.kernelType;
  op.blocks = static_cast<std::uint16_t>(info.blockNums);
  for (std::uint32_t i = 0; info.tensors != nullptr && i < info.tensorNum; ++i) {
    const aclprofTensor& tensor = info.tensors[i];
    msprof::TensorWire wire{};
    wire.kind = tensor.type;
    wire.format = tensor.format;
    wire.data_type = tensor.dataType;
    for (std::uint32_t d = 0; d < tensor.shapeDim && d < ACL_PROF_TENSOR_DATA_SHAPE_LEN; ++d)
      wire.shape[d] = tensor.shape[d];
    op.tensors.push_back(wire);
  }
  return op;
}

}  // namespace

extern "C" {

aclError aclprofInit(const char* profilerResultPath, size_t length) {
  return guarded("aclprofInit", [&] {
    return Profiler::instance().init(msprof::runtime::checked_path(profilerResultPath, length));
  });
}

aclError aclprofFinalize() {
  return guarded("aclprofFinalize", [] { return Profiler::instance().finalize(); });
}

aclError aclprofSetConfig(aclprofConfigType configType, const char* config, size_t configLength) {
  return guarded("aclprofSetConfig", [&]() -> aclError {
    if (configType <= ACL_PROF_ARGS_MIN || configType >= ACL_PROF_ARGS_MAX || config == nullptr ||
        configLength > kMaxSettingBytes || strnlen(config, configLength + 1) != configLength)
      return ACL_ERROR_INVALID_PARAM;
    return Profiler::instance().set_config(configType, {config, configLength});
  });
}

aclprofConfig* aclprofCreateConfig(uint32_t* deviceIdList, uint32_t deviceNums,
                                   aclprofAicoreMetrics aicoreMetrics,
                                   const aclprofAicoreEvents* aicoreEvents,
                                   uint64_t dataTypeConfig) {
  aclprofConfig* made = nullptr;
  guarded("aclprofCreateConfig", [&] {
    if (aicoreEvents != nullptr) return ACL_ERROR_INVALID_PARAM;
    const auto config =
        make_prof_config(deviceIdList, deviceNums, device_count(), aicoreMetrics, dataTypeConfig);
    if (!config) return ACL_ERROR_INVALID_PARAM;
    made = configs().add({*config});
    return ACL_SUCCESS;
  });
  return made;
}

aclError aclprofDestroyConfig(const aclprofConfig* profilerConfig) {
  return guarded("aclprofDestroyConfig", [&] {
    if (!configs().remove(profilerConfig)) return ACL_ERROR_INVALID_PARAM;
    return Profiler::instance().refused_by_configuration();
  });
}

aclError aclprofStart(const aclprofConfig* profilerConfig) {
  return guarded("aclprofStart", [&] {
    const auto known = configs().find(profilerConfig);
    return known ? Profiler::instance().start(known->config) : ACL_ERROR_INVALID_PARAM;
  });
}

aclError aclprofStop(const aclprofConfig* profilerConfig) {
  return guarded("aclprofStop", [&] {
    const auto known = configs().find(profilerConfig);
    return known ? Profiler::instance().stop(known->config) : ACL_ERROR_INVALID_PARAM;
  });
}

// Prepares the devices of a card; does nothing here. Not in any public header.
aclError __attribute__((visibility("default"))) aclprofWarmup(const aclprofConfig* profilerConfig);
aclError aclprofWarmup(const aclprofConfig* profilerConfig) {
  return guarded("aclprofWarmup", [&] {
    const auto known = configs().find(profilerConfig);
    return known ? Profiler::instance().check(known->config) : ACL_ERROR_INVALID_PARAM;
  });
}

aclprofSubscribeConfig* aclprofCreateSubscribeConfig(int8_t timeInfoSwitch,
                                                     aclprofAicoreMetrics aicoreMetrics, void* fd) {
  if (fd == nullptr) return nullptr;
  aclprofSubscribeConfig* made = nullptr;
  guarded("aclprofCreateSubscribeConfig", [&] {
    int number = -1;
    std::memcpy(&number, fd, sizeof number);
    made = subscribe_configs().add({{timeInfoSwitch != 0, aicoreMetrics, number}});
    return ACL_SUCCESS;
  });
  return made;
}

aclError aclprofDestroySubscribeConfig(const aclprofSubscribeConfig* profSubscribeConfig) {
  return guarded("aclprofDestroySubscribeConfig", [&] {
    if (!subscribe_configs().remove(profSubscribeConfig)) return ACL_ERROR_INVALID_PARAM;
    return Profiler::instance().refused_by_configuration();
  });
}

aclError aclprofModelSubscribe(uint32_t modelId,
                               const aclprofSubscribeConfig* profSubscribeConfig) {
  return guarded("aclprofModelSubscribe", [&] {
    const auto known = subscribe_configs().find(profSubscribeConfig);
    return known ? Profiler::instance().subscribe_model(modelId, known->order)
                 : ACL_ERROR_INVALID_PARAM;
  });
}

aclError aclprofModelUnSubscribe(uint32_t modelId) {
  return guarded("aclprofModelUnSubscribe",
                 [&] { return Profiler::instance().unsubscribe_model(modelId); });
}

aclprofStepInfo* aclprofCreateStepInfo() {
  return create_step();
}

void aclprofDestroyStepInfo(aclprofStepInfo* stepinfo) {
  destroy_step(stepinfo);
}

aclError aclprofGetStepTimestamp(aclprofStepInfo* stepInfo, aclprofStepTag tag,
                                 aclrtStream stream) {
  return guarded("aclprofGetStepTimestamp", [&] { return mark_step(stepInfo, tag, stream); });
}

void* aclprofCreateStamp() {
  return create_stamp();
}

void aclprofDestroyStamp(void* stamp) {
  destroy_stamp(stamp);
}

aclError aclprofSetStampTraceMessage(void* stamp, const char* msg, uint32_t msgLen) {
  return set_stamp_message(stamp, msg, msgLen);
}

aclError aclprofSetCategoryName(uint32_t, const char* categoryName) {
  return guarded("aclprofSetCategoryName", [&] {
    if (categoryName == nullptr) return ACL_ERROR_INVALID_PARAM;
    intern_text(categoryName);
    return ACL_SUCCESS;
  });
}

aclError aclprofSetStampCategory(void* stamp, uint32_t category) {
  return set_stamp_category(stamp, category);
}

aclError aclprofSetStampPayload(void* stamp, int32_t type, void* value) {
  return set_stamp_payload(stamp, type, value);
}

aclError aclprofMark(void* stamp) {
  return guarded_swift("aclprofMark", [&] { return mark(stamp); });
}

aclError aclprofPush(void* stamp) {
  return guarded_swift("aclprofPush", [&] { return push(stamp); });
}

aclError aclprofPop() {
  return guarded_swift("aclprofPop", [] { return pop(); });
}

aclError aclprofRangeStart(void* stamp, uint32_t* rangeId) {
  return guarded_swift("aclprofRangeStart", [&] { return start_range(stamp, rangeId); });
}

aclError aclprofRangeStop(uint32_t rangeId) {
  return guarded_swift("aclprofRangeStop", [&] { return stop_range(rangeId); });
}

aclError aclprofMarkEx(const char* msg, size_t msgLen, aclrtStream stream) {
  return guarded("aclprofMarkEx", [&]() -> aclError {
    if (msg == nullptr || stream == nullptr || msgLen == 0 || msgLen > kMaxMarkBytes ||
        strnlen(msg, msgLen + 1) != msgLen)
      return ACL_ERROR_INVALID_PARAM;
    return mark_on_stream({msg, msgLen}, stream);
  });
}

uint64_t aclprofStr2Id(const char* message) {
  std::uint64_t id = UINT64_MAX;
  guarded("aclprofStr2Id", [&] {
    if (message == nullptr) return ACL_ERROR_INVALID_PARAM;
    id = intern_text(message);
    return ACL_SUCCESS;
  });
  return id;
}

aclError aclprofRangePushEx(aclprofEventAttributes* attr) {
  return guarded("aclprofRangePushEx", [&]() -> aclError {
    if (attr == nullptr || attr->message.tensorInfo == nullptr) return ACL_ERROR_INVALID_PARAM;
    if (attr->version != ACL_PROF_EVENT_ATTR_VERSION ||
        attr->messageType != ACL_PROF_MESSAGE_TYPE_TENSOR_INFO)
      return ACL_ERROR_INVALID_PARAM;
    if (!is_recording()) return kTxFailure;
    DescribedOp& op = described_ops().emplace_back();
    op.op = described(*attr->message.tensorInfo);
    op.begin_ns = msprof::runtime::monotonic_ns();
    return ACL_SUCCESS;
  });
}

aclError aclprofRangePop() {
  return guarded("aclprofRangePop", [] {
    const std::uint64_t now = msprof::runtime::monotonic_ns();
    std::vector<DescribedOp>& ops = described_ops();
    if (ops.empty()) return kTxFailure;
    record_op_range(ops.back().begin_ns, now, ops.back().op);
    ops.pop_back();
    return ACL_SUCCESS;
  });
}

}  // extern "C"
