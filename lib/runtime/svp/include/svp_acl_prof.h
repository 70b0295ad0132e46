// Profiling through function calls, into files or into a pipe. The two exclude each other, and both
// exclude the profiler of acl.json. Times are microseconds of CLOCK_MONOTONIC. A host has one
// device, number 0.
#pragma once

#include "svp_acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SVP_ACL_PROF_ACL_API 0x1ULL
#define SVP_ACL_PROF_TASK_TIME 0x2ULL
#define SVP_ACL_PROF_AICORE_METRICS 0x4ULL
#define SVP_ACL_PROF_AICPU_TRACE 0x8ULL
#define SVP_ACL_PROF_MAX_OP_NAME_LEN 257
#define SVP_ACL_PROF_MAX_OP_TYPE_LEN 65

typedef enum svp_acl_prof_aicore_metrics {
  SVP_ACL_AICORE_ARITHMETIC_UTILIZATION = 0,
  SVP_ACL_AICORE_NONE = 0xFF
} svp_acl_prof_aicore_metrics;

typedef struct svp_acl_prof_config svp_acl_prof_config;
typedef struct svp_acl_prof_aicore_events svp_acl_prof_aicore_events;
typedef struct svp_acl_prof_subscribe_config svp_acl_prof_subscribe_config;

SVP_ACL_API svp_acl_error svp_acl_prof_init(const char* result_path, size_t length);
SVP_ACL_API svp_acl_error svp_acl_prof_finalize(void);
SVP_ACL_API svp_acl_error svp_acl_prof_start(const svp_acl_prof_config* profiler_config);
SVP_ACL_API svp_acl_prof_config* svp_acl_prof_create_config(
    const uint32_t* device_id_list, uint32_t device_nums,
    svp_acl_prof_aicore_metrics aicore_metrics, const svp_acl_prof_aicore_events* aicore_events,
    uint64_t data_type_config);
SVP_ACL_API svp_acl_error svp_acl_prof_destroy_config(const svp_acl_prof_config* profiler_config);
SVP_ACL_API svp_acl_error svp_acl_prof_stop(const svp_acl_prof_config* profiler_config);
SVP_ACL_API svp_acl_error svp_acl_prof_model_subscribe(
    uint32_t model_id, const svp_acl_prof_subscribe_config* subscribe_config);
SVP_ACL_API svp_acl_error svp_acl_prof_model_unsubscribe(uint32_t model_id);
SVP_ACL_API svp_acl_prof_subscribe_config* svp_acl_prof_create_subscribe_config(
    int8_t time_info_switch, svp_acl_prof_aicore_metrics aicore_metrics, const void* fd);
SVP_ACL_API svp_acl_error
svp_acl_prof_destroy_subscribe_config(const svp_acl_prof_subscribe_config* subscribe_config);
SVP_ACL_API svp_acl_error svp_acl_prof_get_op_desc_size(size_t* op_desc_size);
SVP_ACL_API svp_acl_error svp_acl_prof_get_op_num(const void* op_info, size_t op_info_len,
                                                  uint32_t* op_number);
SVP_ACL_API svp_acl_error svp_acl_prof_get_op_type_len(const void* op_info, size_t op_info_len,
                                                       uint32_t index, size_t* op_type_len);
SVP_ACL_API svp_acl_error svp_acl_prof_get_op_type(const void* op_info, size_t op_info_len,
                                                   uint32_t index, char* op_type,
                                                   size_t op_type_len);
SVP_ACL_API svp_acl_error svp_acl_prof_get_op_name_len(const void* op_info, size_t op_info_len,
                                                       uint32_t index, size_t* op_name_len);
SVP_ACL_API svp_acl_error svp_acl_prof_get_op_name(const void* op_info, size_t op_info_len,
                                                   uint32_t index, char* op_name,
                                                   size_t op_name_len);
SVP_ACL_API uint64_t svp_acl_prof_get_op_start(const void* op_info, size_t op_info_len,
                                               uint32_t index);
SVP_ACL_API uint64_t svp_acl_prof_get_op_end(const void* op_info, size_t op_info_len,
                                             uint32_t index);
SVP_ACL_API uint64_t svp_acl_prof_get_op_duration(const void* op_info, size_t op_info_len,
                                                  uint32_t index);
SVP_ACL_API size_t svp_acl_prof_get_model_id(const void* op_info, size_t op_info_len,
                                             uint32_t index);

#ifdef __cplusplus
}
#endif
