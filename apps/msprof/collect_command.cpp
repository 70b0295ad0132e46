// msprof collect: run an application profiled and fetch its capture.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/findings.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "board/ssh_host.hpp"
#include "collect/collector.hpp"
#include "collect/local_host.hpp"
#include "msprof/board_options.hpp"
#include "msprof/pipeline.hpp"
#include "msprof/verbs.hpp"

namespace msprof {

namespace {

struct CollectArguments {
  std::optional<std::string> main;
  BoardArguments board;
  std::optional<long> interval;
  std::optional<std::string> acl_api;
  std::optional<std::string> aicpu;
  std::optional<std::string> profiler_switch;
  std::optional<std::string> metrics;
  std::optional<std::string> output;
  std::optional<std::string> project;
  std::optional<std::string> acl_json;
  std::optional<double> timeout_seconds;
  std::vector<std::string> environment;
  bool all = false;
  bool json = false;
  Verbosity verbosity;
  std::vector<std::string> application_arguments;
};

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
                      "where the JOB folder is put (default: the current folder)"});
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
    throw Error(Exit::usage, "--env: do not pass the board's password to the application");
  }
  if (name.empty() || (name[0] >= '0' && name[0] <= '9') ||
      !std::all_of(name.begin(), name.end(), fits)) {
    throw Error(
        Exit::usage,
        fmt::format("--env: '{}' is not the name of a variable; use letters, digits and '_'",
                    name));
  }
}

// -m may be left out where the board is only to be cleaned.
void check_main(const CollectArguments& arguments) {
  if (arguments.main) return;
  if (!arguments.board.clean_board) {
    throw Error(Exit::usage, "-m,--main is required: it gives the executable");
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
                          "a variable for the application; may be given several times"};
  variable.one_each = true;
  command.add_option(std::move(variable));
  command.add_option({"--all", &arguments.all, "", "then import and export every capture"});
  command.add_option({"--json", &arguments.json, "",
                      "one JSON document on stdout; the application's stdout goes to stderr"});
}

// Asks for a terminal like ssh(1) with a command and -t, given by a user at a terminal.
bool wants_terminal(const CollectArguments& arguments) {
  const BoardArguments& board = arguments.board;
  if (board.tty) return true;
  return !board.no_tty && !arguments.json && !board.password_stdin && ::isatty(STDIN_FILENO) != 0 &&
         ::isatty(STDOUT_FILENO) != 0 && ::isatty(STDERR_FILENO) != 0;
}

// Throws Error(usage) for values out of range and for what does not go together.
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
    throw Error(Exit::usage, fmt::format("--interval {} is not between 0 and {}",
                                         *arguments.interval, kMaxInterval));
  }
  if (arguments.timeout_seconds &&
      !(*arguments.timeout_seconds > 0 && *arguments.timeout_seconds <= kMaxTimeoutSeconds)) {
    throw Error(Exit::usage, "--timeout takes a number of seconds above 0");
  }
}

// Makes the request for collect(), without what only a host knows.
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
  command.set_rest(&arguments.application_arguments, "are passed to the application unchanged");
}

// Document of `collect --json`. For the verb collect.

nlohmann::json paths_json(const std::vector<std::filesystem::path>& paths) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& path : paths) list.push_back(valid_utf8(path.string()));
  return list;
}

nlohmann::json application_json(const Outcome& outcome) {
  nlohmann::json application = {{"seconds", outcome.seconds},
                                {"interrupted", outcome.interrupted},
                                {"timed_out", outcome.timed_out},
                                {"connection_lost", outcome.end.connection_lost}};
  const ProgramEnd& end = outcome.end;
  if (end.exit_code) application["exit_code"] = *end.exit_code;
  if (end.signal != 0) application["signal"] = signal_name(end.signal);
  if (!end.start_error.empty()) application["start_error"] = end.start_error;
  return application;
}

nlohmann::json document_of(const CollectResult& result) {
  nlohmann::json document = {
      {"main", valid_utf8(result.main)},       {"application", application_json(result.outcome)},
      {"captures", nlohmann::json::array()},   {"files", paths_json(result.files)},
      {"deleted", paths_json(result.deleted)}, {"steps", nlohmann::json::array()}};
  for (const CollectedCapture& capture : result.captures) {
    document["captures"].push_back(
        {{"path", valid_utf8(capture.path.string())}, {"has_data", capture.has_data}});
  }
  for (const CollectStep& step : result.steps) {
    document["steps"].push_back({{"name", step.name},
                                 {"seconds", step.seconds},
                                 {"bytes", step.bytes},
                                 {"files", step.files}});
  }
  document["notes"] = nlohmann::json::array();
  for (const std::string& note : result.notes) document["notes"].push_back(valid_utf8(note));
  if (!result.remains.empty()) document["remains"] = valid_utf8(result.remains);
  if (!result.problem.empty()) {
    document["error"] = valid_utf8(result.problem);
    document["likely_causes"] = result.likely_causes;
  }
  return document;
}

nlohmann::json document_of(const BoardInfo& info) {
  return {{"system", valid_utf8(info.system)},
          {"machine", valid_utf8(info.machine)},
          {"folder", valid_utf8(info.folder)},
          {"free_bytes", info.free_bytes},
          {"tar", info.has_tar},
          {"sftp", info.has_sftp}};
}

// Processes every capture that holds data; a failure of one leaves the others.
Exit process_captures(CollectResult& result, const ProcessCapture& process,
                      nlohmann::json& reports) {
  Exit code = Exit::ok;
  const auto start = std::chrono::steady_clock::now();
  for (const CollectedCapture& capture : result.captures) {
    if (!capture.has_data) continue;
    nlohmann::json report = nlohmann::json::object();
    Exit one = Exit::ok;
    try {
      interrupt::check();
      one = process(capture.path, &report);
    } catch (const Error& error) {
      if (error.code() == Exit::interrupted) {
        log::info("not imported: {} (interrupted)", capture.path.string());
      } else {
        log::failure(error);
      }
      report["error"] = valid_utf8(error.what());
      one = error.code();
    }
    report["capture"] = valid_utf8(capture.path.string());
    report["exit_code"] = static_cast<int>(one);
    reports.push_back(std::move(report));
    code = gravest(code, one);
  }
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  result.steps.push_back({"import and export", spent.count(), 0});
  return code;
}

void print_next(const CollectResult& result, bool all) {
  for (const CollectedCapture& capture : result.captures) {
    if (!capture.has_data) continue;
    const std::string path = shell_word(capture.path.string());
    if (all) {
      log::info("next: msprof show -dir {}", path);
    } else {
      log::info("next: msprof import -dir {0}, then msprof show -dir {0}", path);
    }
    return;
  }
}

// Runs, fetches and, with --all, processes; the output of --json goes to `document`.
Exit collect_on(Host& host, const CollectArguments& arguments, const CollectOptions& options,
                const ProcessCapture& process, nlohmann::ordered_json& document) {
  CollectResult result;
  try {
    collect(options, host, result);
  } catch (const Error&) {
    document.update(document_of(result));  // the last step reached
    if (!result.remains.empty()) log::info("{}", result.remains);
    throw;
  }
  nlohmann::json reports = nlohmann::json::array();
  // A Ctrl-C that ended the application is how an endless one is stopped: its capture is wanted.
  if (result.outcome.interrupted && interrupt::received() == SIGINT) interrupt::acknowledge();
  // The same holds for a terminal that is closed over a long run.
  interrupt::ignore_hangup();
  if (arguments.all) {
    result.exit_code = gravest(result.exit_code, process_captures(result, process, reports));
  }
  print_next(result, arguments.all);
  if (!result.remains.empty()) log::info("{}", result.remains);
  document.update(document_of(result));
  if (arguments.all) document["results"] = reports;
  return result.exit_code;
}

Exit collect_here(const CollectArguments& arguments, const ProcessCapture& process,
                  nlohmann::ordered_json& document) {
  take_password_variable();  // the application would inherit it
  CollectOptions options = options_of(arguments);
  const std::filesystem::path runs = runs_folder(user_cache_folder());
  options.private_folders.push_back(runs);
  LocalHost host(runs);
  document["host"] = host.name();
  return collect_on(host, arguments, options, process, document);
}

// Removes what msprof keeps on the board, and runs nothing.
Exit clean_board(SshHost& host, nlohmann::ordered_json& document) {
  const auto start = std::chrono::steady_clock::now();
  host.clean_board();
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  document["steps"] = {{{"name", "clean board"}, {"seconds", spent.count()}}};
  return Exit::ok;
}

Exit collect_on_board(const CollectArguments& arguments, const ProcessCapture& process,
                      nlohmann::ordered_json& document) {
  const NamedBoard board = find_board(arguments.board);
  SshHost host(board.config, board.options);
  document["host"] = valid_utf8(host.name());
  CollectOptions options = options_of(arguments);
  options.private_files = board.private_files;
  // Results of the probe of the board are wanted most when an error ended the run.
  const auto note_facts = [&] {
    if (!host.info().system.empty()) document["board"] = document_of(host.info());
  };
  try {
    const Exit code = arguments.main ? collect_on(host, arguments, options, process, document)
                                     : clean_board(host, document);
    note_facts();
    return code;
  } catch (const Error&) {
    note_facts();
    throw;
  }
}

Exit run_collect(const CollectArguments& arguments, const ProcessCapture& process) {
  apply_verbosity(arguments.verbosity);
  nlohmann::ordered_json document = {{"schema", "msprof.collect/2"}};
  const auto work = [&] {
    check_arguments(arguments);
    return arguments.board.names_board() ? collect_on_board(arguments, process, document)
                                         : collect_here(arguments, process, document);
  };
  return arguments.json ? print_document(document, work) : work();
}

}  // namespace

void add_collect_command(cli::Command& root) {
  add_collect_command(root, import_and_export);
}

void add_collect_command(cli::Command& root, ProcessCapture process) {
  auto arguments = std::make_shared<CollectArguments>();
  cli::Command& command = root.add_command(
      "collect",
      "Profile an application, run on a copy of its project, and fetch the JOB folder. The "
      "application starts in the copy of the current folder if that is part of the project, else "
      "in the executable's folder; what it writes there is put into <output>/<JOB>.files. With "
      "--config or --host it runs on a board, over SSH, else on this machine.");
  command.set_examples(
      "  msprof collect -m main --config board.ini --all   run ./main on a board, import, export\n"
      "  msprof collect -m main --host root@192.168.1.10 --env THREADS=2\n"
      "  msprof collect --host root@192.168.1.10 --clean-board\n"
      "  msprof collect -m main --all                      the same on this machine\n"
      "  msprof collect -m out/main --output /data/profiles -- --images 100\n"
      "  msprof collect -m main --interval 10 --timeout 60\n"
      "  msprof collect -m main --acl-json config/profile.json --json");
  add_collect_options(command, *arguments);
  // The options live as long as the command that writes to them.
  command.set_action(
      [arguments, process = std::move(process)] { return run_collect(*arguments, process); });
}

}  // namespace msprof
