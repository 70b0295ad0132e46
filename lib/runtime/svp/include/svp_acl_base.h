// Base types of the svp_acl C interface: error codes, data types, data buffers. For applications
// that link libsvp_acl.so. These headers were written for this project; names and signatures follow
// the public interface of the boards, so that one application source builds for a board and for a
// Linux host. Every function that returns svp_acl_error returns SVP_ACL_SUCCESS or one of the
// SVP_ACL_ERROR_ codes.
#pragma once

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define SVP_ACL_API __attribute__((visibility("default")))
#else
#define SVP_ACL_API
#endif
#define SVP_ACL_FUNC_VISIBILITY SVP_ACL_API  // name of the macro on boards, also used by programs

#ifdef __cplusplus
extern "C" {
#endif

typedef int svp_acl_error;
typedef void* svp_acl_rt_stream;
typedef void* svp_acl_rt_event;
typedef void* svp_acl_rt_context;
typedef uint16_t svp_acl_float16;

#define SVP_ACL_SUCCESS 0
#define SVP_ACL_ERROR_NONE 0
#define SVP_ACL_ERROR_INVALID_PARAM 100000
#define SVP_ACL_ERROR_UNINITIALIZE 100001
#define SVP_ACL_ERROR_REPEAT_INITIALIZE 100002
#define SVP_ACL_ERROR_INVALID_FILE 100003
#define SVP_ACL_ERROR_WRITE_FILE 100004
#define SVP_ACL_ERROR_INVALID_FILE_SIZE 100005
#define SVP_ACL_ERROR_PARSE_FILE 100006
#define SVP_ACL_ERROR_FILE_MISSING_ATTR 100007
#define SVP_ACL_ERROR_FILE_ATTR_INVALID 100008
#define SVP_ACL_ERROR_INVALID_DUMP_CONFIG 100009
#define SVP_ACL_ERROR_INVALID_PROFILING_CONFIG 100010
#define SVP_ACL_ERROR_INVALID_MODEL_ID 100011
#define SVP_ACL_ERROR_DESERIALIZE_MODEL 100012
#define SVP_ACL_ERROR_PARSE_MODEL 100013
#define SVP_ACL_ERROR_READ_MODEL_FAILURE 100014
#define SVP_ACL_ERROR_MODEL_SIZE_INVALID 100015
#define SVP_ACL_ERROR_MODEL_MISSING_ATTR 100016
#define SVP_ACL_ERROR_MODEL_INPUT_NOT_MATCH 100017
#define SVP_ACL_ERROR_MODEL_OUTPUT_NOT_MATCH 100018
#define SVP_ACL_ERROR_MODEL_NOT_DYNAMIC 100019
#define SVP_ACL_ERROR_OP_TYPE_NOT_MATCH 100020
#define SVP_ACL_ERROR_OP_INPUT_NOT_MATCH 100021
#define SVP_ACL_ERROR_OP_OUTPUT_NOT_MATCH 100022
#define SVP_ACL_ERROR_OP_ATTR_NOT_MATCH 100023
#define SVP_ACL_ERROR_OP_NOT_FOUND 100024
#define SVP_ACL_ERROR_OP_LOAD_FAILED 100025
#define SVP_ACL_ERROR_UNSUPPORTED_DATA_TYPE 100026
#define SVP_ACL_ERROR_FORMAT_NOT_MATCH 100027
#define SVP_ACL_ERROR_BIN_SELECTOR_NOT_REGISTERED 100028
#define SVP_ACL_ERROR_KERNEL_NOT_FOUND 100029
#define SVP_ACL_ERROR_BIN_SELECTOR_ALREADY_REGISTERED 100030
#define SVP_ACL_ERROR_KERNEL_ALREADY_REGISTERED 100031
#define SVP_ACL_ERROR_INVALID_QUEUE_ID 100032
#define SVP_ACL_ERROR_REPEAT_SUBSCRIBE 100033
#define SVP_ACL_ERROR_STREAM_NOT_SUBSCRIBE 100034
#define SVP_ACL_ERROR_THREAD_NOT_SUBSCRIBE 100035
#define SVP_ACL_ERROR_WAIT_CALLBACK_TIMEOUT 100036
#define SVP_ACL_ERROR_REPEAT_FINALIZE 100037
#define SVP_ACL_ERROR_NOT_STATIC_AIPP 100038
#define SVP_ACL_ERROR_COMPILING_STUB_MODE 100039
#define SVP_ACL_ERROR_GROUP_NOT_SET 100040
#define SVP_ACL_ERROR_GROUP_NOT_CREATE 100041
#define SVP_ACL_ERROR_PROF_ALREADY_RUN 100042
#define SVP_ACL_ERROR_PROF_NOT_RUN 100043
#define SVP_ACL_ERROR_DUMP_ALREADY_RUN 100044
#define SVP_ACL_ERROR_DUMP_NOT_RUN 100045
#define SVP_ACL_ERROR_PROF_REPEAT_SUBSCRIBE 148046
#define SVP_ACL_ERROR_PROF_API_CONFLICT 148047
#define SVP_ACL_ERROR_INVALID_MAX_OPQUEUE_NUM_CONFIG 148048
#define SVP_ACL_ERROR_UNSUPPORTED_API 148049
#define SVP_ACL_ERROR_BAD_ALLOC 200000
#define SVP_ACL_ERROR_API_NOT_SUPPORT 200001
#define SVP_ACL_ERROR_INVALID_DEVICE 200002
#define SVP_ACL_ERROR_MEMORY_ADDRESS_UNALIGNED 200003
#define SVP_ACL_ERROR_RESOURCE_NOT_MATCH 200004
#define SVP_ACL_ERROR_INVALID_RESOURCE_HANDLE 200005
#define SVP_ACL_ERROR_FEATURE_UNSUPPORTED 200006
#define SVP_ACL_ERROR_PROF_MODULES_UNSUPPORTED 200007
#define SVP_ACL_ERROR_STORAGE_OVER_LIMIT 300000
#define SVP_ACL_ERROR_INTERNAL_ERROR 500000
#define SVP_ACL_ERROR_FAILURE 500001
#define SVP_ACL_ERROR_GE_FAILURE 500002
#define SVP_ACL_ERROR_RT_FAILURE 500003
#define SVP_ACL_ERROR_DRV_FAILURE 500004
#define SVP_ACL_ERROR_PROFILING_FAILURE 500005
#define SVP_ACL_ERROR_RT_REPORT_TIMEOUT 507012

#define SVP_ACL_UNKNOWN_RANK 0xFFFFFFFFFFFFFFFE

typedef enum svp_acl_data_type {
  SVP_ACL_DT_UNDEFINED = -1,
  SVP_ACL_FLOAT = 0,
  SVP_ACL_FLOAT16 = 1,
  SVP_ACL_INT8 = 2,
  SVP_ACL_INT32 = 3,
  SVP_ACL_UINT8 = 4,
  SVP_ACL_INT16 = 6,
  SVP_ACL_UINT16 = 7,
  SVP_ACL_UINT32 = 8,
  SVP_ACL_INT64 = 9,
  SVP_ACL_UINT64 = 10,
  SVP_ACL_DOUBLE = 11,
  SVP_ACL_BOOL = 12,
  SVP_ACL_STRING = 13,
  SVP_ACL_INT10 = 100,
  SVP_ACL_UINT10 = 101,
  SVP_ACL_INT12 = 102,
  SVP_ACL_UINT12 = 103,
  SVP_ACL_INT14 = 104,
  SVP_ACL_UINT14 = 105,
  SVP_ACL_INT24 = 106,
  SVP_ACL_UINT24 = 107,
  SVP_ACL_UINT4 = 108
} svp_acl_data_type;

typedef enum svp_acl_format {
  SVP_ACL_FORMAT_UNDEFINED = -1,
  SVP_ACL_FORMAT_NCHW = 0,
  SVP_ACL_FORMAT_NHWC = 1,
  SVP_ACL_FORMAT_ND = 2,
  SVP_ACL_FORMAT_NC1HWC0 = 3,
  SVP_ACL_FORMAT_FRACTAL_Z = 4,
  SVP_ACL_FORMAT_NC1HWC0_C04 = 12,
  SVP_ACL_FORMAT_FRACTAL_NZ = 29
} svp_acl_format;

// A view of application-owned memory: address, size and row stride, both in bytes.
typedef struct svp_acl_data_buffer svp_acl_data_buffer;

SVP_ACL_API svp_acl_data_buffer* svp_acl_create_data_buffer(void* data, size_t size, size_t stride);
SVP_ACL_API svp_acl_error svp_acl_destroy_data_buffer(const svp_acl_data_buffer* data_buffer);
SVP_ACL_API void* svp_acl_get_data_buffer_addr(const svp_acl_data_buffer* data_buffer);
SVP_ACL_API size_t svp_acl_get_data_buffer_size(const svp_acl_data_buffer* data_buffer);
SVP_ACL_API size_t svp_acl_get_data_buffer_stride(const svp_acl_data_buffer* data_buffer);
SVP_ACL_API svp_acl_error svp_acl_update_data_buffer(svp_acl_data_buffer* data_buffer, void* data,
                                                     size_t size, size_t stride);
SVP_ACL_API size_t svp_acl_data_type_size(svp_acl_data_type data_type);

#ifdef __cplusplus
}
#endif
