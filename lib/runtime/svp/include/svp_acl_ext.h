// Extensions of the svp_acl C interface. A Linux host runs CPU operators inside
// svp_acl_mdl_execute, so a model has no CPU tasks. Processing tasks returns
// SVP_ACL_ERROR_API_NOT_SUPPORT; the first call prints a message on stderr.
#pragma once

#include "svp_acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SVP_ACL_MAX_IP_NUM 8

typedef struct svp_acl_status {
  uint32_t ip_num;
  uint32_t hw_utilization[SVP_ACL_MAX_IP_NUM];
  uint32_t tflops_100x[SVP_ACL_MAX_IP_NUM];
} svp_acl_status;

SVP_ACL_API svp_acl_error svp_acl_ext_process_aicpu_task(int32_t timeout);
SVP_ACL_API svp_acl_error svp_acl_ext_get_mdl_aicpu_task_num(uint32_t model_id, uint32_t* num);
SVP_ACL_API svp_acl_error svp_acl_ext_get_mdl_net_type(uint32_t model_id, uint32_t* net_type);

// The load of the NPU; a host has no NPU. Only the libraries of the newest boards export this
// function.
static inline svp_acl_error svp_acl_query_status(svp_acl_status* status) {
  (void)status;
  return SVP_ACL_ERROR_API_NOT_SUPPORT;
}

#ifdef __cplusplus
}
#endif
