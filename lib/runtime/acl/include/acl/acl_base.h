// Base types of all other headers: error codes, data types, buffers, tensor descriptions.
#pragma once

#include "../error_codes/ge_error_codes.h"
#include "../error_codes/rt_error_codes.h"
#include "acl_base_mdl.h"
#include "acl_base_rt.h"
