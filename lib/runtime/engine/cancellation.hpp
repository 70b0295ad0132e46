// Keeps pthread_cancel from unwinding out of a record half written, or out of a lock.
#pragma once

#include <pthread.h>

namespace msprof::runtime {

class CancellationDisabled {
 public:
  CancellationDisabled() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~CancellationDisabled() { pthread_setcancelstate(before_, nullptr); }
  CancellationDisabled(const CancellationDisabled&) = delete;
  CancellationDisabled& operator=(const CancellationDisabled&) = delete;

 private:
  int before_ = 0;
};

}  // namespace msprof::runtime
