#include "runtime/include/svp_acl.h"

#include "runtime/api/runtime_state.hpp"

using msprof::runtime::guarded;
using msprof::runtime::RuntimeState;

extern "C" {

svp_acl_error svp_acl_init(const char* config_path) {
  return guarded(__func__, [&] { return RuntimeState::instance().init(config_path); });
}

svp_acl_error svp_acl_finalize() {
  return guarded(__func__, [] { return RuntimeState::instance().finalize(); });
}

}  // extern "C"
