#include "store/sql_watchdog.hpp"

#include <unistd.h>

#include <chrono>

#include "base/error.hpp"
#include "base/log.hpp"

namespace msprof {

namespace {

constexpr std::chrono::milliseconds kBetweenLooks{200};

std::int64_t now_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

}  // namespace

SqlWatchdog::SqlWatchdog(std::string message)
    : message_(std::move(message)), thread_([this] { watch(); }) {}

SqlWatchdog::~SqlWatchdog() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void SqlWatchdog::expect_within(double seconds) {
  deadline_ns_ = now_ns() + static_cast<std::int64_t>(seconds * 1e9);
}

void SqlWatchdog::watch() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, kBetweenLooks, [this] { return is_over_; })) {
    const std::int64_t deadline = deadline_ns_;
    if (deadline == 0 || now_ns() < deadline) continue;
    log::error("{}", message_);
    ::_exit(static_cast<int>(Exit::usage));
  }
}

}  // namespace msprof
