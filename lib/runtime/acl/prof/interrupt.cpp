#include "runtime/acl/prof/interrupt.hpp"

#include <semaphore.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>

#include "runtime/engine/blocked_signals.hpp"

namespace msprof::acl {
namespace {

constexpr std::chrono::seconds kTimeOfTheApplication{2};

// State of the signal handler, complete before the handler is installed. It uses no descriptor: the
// application may close it and reuse its number.
struct Watch {
  struct sigaction before = {};  // the application's handler
  void (*close_recordings)() = nullptr;
  sem_t interrupts = {};
  pid_t process = 0;
};
Watch watch;
std::atomic<bool> active{false};
std::atomic<pid_t> inside{0};  // the thread that runs the handler

bool is_default() {
  return (watch.before.sa_flags & SA_SIGINFO) == 0 && watch.before.sa_handler == SIG_DFL;
}

// Ends the process by the signal, as if no handler were installed.
void end_by_signal() {
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  sigaction(SIGINT, &standard, nullptr);
  kill(getpid(), SIGINT);
}

void on_interrupt(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  // A handler of the application may call this one, and this one calls that handler: break the
  // loop.
  const auto thread = static_cast<pid_t>(syscall(SYS_gettid));
  if (inside.load() == thread) return;
  const pid_t before = inside.exchange(thread);
  // A forked child has no closing thread and no recordings to close.
  const bool is_ours = active.load() && watch.process == getpid();
  const bool woken = is_ours && sem_post(&watch.interrupts) == 0;
  if (is_default()) {
    if (!woken) end_by_signal();
  } else if ((watch.before.sa_flags & SA_SIGINFO) != 0) {
    watch.before.sa_sigaction(signal, info, context);
  } else if (watch.before.sa_handler != SIG_IGN) {
    watch.before.sa_handler(signal);
  }
  inside.store(before);
  errno = error;
}

void wait_for_interrupts() {
  for (;;) {
    if (sem_wait(&watch.interrupts) != 0) continue;  // EINTR
    // Pending interrupts count as one.
    while (sem_trywait(&watch.interrupts) == 0) {
    }
    if (!is_default()) std::this_thread::sleep_for(kTimeOfTheApplication);
    if (active.load()) watch.close_recordings();
    if (is_default()) end_by_signal();
  }
}

// Starts the thread that closes the recordings; it runs until the process ends.
bool start_thread() {
  sem_init(&watch.interrupts, 0, 0);
  try {
    const runtime::BlockedSignals inherited;
    std::thread(wait_for_interrupts).detach();
    watch.process = getpid();
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

}  // namespace

void watch_interrupts(void (*close_recordings)()) {
  if (active.load()) return;
  struct sigaction current = {};
  if (sigaction(SIGINT, nullptr, &current) != 0) return;
  if ((current.sa_flags & SA_SIGINFO) == 0 && current.sa_handler == SIG_IGN) return;
  watch.close_recordings = close_recordings;
  // A forked child does not have its parent's thread, so it starts its own.
  if (watch.process != getpid() && !start_thread()) return;
  active.store(true);
  if ((current.sa_flags & SA_SIGINFO) != 0 && current.sa_sigaction == on_interrupt) return;
  watch.before = current;
  struct sigaction ours = current;
  ours.sa_sigaction = on_interrupt;
  ours.sa_flags |= SA_SIGINFO | (is_default() ? SA_RESTART : 0);
  // SA_RESETHAND, meant for the application's handler, must not remove this one.
  ours.sa_flags &= ~static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &ours, nullptr);
}

void ignore_interrupts() {
  active.store(false);
}

}  // namespace msprof::acl
