// Keeps signals of the application out of the runtime's threads.
#pragma once

#include <signal.h>

#include <initializer_list>

namespace msprof::runtime {

// Blocks every signal except `but_for` in the current thread during its lifetime. Threads created
// meanwhile keep the mask.
class BlockedSignals {
 public:
  explicit BlockedSignals(std::initializer_list<int> but_for = {}) {
    sigset_t blocked;
    sigfillset(&blocked);
    for (const int signal : but_for) sigdelset(&blocked, signal);
    pthread_sigmask(SIG_SETMASK, &blocked, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace msprof::runtime
