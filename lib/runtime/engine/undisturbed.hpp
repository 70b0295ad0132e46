// Guard for rare, slow operations in an application call: locks, system calls, a new thread.
#pragma once

#include <cerrno>

#include "runtime/engine/blocked_signals.hpp"
#include "runtime/engine/cancellation.hpp"

namespace msprof::runtime {

// During its lifetime pthread_cancel cannot unwind while a lock is held, and no signal handler of
// the application runs in this thread: a handler that records would wait for the lock forever.
// Restores errno when destroyed.
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
