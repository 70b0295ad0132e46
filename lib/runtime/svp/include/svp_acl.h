// Start and end of the svp_acl C interface; includes the headers every application needs.
#pragma once

#include "svp_acl_base.h"
#include "svp_acl_mdl.h"
#include "svp_acl_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

// config_path names acl.json, relative to the current folder, or is NULL. Its object "profiler"
// enables profiling; the environment variable MSPROF_ACL_JSON=FILE overrides config_path. The call
// never fails because of a bad configuration: the error is printed on stderr and the application
// runs unprofiled.
SVP_ACL_API svp_acl_error svp_acl_init(const char* config_path);
SVP_ACL_API svp_acl_error svp_acl_finalize(void);

#ifdef __cplusplus
}
#endif
