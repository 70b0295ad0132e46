// Extensions of the svp_acl C interface for CPU operators. Not supported on a Linux host, which
// runs CPU operators inside svp_acl_mdl_execute: every function returns
// SVP_ACL_ERROR_API_NOT_SUPPORT and names itself once on stderr.
#pragma once

#include "svp_acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

SVP_ACL_API svp_acl_error svp_acl_ext_process_aicpu_task(int32_t timeout);
SVP_ACL_API svp_acl_error svp_acl_ext_get_mdl_aicpu_task_num(uint32_t model_id, uint32_t* num);
SVP_ACL_API svp_acl_error svp_acl_ext_get_mdl_net_type(uint32_t model_id, uint32_t* net_type);

#ifdef __cplusplus
}
#endif
