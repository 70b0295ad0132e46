/* The headers as an application written in C sees them. */
#include "svp_acl.h"
#include "svp_acl_ext.h"
#include "svp_acl_prof.h"

int c_application(void);

int c_application(void) {
  svp_acl_mdl_io_dims dims = {{0}, 0, {0}};
  uint32_t devices = 0;
  if (svp_acl_init(0) != SVP_ACL_SUCCESS) return 1;
  if (svp_acl_rt_get_device_count(&devices) != SVP_ACL_SUCCESS || devices != 1) return 2;
  if (svp_acl_mdl_get_input_dims(0, 0, &dims) != SVP_ACL_ERROR_INVALID_PARAM) return 3;
  return svp_acl_finalize() == SVP_ACL_SUCCESS ? 0 : 4;
}
