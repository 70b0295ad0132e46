// Kept for programs that include it: what it stands for elsewhere has no function here.
#pragma once

#include "acl_base.h"
