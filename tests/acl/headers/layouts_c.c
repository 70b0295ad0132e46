#include "acl/headers/layouts.h"
