// What a call of the application does rarely: locks, system calls, a new thread.
#pragma once

#include <cerrno>

#include "runtime/engine/blocked_signals.hpp"
#include "runtime/engine/cancellation.hpp"

namespace msprof::runtime {

// While one lives no pthread_cancel unwinds out of a lock, and no handler of the application runs
// in the thread: one that records would wait for that lock for ever. Afterwards errno is as before.
class Undisturbed {
 public:
  Undisturbed() = default;
  ~Undisturbed() { errno = error_; }
  Undisturbed(const Undisturbed&) = delete;
  Undisturbed& operator=(const Undisturbed&) = delete;

 private:
  const int error_ = errno;
  const CancellationDisabled no_cancellation_;
  const BlockedSignals no_signals_;
};

}  // namespace msprof::runtime
