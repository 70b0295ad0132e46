// acl/acl_prof.h: reads the records of a subscription.
#include "runtime/acl/api/call.hpp"
#include "runtime/acl/include/acl/acl_prof.h"
#include "runtime/acl/prof/op_record.hpp"
#include "runtime/acl/prof/profiler.hpp"

using namespace msprof::acl;

namespace {

using msprof::runtime::find_record;
using msprof::runtime::OpText;

// While a recording by configuration is active, calls that would succeed fail. `result`: the code
// without such a recording.
aclError check_recording(aclError result) {
  return result == ACL_SUCCESS ? Profiler::instance().refused_by_configuration() : result;
}

aclError give_size(const char* function, OpText text, const void* records, size_t bytes,
                   uint32_t index, size_t* size) {
  return guarded(function, [&] {
    return check_recording(msprof::runtime::text_size(text, records, bytes, index, size));
  });
}

aclError give_text(const char* function, OpText text, const void* records, size_t bytes,
                   uint32_t index, char* buffer, size_t room) {
  return guarded(function, [&] {
    return check_recording(msprof::runtime::copy_text(text, records, bytes, index, buffer, room));
  });
}

}  // namespace

extern "C" {

aclError aclprofGetOpDescSize(size_t* opDescSize) {
  if (opDescSize == nullptr) return ACL_ERROR_INVALID_PARAM;
  *opDescSize = sizeof(OpRecord);
  return Profiler::instance().refused_by_configuration();
}

aclError aclprofGetOpNum(const void* opInfo, size_t opInfoLen, uint32_t* opNumber) {
  return check_recording(msprof::runtime::count_records(opInfo, opInfoLen, opNumber));
}

aclError aclprofGetOpTypeLen(const void* opInfo, size_t opInfoLen, uint32_t index,
                             size_t* opTypeLen) {
  return give_size(__func__, &OpNameIds::NameAndType::type, opInfo, opInfoLen, index, opTypeLen);
}

aclError aclprofGetOpNameLen(const void* opInfo, size_t opInfoLen, uint32_t index,
                             size_t* opNameLen) {
  return give_size(__func__, &OpNameIds::NameAndType::name, opInfo, opInfoLen, index, opNameLen);
}

aclError aclprofGetOpType(const void* opInfo, size_t opInfoLen, uint32_t index, char* opType,
                          size_t opTypeLen) {
  return give_text(__func__, &OpNameIds::NameAndType::type, opInfo, opInfoLen, index, opType,
                   opTypeLen);
}

aclError aclprofGetOpName(const void* opInfo, size_t opInfoLen, uint32_t index, char* opName,
                          size_t opNameLen) {
  return give_text(__func__, &OpNameIds::NameAndType::name, opInfo, opInfoLen, index, opName,
                   opNameLen);
}

uint64_t aclprofGetOpStart(const void* opInfo, size_t opInfoLen, uint32_t index) {
  return find_record(opInfo, opInfoLen, index).value_or(OpRecord{}).start;
}

uint64_t aclprofGetOpEnd(const void* opInfo, size_t opInfoLen, uint32_t index) {
  return find_record(opInfo, opInfoLen, index).value_or(OpRecord{}).end;
}

uint64_t aclprofGetOpDuration(const void* opInfo, size_t opInfoLen, uint32_t index) {
  return find_record(opInfo, opInfoLen, index).value_or(OpRecord{}).duration;
}

size_t aclprofGetModelId(const void* opInfo, size_t opInfoLen, uint32_t index) {
  return find_record(opInfo, opInfoLen, index).value_or(OpRecord{}).model;
}

aclprofSubscribeOpFlag aclprofGetOpFlag(const void* opInfo, size_t opInfoLen, uint32_t index) {
  const auto record = find_record(opInfo, opInfoLen, index);
  if (!record || record->flag > ACL_SUBSCRIBE_OP_THREAD) return ACL_SUBSCRIBE_NONE;
  return static_cast<aclprofSubscribeOpFlag>(record->flag);
}

// Operators of this runtime have no threads.
const char* aclprofGetOpAttriValue(const void*, size_t, uint32_t, aclprofSubscribeOpAttri) {
  return nullptr;
}

}  // extern "C"
