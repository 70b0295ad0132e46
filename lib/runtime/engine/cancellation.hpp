// Prevents pthread_cancel from unwinding while a record is half written or a lock is held.
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
