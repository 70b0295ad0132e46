// Threads of the runtime take no signal of the application.
#pragma once

#include <signal.h>

#include <initializer_list>

namespace msprof::runtime {

// Blocks every signal but some in the thread where it lives; threads made meanwhile keep them
// blocked.
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
