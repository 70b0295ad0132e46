/* Programs that also have the folder acl/ itself in their include path. */
#include "acl.h"

#include "acl_base.h"
#include "acl_mdl.h"
#include "acl_prof.h"
#include "acl_rt.h"
#include "ops/acl_dvpp.h"

extern int short_names_resolve(void);
int short_names_resolve(void) {
  return ACL_SUCCESS;
}
