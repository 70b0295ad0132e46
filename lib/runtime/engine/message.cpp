#include "runtime/engine/message.hpp"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace msprof::runtime {

void say(std::string_view sentence) {
  const std::string line = "msprof runtime: " + std::string(sentence) + "\n";
  sigset_t pipe_signal, before, pending;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  // A SIGPIPE that was already pending belongs to the application and stays pending.
  const bool was_pending = sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
  pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
  const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
  if (written < 0 && errno == EPIPE && !was_pending) {
    const timespec no_wait = {};
    sigtimedwait(&pipe_signal, nullptr, &no_wait);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace msprof::runtime
