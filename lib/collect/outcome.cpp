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

// Longest delay of a signal that comes just before the wait.
constexpr std::chrono::milliseconds kLookAgain{100};

void add_no_capture(const RunInfo& info, std::vector<std::string>& causes) {
  if (info.own_acl_json) {
    causes.push_back(
        fmt::format("{} does not call svp_acl_init, or calls it without the path of an acl.json "
                    "(give it with --acl-json FILE if it has another name or place)",
                    info.main));
  } else {
    causes.push_back(
        fmt::format("{} does not call svp_acl_init with the path of an acl.json; the project has "
                    "none, so a default one was put beside {} and into ../src (give yours with "
                    "--acl-json FILE if it has another name or place)",
                    info.main, info.main));
  }
  if (!info.on_board) {
    causes.push_back(
        fmt::format("{} is not linked to a libsvp_acl.so that can profile", info.main));
  } else {
    causes.push_back("AI-ISP is on: the board then makes no JOB folder");
  }
}

void add_no_data(const RunInfo& info, std::vector<std::string>& causes) {
  causes.push_back(
      "the model was converted without --online_model_type=2 (ATC), so it carries nothing to "
      "profile");
  causes.push_back("models were loaded and unloaded, but none was executed");
  if (info.items_off) causes.push_back("--acl_api off and --aacpu off leave little to record");
}

}  // namespace

bool Outcome::ended_on_term() const {
  // A shell, and what follows its habit, ends with 128 and the signal.
  return end.signal == SIGTERM || end.exit_code == 0 || end.exit_code == 128 + SIGTERM;
}

bool Outcome::ok() const {
  if (!end.start_error.empty() || interrupted || end.connection_lost) return false;
  return timed_out ? ended_on_term() : end.exit_code == 0;
}

Exit Outcome::exit_code() const {
  if (interrupted) return Exit::interrupted;
  if (end.connection_lost) return Exit::board_unreachable;
  return ok() ? Exit::ok : Exit::application_failed;
}

Outcome wait_for_end(RunningProgram& program, const WaitLimits& limits, const std::string& name,
                     const std::function<void()>& on_tick) {
  Outcome outcome;
  const auto start = Clock::now();
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
      outcome.seconds = Seconds(Clock::now() - start).count();
      return outcome;
    }
    on_tick();
    const auto now = Clock::now();
    if (interrupt::received() != 0 && !outcome.interrupted) {
      outcome.interrupted = true;
      log::info("asking {} to end; what it recorded is kept (Ctrl-C again: kill it)", name);
      ask(interrupt::received() == SIGINT ? SIGINT : SIGTERM);
    } else if (interrupt::count() > 1 && !insisted) {
      insisted = true;
      program.signal(SIGKILL);
    } else if (limits.timeout_seconds && !outcome.timed_out && !outcome.interrupted &&
               Seconds(now - start).count() >= *limits.timeout_seconds) {
      outcome.timed_out = true;
      log::info("the time limit of {} s is over; asking {} to end", *limits.timeout_seconds, name);
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
    return fmt::format("{} cannot be run: {}", name, outcome.end.start_error);
  }
  if (outcome.end.connection_lost) {
    return fmt::format("the connection was lost while {} ran, so it was ended on the board", name);
  }
  if (outcome.timed_out && outcome.ok()) {
    return fmt::format("{} ran for the {} s of --timeout and ended on the signal ({})", name,
                       limits.timeout_seconds.value_or(0),
                       outcome.end.signal != 0
                           ? signal_name(outcome.end.signal)
                           : fmt::format("exit code {}", outcome.end.exit_code.value_or(0)));
  }
  std::string text =
      outcome.end.signal != 0
          ? fmt::format("{} was killed by {}", name, signal_name(outcome.end.signal))
          : fmt::format("{} exited with code {}", name, outcome.end.exit_code.value_or(0));
  if (outcome.interrupted) text += " after the interrupt";
  if (outcome.timed_out) {
    text += fmt::format(" after the time limit of {} s", limits.timeout_seconds.value_or(0));
  }
  return text;
}

std::vector<std::string> likely_causes(const RunInfo& info) {
  std::vector<std::string> causes;
  if (info.switched_off) return {"profiling was switched off with --switch off"};
  // 127: exit code of the dynamic loader (and a shell).
  if (info.outcome.end.exit_code == 127) {
    causes.push_back(
        "a shared library was not found: libraries belong beside the executable (RUNPATH), into "
        "lib/ of the project or on LD_LIBRARY_PATH");
  }
  if (!info.outcome.ok() || info.outcome.timed_out) {
    causes.push_back(fmt::format(
        "{} ended before {}", info.main,
        info.capture_there ? "a model was executed" : "svp_acl_init or the first model"));
  }
  if (info.output_full) causes.push_back("the disk that the run writes to is full");
  if (info.dump_on) {
    causes.push_back("acl.json also asks for dump, which excludes profiling: switch it off");
  }
  if (info.capture_there) {
    add_no_data(info, causes);
  } else {
    add_no_capture(info, causes);
    causes.push_back(
        "no model was loaded and executed (a model without --online_model_type=2 "
        "carries nothing to profile)");
  }
  return causes;
}

}  // namespace msprof
