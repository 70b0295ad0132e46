// Includes the whole interface except profiling (acl_prof.h), media and operator libraries.
#pragma once

#include "acl_mdl.h"
#include "acl_op.h"
#include "acl_rt.h"
