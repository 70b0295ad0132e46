#include "runtime/acl/prof/recorder.hpp"
