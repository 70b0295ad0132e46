// Restores signal handlers after a test of interrupts.
#pragma once

#include <array>
#include <csignal>

namespace msprof::test {

// The destructor restores the process's handlers of the signals that interrupt::install() changes.
class SignalsAsBefore {
 public:
  SignalsAsBefore() {
    for (std::size_t i = 0; i < kNumbers.size(); ++i)
      ::sigaction(kNumbers[i], nullptr, &before_[i]);
  }
  ~SignalsAsBefore() {
    for (std::size_t i = 0; i < kNumbers.size(); ++i)
      ::sigaction(kNumbers[i], &before_[i], nullptr);
  }
  SignalsAsBefore(const SignalsAsBefore&) = delete;
  SignalsAsBefore& operator=(const SignalsAsBefore&) = delete;

 private:
  static constexpr std::array kNumbers = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ};
  std::array<struct sigaction, kNumbers.size()> before_{};
};

}  // namespace msprof::test
