// Programs with their own copies of structures of acl_prof.h define this macro.
#define ACL_PROF_TENSOR_INFO_DEFINED
struct aclprofTensor;
struct aclprofTensorInfo;
struct aclprofEventAttributes;
#include "acl/acl_prof.h"

struct aclprofEventAttributes {
  int own;
};
static_assert(sizeof(aclprofEventAttributes) == sizeof(int));
