/* The headers as a C application sees them. */
#include "svp_acl.h"
#include "svp_acl_ext.h"
#include "svp_acl_prof.h"

/* Names and values used by programs for boards. */
_Static_assert(SVP_ACL_MDL_LOAD_FROM_MEM == 3, "a load type");
_Static_assert(SVP_ACL_NET_TYPE_CNN == 1 && SVP_ACL_NET_TYPE_RECURRENT == 2, "net types");
_Static_assert(SVP_ACL_MDL_PATH_PTR == 2 && SVP_ACL_MDL_MEM_ADDR_PTR == 3, "attributes");
_Static_assert(SVP_ACL_MDL_MEM_SIZET == 4 && SVP_ACL_MDL_PRIORITY_PREEMP_EN_BOOL == 13, "more");
_Static_assert(SVP_ACL_MAX_BATCH_NUM == 1 && SVP_ACL_MAX_HW_NUM == 100, "limits");
_Static_assert(SVP_ACL_BUFFER_REUSE_DISCONT == 1 && SVP_ACL_INOUT_REUSE_CONT == 2, "reuse");
_Static_assert(SVP_ACL_ERROR_RT_REPORT_TIMEOUT == 507012, "what a wait for CPU tasks gives");
_Static_assert(SVP_ACL_ERROR_MODEL_NOT_DYNAMIC == 100019, "an error");
_Static_assert(SVP_ACL_YUV422SP_U8 == 9 && SVP_ACL_BGGR_RAW16 == 0x125, "formats");
_Static_assert(SVP_ACL_VU_PACKAGE_U8 == 0x129 && SVP_ACL_BGRX_PACKAGE_U8 == 0x111, "more");
_Static_assert(SVP_ACL_UINT4 == 108 && SVP_ACL_STRING == 13, "data types");
_Static_assert(sizeof(svp_acl_float16) == 2, "a type");
_Static_assert(sizeof SVP_ACL_DYNAMIC_TENSOR_NAME == sizeof "svp_acl_mbatch_shape_data", "a name");

int c_application(void);

int c_application(void) {
  svp_acl_mdl_io_dims dims = {{0}, 0, {0}};
  uint32_t devices = 0;
  if (svp_acl_init(0) != SVP_ACL_SUCCESS) return 1;
  if (svp_acl_rt_get_device_count(&devices) != SVP_ACL_SUCCESS || devices != 1) return 2;
  if (svp_acl_mdl_get_input_dims(0, 0, &dims) != SVP_ACL_ERROR_INVALID_PARAM) return 3;
  return svp_acl_finalize() == SVP_ACL_SUCCESS ? 0 : 4;
}
