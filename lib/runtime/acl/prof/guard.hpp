// What every C function does around its body.
#pragma once

#include <pthread.h>

#include <exception>
#include <new>
#include <string>

#include "runtime/acl/include/acl/acl_base.h"
#include "runtime/engine/message.hpp"

namespace msprof::acl {

// pthread_cancel must not unwind out of a record half written.
class CancellationDisabled {
 public:
  CancellationDisabled() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~CancellationDisabled() { pthread_setcancelstate(before_, nullptr); }
  CancellationDisabled(const CancellationDisabled&) = delete;
  CancellationDisabled& operator=(const CancellationDisabled&) = delete;

 private:
  int before_ = 0;
};

// Runs the body of a C function; what it throws becomes an error code and a sentence on stderr.
template <typename Body>
aclError guarded(const char* function, Body body) {
  const CancellationDisabled no_cancellation;
  try {
    return body();
  } catch (const std::bad_alloc&) {
    runtime::say(std::string(function) + ": out of memory");
    return ACL_ERROR_BAD_ALLOC;
  } catch (const std::exception& error) {
    runtime::say(std::string(function) + ": " + error.what());
    return ACL_ERROR_INTERNAL_ERROR;
  }
}

}  // namespace msprof::acl
