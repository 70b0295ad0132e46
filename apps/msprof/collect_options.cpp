#include "msprof/collect_options.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/findings.hpp"

namespace msprof {

namespace {

void add_profiler_options(cli::Command& command, CollectArguments& arguments) {
  command.add_option({"--interval", &arguments.interval, "N",
                      "record every N-th inference, 0 to 9999 (default 0: all, as one capture)"});
  command.add_option({"--acl_api,--acl-api",
                      &arguments.acl_api,
                      "on|off",
                      "record the calls of the ACL interface (default on)",
                      {"on", "off"}});
  command.add_option({"--aacpu,--aicpu",
                      &arguments.aicpu,
                      "on|off",
                      "record layers that run on the CPU (default on)",
                      {"on", "off"}});
  command.add_option({"--switch",
                      &arguments.profiler_switch,
                      "on|off",
                      "profile at all (default on)",
                      {"on", "off"}});
  command.add_option({"--aac_metrics,--aac-metrics,--aic_metrics,--aic-metrics", &arguments.metrics,
                      "NAME",
                      "the counters of the AA core (default and only one: ArithmeticUtilization)",
                      aac_metrics_names()});
}

void add_place_options(cli::Command& command, CollectArguments& arguments) {
  command.add_option({"--output", &arguments.output, "DIR",
                      "where the JOB folder arrives (default: the current folder)"});
  command.add_option({"--project", &arguments.project, "DIR",
                      "the folder that is copied for the run (default: the executable's folder, or "
                      "its parent where that has src/acl.json)"});
  command.add_option({"--acl-json,--acl_json", &arguments.acl_json, "FILE",
                      "the application's acl.json where it has another name or place"});
}

// Longer than any run; keeps the arithmetic of the clock in range.
constexpr double kMaxTimeoutSeconds = 1e8;

std::optional<bool> is_on(const std::optional<std::string>& value) {
  if (!value) return std::nullopt;
  return *value == "on";
}

// "NAME=value"; no message shows a value.
void check_variable(const std::string& variable) {
  const auto end = variable.find('=');
  if (end == std::string::npos) {
    throw Error(Exit::usage, "--env takes NAME=VALUE; one of them has no '='");
  }
  const std::string_view name = std::string_view(variable).substr(0, end);
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  if (name == "MSPROF_SSH_PASSWORD") {
    throw Error(Exit::usage, "--env: the password of the board is not for the application");
  }
  if (name.empty() || (name[0] >= '0' && name[0] <= '9') ||
      !std::all_of(name.begin(), name.end(), fits)) {
    throw Error(Exit::usage, fmt::format("--env: '{}' is no name of a variable; it takes letters, "
                                         "digits and '_'",
                                         name));
  }
}

// -m may be left out where the board is only to be cleaned.
void check_main(const CollectArguments& arguments) {
  if (arguments.main) return;
  if (!arguments.board.clean_board) {
    throw Error(Exit::usage, "-m,--main is required: it names the executable");
  }
  if (arguments.all || !arguments.application_arguments.empty()) {
    throw Error(Exit::usage,
                "--clean-board without -m runs nothing; --all and arguments need -m,--main");
  }
}

void add_run_options(cli::Command& command, CollectArguments& arguments) {
  command.add_option({"--timeout", &arguments.timeout_seconds, "S",
                      "end the application after S seconds (fractions allowed) with TERM, which is "
                      "a success; one that fails then, or has to be killed 5 s later, is exit code "
                      "7. What it recorded is kept"});
  cli::Option variable = {"--env", &arguments.environment, "NAME=VALUE",
                          "a variable for the application; may come several times"};
  variable.one_each = true;
  command.add_option(std::move(variable));
  command.add_option({"--all", &arguments.all, "", "then import and export every capture"});
  command.add_option({"--json", &arguments.json, "",
                      "one JSON document on stdout; the application's stdout goes to stderr"});
}

// As ssh(1) with a command would, were it told -t by whoever sits at a terminal.
bool wants_terminal(const CollectArguments& arguments) {
  const BoardArguments& board = arguments.board;
  if (board.tty) return true;
  return !board.no_tty && !arguments.json && !board.password_stdin && ::isatty(STDIN_FILENO) != 0 &&
         ::isatty(STDOUT_FILENO) != 0 && ::isatty(STDERR_FILENO) != 0;
}

}  // namespace

void check_arguments(const CollectArguments& arguments) {
  check_main(arguments);
  check_board_arguments(arguments.board);
  for (const std::string& variable : arguments.environment) check_variable(variable);
  if (arguments.board.no_upload && arguments.project) {
    throw Error(Exit::usage,
                "--project is a folder of this machine; with --no-upload the project is "
                "--remote-dir");
  }
  if (arguments.board.tty && arguments.json) {
    throw Error(FindingId::tty_with_json,
                "--tty makes one stream of the application's stdout and stderr, and --json needs "
                "stdout for its document; give one of them");
  }
  if (arguments.interval && (*arguments.interval < 0 || *arguments.interval > kMaxInterval)) {
    throw Error(Exit::usage,
                fmt::format("--interval {} is not in 0 to {}", *arguments.interval, kMaxInterval));
  }
  if (arguments.timeout_seconds &&
      !(*arguments.timeout_seconds > 0 && *arguments.timeout_seconds <= kMaxTimeoutSeconds)) {
    throw Error(Exit::usage, "--timeout takes a number of seconds above 0");
  }
}

CollectOptions options_of(const CollectArguments& arguments) {
  CollectOptions options;
  options.main = arguments.main.value_or("");
  options.arguments = arguments.application_arguments;
  options.project = arguments.project;
  options.acl_json = arguments.acl_json;
  options.output = arguments.output;
  options.profiler.interval = arguments.interval;
  options.profiler.acl_api = is_on(arguments.acl_api);
  options.profiler.aicpu = is_on(arguments.aicpu);
  options.profiler.on = is_on(arguments.profiler_switch);
  options.profiler.metrics = arguments.metrics;
  options.limits.timeout_seconds = arguments.timeout_seconds;
  options.stdout_to_stderr = arguments.json;
  options.on_terminal = wants_terminal(arguments);
  options.environment = arguments.environment;
  options.remote_dir = arguments.board.remote_dir;
  return options;
}

void add_collect_options(cli::Command& command, CollectArguments& arguments) {
  command.add_option({"-m,--main", &arguments.main, "FILE",
                      "the executable, looked up in the current folder, then in --project, never "
                      "in PATH"});
  add_board_options(command, arguments.board);
  add_profiler_options(command, arguments);
  add_place_options(command, arguments);
  add_run_options(command, arguments);
  add_verbosity(command, arguments.verbosity);
  command.set_rest(&arguments.application_arguments, "go to the application untouched");
}

}  // namespace msprof
