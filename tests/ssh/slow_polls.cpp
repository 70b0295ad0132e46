#include "slow_polls.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <thread>

namespace msprof::test {

namespace {

std::atomic<std::chrono::microseconds::rep> poll_us = 0;

}  // namespace

SlowPolls::SlowPolls(std::chrono::microseconds each) {
  poll_us = each.count();
}

SlowPolls::~SlowPolls() {
  poll_us = 0;
}

}  // namespace msprof::test

// Replaces the C library's poll(), also for libssh. <poll.h> is not included, as it may define
// poll() inline.
extern "C" int poll(struct pollfd* fds, unsigned long count, int milliseconds) {
  const std::chrono::microseconds time(msprof::test::poll_us.load());
  if (milliseconds == 0 && time.count() > 0) std::this_thread::sleep_for(time);
  return static_cast<int>(::syscall(SYS_poll, fds, count, milliseconds));
}
