#include "collect/outcome.hpp"

#include <fmt/format.h>
#include <string.h>

#include <csignal>

#include "base/interrupt.hpp"
#include "base/log.hpp"

namespace msprof {

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

// Maximum delay for a signal that arrives just before the wait.
constexpr std::chrono::milliseconds kLookAgain{100};

}  // namespace

bool Outcome::has_ended_on_term() const {
  // A shell, and programs that follow its convention, exit with 128 plus the signal number.
  return end.signal == SIGTERM || end.exit_code == 0 || end.exit_code == 128 + SIGTERM;
}

bool Outcome::has_succeeded() const {
  if (!end.start_error.empty() || was_interrupted || end.is_connection_lost || !end.cut.empty()) {
    return false;
  }
  return has_timed_out ? has_ended_on_term() : end.exit_code == 0;
}

Exit Outcome::exit_code() const {
  if (was_interrupted) return Exit::interrupted;
  if (end.is_connection_lost || !end.cut.empty()) return Exit::board_unreachable;
  return has_succeeded() || end.is_unknown ? Exit::ok : Exit::application_failed;
}

Outcome wait_for_end(RunningProgram& program, const WaitLimits& limits, const std::string& name,
                     const std::function<void()>& on_tick) {
  Outcome outcome;
  const auto start =
      Clock::now() - std::chrono::duration_cast<Clock::duration>(Seconds(limits.elapsed_seconds));
  auto kill_at = Clock::time_point::max();
  bool insisted = false;
  const auto ask = [&](int number) {
    program.signal(number);
    kill_at =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(Seconds(limits.grace_seconds));
  };
  for (;;) {
    if (const auto end = program.wait(kLookAgain)) {
      outcome.end = *end;
      outcome.has_timed_out = outcome.has_timed_out || end->has_timed_out;
      outcome.seconds = end->seconds > 0 ? end->seconds : Seconds(Clock::now() - start).count();
      return outcome;
    }
    on_tick();
    const auto now = Clock::now();
    if (interrupt::received() != 0 && !outcome.was_interrupted) {
      outcome.was_interrupted = true;
      log::info("stopping {} with its recording kept (Ctrl-C again: kill it)", name);
      ask(interrupt::received() == SIGINT ? SIGINT : SIGTERM);
    } else if (interrupt::count() > 1 && !insisted) {
      insisted = true;
      program.signal(SIGKILL);
    } else if (limits.timeout_seconds && !outcome.has_timed_out && !outcome.was_interrupted &&
               Seconds(now - start).count() >= *limits.timeout_seconds) {
      outcome.has_timed_out = true;
      log::info("the time limit of {} s is reached; stopping {}", *limits.timeout_seconds, name);
      ask(SIGTERM);
    } else if (now >= kill_at) {
      program.signal(SIGKILL);
      kill_at = Clock::time_point::max();
    }
  }
}

std::string signal_name(int number) {
  const char* name = ::sigabbrev_np(number);
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", number);
}

std::string describe(const Outcome& outcome, const std::string& name, const WaitLimits& limits) {
  if (!outcome.end.start_error.empty()) {
    return fmt::format("cannot run {}: {}", name, outcome.end.start_error);
  }
  if (outcome.end.is_connection_lost) {
    return fmt::format("the connection was lost while {} ran, so the board stopped it", name);
  }
  if (!outcome.end.cut.empty()) {
    return fmt::format("the run of {} was interrupted: {}; its own outcome is unknown", name,
                       outcome.end.cut);
  }
  if (outcome.has_timed_out && outcome.has_succeeded()) {
    return fmt::format("{} ran for the {} s of --timeout and was stopped by the signal ({})", name,
                       limits.timeout_seconds.value_or(0),
                       outcome.end.signal != 0
                           ? signal_name(outcome.end.signal)
                           : fmt::format("exit code {}", outcome.end.exit_code.value_or(0)));
  }
  std::string text =
      outcome.end.signal != 0
          ? fmt::format("{} was killed by {}", name, signal_name(outcome.end.signal))
          : fmt::format("{} exited with code {}", name, outcome.end.exit_code.value_or(0));
  if (outcome.was_interrupted) text += " after the interrupt";
  if (outcome.has_timed_out) {
    text += fmt::format(" after the time limit of {} s", limits.timeout_seconds.value_or(0));
  }
  return text;
}

}  // namespace msprof
