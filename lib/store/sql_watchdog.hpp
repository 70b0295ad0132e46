// SqlWatchdog: ends the program when SQL of somebody else hangs within a single function, where
// SQLite never looks at the clock: instr() and trim() of long texts can take hours. For SqlGuard.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace msprof {

class SqlWatchdog {
 public:
  // `message` is the program's last, with the exit code of wrong usage. Nothing is written but to
  // stdout by those who ask, so that nothing half-made stays.
  explicit SqlWatchdog(std::string message);
  ~SqlWatchdog();
  SqlWatchdog(const SqlWatchdog&) = delete;
  SqlWatchdog& operator=(const SqlWatchdog&) = delete;

  // From now on work must be over in `seconds`, or calm() be called.
  void expect_within(double seconds);
  void calm() { deadline_ns_ = 0; }

 private:
  void watch();

  std::string message_;
  std::atomic<std::int64_t> deadline_ns_{0};  // of the steady clock; 0: none
  std::mutex mutex_;
  std::condition_variable wake_;
  bool is_over_ = false;
  std::thread thread_;  // the last member: it uses the others
};

}  // namespace msprof
