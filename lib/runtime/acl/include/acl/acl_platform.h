// Empty; exists for programs that include it.
#pragma once

#include "acl_base.h"
