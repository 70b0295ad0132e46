// Profiling: into files (Init, Start, Stop, Finalize) or through a pipe (ModelSubscribe), and
// stamps and steps of the application. Files and pipe exclude each other (148047), and both exclude
// a recording started by aclInit (100042).
#pragma once

#include "acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MSVP_PROF_API ACL_FUNC_VISIBILITY

// Data to record: bits of aclprofCreateConfig.
#define ACL_PROF_ACL_API 0x0000000000000001ULL
#define ACL_PROF_TASK_TIME 0x0000000000000002ULL
#define ACL_PROF_AICORE_METRICS 0x0000000000000004ULL
#define ACL_PROF_AICPU 0x0000000000000008ULL
#define ACL_PROF_L2CACHE 0x0000000000000010ULL
#define ACL_PROF_HCCL_TRACE 0x0000000000000020ULL
#define ACL_PROF_TRAINING_TRACE 0x0000000000000040ULL
#define ACL_PROF_MSPROFTX 0x0000000000000080ULL
#define ACL_PROF_RUNTIME_API 0x0000000000000100ULL
#define ACL_PROF_GE_API_L0 0x0000000000000200ULL
#define ACL_PROF_TASK_TIME_L0 0x0000000000000800ULL
#define ACL_PROF_TASK_MEMORY 0x0000000000001000ULL
#define ACL_PROF_TASK_TIME_L2 0x0000000000002000ULL
#define ACL_PROF_OP_ATTR 0x0000000000004000ULL
#define ACL_PROF_TASK_TIME_L3 0x0000000000008000ULL
#define ACL_PROF_GE_API_L1 0x0000000001000000ULL
#define ACL_PROF_API_STATS 0x0000000400000000ULL
#define ACL_PROF_AICORE_SHAPE 0x0000000800000000ULL

// Maximum text sizes of an operator, including the terminating zero.
#define ACL_PROF_MAX_OP_NAME_LEN 257
#define ACL_PROF_MAX_OP_TYPE_LEN 65

#define ACL_PROF_TENSOR_DATA_SHAPE_LEN 8
#define ACL_PROF_EVENT_ATTR_VERSION 1

// Core counters; a recording contains one set of them.
typedef enum {
  ACL_AICORE_ARITHMETIC_UTILIZATION = 0,
  ACL_AICORE_PIPE_UTILIZATION = 1,
  ACL_AICORE_MEMORY_BANDWIDTH = 2,
  ACL_AICORE_L0B_AND_WIDTH = 3,
  ACL_AICORE_RESOURCE_CONFLICT_RATIO = 4,
  ACL_AICORE_MEMORY_UB = 5,
  ACL_AICORE_L2_CACHE = 6,
  ACL_AICORE_PIPE_EXECUTE_UTILIZATION = 7,
  ACL_AICORE_MEMORY_ACCESS = 8,
  ACL_AICORE_NONE = 0xFF
} aclprofAicoreMetrics;

typedef enum { ACL_STEP_START = 0, ACL_STEP_END = 1 } aclprofStepTag;

typedef enum {
  ACL_SUBSCRIBE_OP = 0,
  ACL_SUBSCRIBE_SUBGRAPH = 1,
  ACL_SUBSCRIBE_OP_THREAD = 2,
  ACL_SUBSCRIBE_NONE = 0xFF
} aclprofSubscribeOpFlag;

typedef enum {
  ACL_SUBSCRIBE_ATTRI_THREADID = 0,
  ACL_SUBSCRIBE_ATTRI_NONE = 1
} aclprofSubscribeOpAttri;

// Options of aclprofSetConfig.
typedef enum {
  ACL_PROF_ARGS_MIN = 0,
  ACL_PROF_STORAGE_LIMIT = 1,
  ACL_PROF_SYS_HARDWARE_MEM_FREQ = 3,
  ACL_PROF_LLC_MODE = 4,
  ACL_PROF_SYS_IO_FREQ = 5,
  ACL_PROF_SYS_INTERCONNECTION_FREQ = 6,
  ACL_PROF_DVPP_FREQ = 7,
  ACL_PROF_HOST_SYS = 8,
  ACL_PROF_HOST_SYS_USAGE = 9,
  ACL_PROF_HOST_SYS_USAGE_FREQ = 10,
  ACL_PROF_LOW_POWER_FREQ = 11,
  ACL_PROF_SYS_MEM_SERVICEFLOW = 12,
  ACL_PROF_SYS_CPU_FREQ = 13,
  ACL_PROF_OPTYPE = 14,
  ACL_PROF_NTS_METRICS = 15,
  ACL_PROF_PATH = 16,
  ACL_PROF_ARGS_MAX = 17
} aclprofConfigType;

typedef enum { ACL_PROF_MESSAGE_TYPE_TENSOR_INFO = 0 } aclprofMessageType;

typedef struct aclprofConfig aclprofConfig;
typedef struct aclprofStopConfig aclprofStopConfig;
typedef struct aclprofAicoreEvents aclprofAicoreEvents;
typedef struct aclprofSubscribeConfig aclprofSubscribeConfig;
typedef struct aclprofStepInfo aclprofStepInfo;

// An operator described by the application. A program that already defines these structures defines
// the macro.
#ifndef ACL_PROF_TENSOR_INFO_DEFINED
#define ACL_PROF_TENSOR_INFO_DEFINED
typedef struct aclprofTensor {
  uint32_t type;
  uint32_t format;
  uint32_t dataType;
  uint32_t shapeDim;
  uint32_t shape[ACL_PROF_TENSOR_DATA_SHAPE_LEN];
} aclprofTensor;

typedef struct aclprofTensorInfo {
  uint64_t opNameId;
  uint64_t opTypeId;
  uint32_t resv;
  uint32_t tensorNum;
  uint32_t kernelType;
  uint32_t blockNums;
  void* stream;
  aclprofTensor* tensors;
} aclprofTensorInfo;

typedef struct aclprofEventAttributes {
  uint16_t version;
  uint16_t size;
  uint32_t messageType;
  union {
    aclprofTensorInfo* tensorInfo;
  } message;
} aclprofEventAttributes;
#endif

// Recording to files. Each Start creates a PROF_ folder in the folder passed to Init (a path of at
// most 4095 bytes). Init must follow aclInit, else 100001; a second Init returns 100002. Start,
// Stop and Finalize require Init, else 100043. Start returns 100042 if a device is already being
// recorded.
MSVP_PROF_API aclError aclprofInit(const char* profilerResultPath, size_t length);
MSVP_PROF_API aclError aclprofFinalize(void);
MSVP_PROF_API aclError aclprofSetConfig(aclprofConfigType configType, const char* config,
                                        size_t configLength);
// NULL if a device does not exist or is listed twice, if there are more than 64, or if
// `aicoreEvents` is not NULL.
MSVP_PROF_API aclprofConfig* aclprofCreateConfig(uint32_t* deviceIdList, uint32_t deviceNums,
                                                 aclprofAicoreMetrics aicoreMetrics,
                                                 const aclprofAicoreEvents* aicoreEvents,
                                                 uint64_t dataTypeConfig);
MSVP_PROF_API aclError aclprofDestroyConfig(const aclprofConfig* profilerConfig);
MSVP_PROF_API aclError aclprofStart(const aclprofConfig* profilerConfig);
MSVP_PROF_API aclError aclprofStop(const aclprofConfig* profilerConfig);

// Recording through a pipe: one record of aclprofGetOpDescSize bytes per executed operator. `fd`
// points to the descriptor of the pipe's write end, which is closed by un-subscribing. 100011 if
// the model is not loaded, 148046 if it is already subscribed.
MSVP_PROF_API aclprofSubscribeConfig* aclprofCreateSubscribeConfig(
    int8_t timeInfoSwitch, aclprofAicoreMetrics aicoreMetrics, void* fd);
MSVP_PROF_API aclError
aclprofDestroySubscribeConfig(const aclprofSubscribeConfig* profSubscribeConfig);
MSVP_PROF_API aclError aclprofModelSubscribe(uint32_t modelId,
                                             const aclprofSubscribeConfig* profSubscribeConfig);
MSVP_PROF_API aclError aclprofModelUnSubscribe(uint32_t modelId);

// Read records received through the pipe. `opInfo` holds a whole number of records; `index` selects
// one. Sizes are in bytes, times in microseconds of the host's clock. A text longer than its buffer
// is truncated. Errors are reported as 100000, or as 0 by functions that return a value.
MSVP_PROF_API aclError aclprofGetOpDescSize(size_t* opDescSize);
MSVP_PROF_API aclError aclprofGetOpNum(const void* opInfo, size_t opInfoLen, uint32_t* opNumber);
MSVP_PROF_API aclError aclprofGetOpTypeLen(const void* opInfo, size_t opInfoLen, uint32_t index,
                                           size_t* opTypeLen);
MSVP_PROF_API aclError aclprofGetOpType(const void* opInfo, size_t opInfoLen, uint32_t index,
                                        char* opType, size_t opTypeLen);
MSVP_PROF_API aclError aclprofGetOpNameLen(const void* opInfo, size_t opInfoLen, uint32_t index,
                                           size_t* opNameLen);
MSVP_PROF_API aclError aclprofGetOpName(const void* opInfo, size_t opInfoLen, uint32_t index,
                                        char* opName, size_t opNameLen);
MSVP_PROF_API uint64_t aclprofGetOpStart(const void* opInfo, size_t opInfoLen, uint32_t index);
MSVP_PROF_API uint64_t aclprofGetOpEnd(const void* opInfo, size_t opInfoLen, uint32_t index);
MSVP_PROF_API uint64_t aclprofGetOpDuration(const void* opInfo, size_t opInfoLen, uint32_t index);
MSVP_PROF_API size_t aclprofGetModelId(const void* opInfo, size_t opInfoLen, uint32_t index);
MSVP_PROF_API aclprofSubscribeOpFlag aclprofGetOpFlag(const void* opInfo, size_t opInfoLen,
                                                      uint32_t index);
MSVP_PROF_API const char* aclprofGetOpAttriValue(const void* opInfo, size_t opInfoLen,
                                                 uint32_t index, aclprofSubscribeOpAttri attri);

// Steps: a start mark and an end mark on a stream. Each tag may be used once per step info, else
// 100000.
MSVP_PROF_API aclprofStepInfo* aclprofCreateStepInfo(void);
MSVP_PROF_API void aclprofDestroyStepInfo(aclprofStepInfo* stepinfo);
MSVP_PROF_API aclError aclprofGetStepTimestamp(aclprofStepInfo* stepInfo, aclprofStepTag tag,
                                               aclrtStream stream);

// Stamps, recorded between Start and Stop with ACL_PROF_MSPROFTX. At most 100 exist at a time; the
// next is NULL. A message has at most 127 bytes. Push and Pop nest within a thread; ranges may
// overlap and end in another thread.
MSVP_PROF_API void* aclprofCreateStamp(void);
MSVP_PROF_API void aclprofDestroyStamp(void* stamp);
MSVP_PROF_API aclError aclprofSetStampTraceMessage(void* stamp, const char* msg, uint32_t msgLen);
MSVP_PROF_API aclError aclprofSetCategoryName(uint32_t category, const char* categoryName);
MSVP_PROF_API aclError aclprofSetStampCategory(void* stamp, uint32_t category);
MSVP_PROF_API aclError aclprofSetStampPayload(void* stamp, int32_t type, void* value);
MSVP_PROF_API aclError aclprofMark(void* stamp);
MSVP_PROF_API aclError aclprofPush(void* stamp);
MSVP_PROF_API aclError aclprofPop(void);
MSVP_PROF_API aclError aclprofRangeStart(void* stamp, uint32_t* rangeId);
MSVP_PROF_API aclError aclprofRangeStop(uint32_t rangeId);
// Records a mark on the host, and on the device when the stream reaches it.
MSVP_PROF_API aclError aclprofMarkEx(const char* msg, size_t msgLen, aclrtStream stream);

// Return the id of a text in records; mark an operator around the application's launches.
MSVP_PROF_API uint64_t aclprofStr2Id(const char* message);
MSVP_PROF_API aclError aclprofRangePushEx(aclprofEventAttributes* attr);
MSVP_PROF_API aclError aclprofRangePop(void);

// Features of a card's driver, for the vendor's tools; return 200001.
MSVP_PROF_API aclError aclprofGetSupportedFeatures(size_t* featuresSize, void** featuresData);
MSVP_PROF_API aclError aclprofGetSupportedFeaturesV2(size_t* featuresSize, void** featuresData);

#ifdef __cplusplus
}
#endif
