// acl/acl_prof.h: reading the records of a subscription.
#include <algorithm>
#include <cstring>
#include <new>
#include <optional>
#include <string>

#include "runtime/acl/api/call.hpp"
#include "runtime/acl/include/acl/acl_prof.h"
#include "runtime/acl/prof/op_record.hpp"
#include "runtime/acl/prof/profiler.hpp"

using namespace msprof::acl;

namespace {

// The record of that index among whole ones; nothing for one that is damaged, too.
std::optional<OpRecord> record_at(const void* records, size_t bytes, uint32_t index) {
  if (records == nullptr || bytes % sizeof(OpRecord) != 0 || index >= bytes / sizeof(OpRecord))
    return std::nullopt;
  OpRecord record;
  std::memcpy(&record, static_cast<const char*>(records) + index * sizeof record, sizeof record);
  if (record.signature != signature_of(record)) return std::nullopt;
  return record;
}

const OpNames::Texts* texts_at(const void* records, size_t bytes, uint32_t index) {
  const auto record = record_at(records, bytes, index);
  return record ? OpNames::instance().find(record->op) : nullptr;
}

using Text = std::string OpNames::Texts::*;

aclError give_size(const char* function, Text text, const void* records, size_t bytes,
                   uint32_t index, size_t* size) {
  return guarded(function, [&]() -> aclError {
    const auto* const texts = texts_at(records, bytes, index);
    if (texts == nullptr || size == nullptr) return ACL_ERROR_INVALID_PARAM;
    *size = (texts->*text).size() + 1;
    return Profiler::instance().refused_by_configuration();
  });
}

// A text longer than its buffer is cut.
aclError give_text(const char* function, Text text, const void* records, size_t bytes,
                   uint32_t index, char* buffer, size_t room) {
  return guarded(function, [&]() -> aclError {
    const auto* const texts = texts_at(records, bytes, index);
    if (texts == nullptr || buffer == nullptr || room == 0) return ACL_ERROR_INVALID_PARAM;
    const std::string& whole = texts->*text;
    const std::size_t size = std::min(whole.size(), room - 1);
    std::memcpy(buffer, whole.data(), size);
    buffer[size] = '\0';
    return Profiler::instance().refused_by_configuration();
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
  if (opInfo == nullptr || opNumber == nullptr || opInfoLen % sizeof(OpRecord) != 0)
    return ACL_ERROR_INVALID_PARAM;
  *opNumber = static_cast<uint32_t>(opInfoLen / sizeof(OpRecord));
  return Profiler::instance().refused_by_configuration();
}

aclError aclprofGetOpTypeLen(const void* opInfo, size_t opInfoLen, uint32_t index,
                             size_t* opTypeLen) {
  return give_size(__func__, &OpNames::Texts::type, opInfo, opInfoLen, index, opTypeLen);
}

aclError aclprofGetOpNameLen(const void* opInfo, size_t opInfoLen, uint32_t index,
                             size_t* opNameLen) {
  return give_size(__func__, &OpNames::Texts::name, opInfo, opInfoLen, index, opNameLen);
}

aclError aclprofGetOpType(const void* opInfo, size_t opInfoLen, uint32_t index, char* opType,
                          size_t opTypeLen) {
  return give_text(__func__, &OpNames::Texts::type, opInfo, opInfoLen, index, opType, opTypeLen);
}

aclError aclprofGetOpName(const void* opInfo, size_t opInfoLen, uint32_t index, char* opName,
                          size_t opNameLen) {
  return give_text(__func__, &OpNames::Texts::name, opInfo, opInfoLen, index, opName, opNameLen);
}

uint64_t aclprofGetOpStart(const void* opInfo, size_t opInfoLen, uint32_t index) {
  const auto record = record_at(opInfo, opInfoLen, index);
  return record ? record->start : 0;
}

uint64_t aclprofGetOpEnd(const void* opInfo, size_t opInfoLen, uint32_t index) {
  const auto record = record_at(opInfo, opInfoLen, index);
  return record ? record->end : 0;
}

uint64_t aclprofGetOpDuration(const void* opInfo, size_t opInfoLen, uint32_t index) {
  const auto record = record_at(opInfo, opInfoLen, index);
  return record ? record->duration : 0;
}

size_t aclprofGetModelId(const void* opInfo, size_t opInfoLen, uint32_t index) {
  const auto record = record_at(opInfo, opInfoLen, index);
  return record ? record->model : 0;
}

aclprofSubscribeOpFlag aclprofGetOpFlag(const void* opInfo, size_t opInfoLen, uint32_t index) {
  const auto record = record_at(opInfo, opInfoLen, index);
  if (!record || record->flag > ACL_SUBSCRIBE_OP_THREAD) return ACL_SUBSCRIBE_NONE;
  return static_cast<aclprofSubscribeOpFlag>(record->flag);
}

// Operators of this runtime have no threads.
const char* aclprofGetOpAttriValue(const void*, size_t, uint32_t, aclprofSubscribeOpAttri) {
  return nullptr;
}

}  // extern "C"
