// Base types of the svp_acl C interface: error codes, data types, data buffers.
// For applications that link libsvp_acl.so. These headers are this project's own; names and
// signatures follow the public interface of the boards, so that one application source builds for a
// board and for a Linux host. Every function that returns svp_acl_error returns SVP_ACL_SUCCESS or
// one of the SVP_ACL_ERROR_ codes.
#pragma once

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define SVP_ACL_API __attribute__((visibility("default")))
#else
#define SVP_ACL_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef int svp_acl_error;
typedef void* svp_acl_rt_stream;
typedef void* svp_acl_rt_event;
typedef void* svp_acl_rt_context;

#define SVP_ACL_SUCCESS 0
#define SVP_ACL_ERROR_INVALID_PARAM 100000
#define SVP_ACL_ERROR_UNINITIALIZE 100001
#define SVP_ACL_ERROR_REPEAT_INITIALIZE 100002
#define SVP_ACL_ERROR_INVALID_PROFILING_CONFIG 100010
#define SVP_ACL_ERROR_INVALID_MODEL_ID 100011
#define SVP_ACL_ERROR_PARSE_MODEL 100013
#define SVP_ACL_ERROR_REPEAT_SUBSCRIBE 100033
#define SVP_ACL_ERROR_PROF_ALREADY_RUN 100042
#define SVP_ACL_ERROR_PROF_NOT_RUN 100043
#define SVP_ACL_ERROR_PROF_REPEAT_SUBSCRIBE 148046
#define SVP_ACL_ERROR_PROF_API_CONFLICT 148047
#define SVP_ACL_ERROR_BAD_ALLOC 200000
#define SVP_ACL_ERROR_API_NOT_SUPPORT 200001
#define SVP_ACL_ERROR_PROF_MODULES_UNSUPPORTED 200007
#define SVP_ACL_ERROR_STORAGE_OVER_LIMIT 300000
#define SVP_ACL_ERROR_INTERNAL_ERROR 500000
#define SVP_ACL_ERROR_FAILURE 500001
#define SVP_ACL_ERROR_PROFILING_FAILURE 500005

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
  SVP_ACL_BOOL = 12
} svp_acl_data_type;

typedef enum svp_acl_format {
  SVP_ACL_FORMAT_UNDEFINED = -1,
  SVP_ACL_FORMAT_NCHW = 0,
  SVP_ACL_FORMAT_NHWC = 1,
  SVP_ACL_FORMAT_ND = 2
} svp_acl_format;

// A view of memory that the application owns: address, size in bytes, bytes from one row to the
// next.
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
