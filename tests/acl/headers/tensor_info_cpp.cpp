// Programs that bring structures of acl_prof.h along say so by a macro.
#define ACL_PROF_TENSOR_INFO_DEFINED
struct aclprofTensor;
struct aclprofTensorInfo;
struct aclprofEventAttributes;
#include "acl/acl_prof.h"

struct aclprofEventAttributes {
  int own;
};
static_assert(sizeof(aclprofEventAttributes) == sizeof(int));
