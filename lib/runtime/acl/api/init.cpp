// Start and end of the interface.
#include "acl/acl.h"
#include "runtime/acl/api/call.hpp"
#include "runtime/acl/device/runtime.hpp"
#include "runtime/acl/prof/profiler.hpp"

using namespace msprof::acl;

namespace {

void finalise() {
  {
    const RecordedCall record(Call::aclFinalize);
    Runtime::instance().finalise();
  }
  // The remaining tasks of all streams have been recorded by now.
  finish_profiling();
}

}  // namespace

extern "C" {

aclError aclInit(const char* configPath) {
  return guarded(__func__, [&]() -> aclError {
    const RecordedCall record(Call::aclInit);
    Runtime::instance().initialise();
    const aclError code = configure_profiling(configPath);
    if (code != ACL_SUCCESS) Runtime::instance().finalise();
    return code;
  });
}

aclError aclFinalize() {
  return guarded(__func__, finalise);
}

aclError aclFinalizeReference(uint64_t* refCount) {
  return guarded(__func__, [&] {
    finalise();
    if (refCount != nullptr) *refCount = 0;
  });
}

}  // extern "C"
