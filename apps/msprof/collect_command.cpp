// msprof collect: run an application profiled and bring its capture home.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "collect/collector.hpp"
#include "collect/local_host.hpp"
#include "msprof/json_document.hpp"
#include "msprof/pipeline.hpp"
#include "msprof/verbs.hpp"

namespace msprof {

namespace {

struct CollectArguments {
  std::string main;
  std::optional<std::string> config;
  std::optional<long> interval;
  std::optional<std::string> acl_api;
  std::optional<std::string> aicpu;
  std::optional<std::string> profiler_switch;
  std::optional<std::string> metrics;
  std::optional<std::string> output;
  std::optional<std::string> project;
  std::optional<std::string> acl_json;
  std::optional<double> timeout_seconds;
  bool all = false;
  bool json = false;
  Verbosity verbosity;
  std::vector<std::string> application_arguments;
};

// Longer than any run; keeps the arithmetic of the clock in range.
constexpr double kMaxTimeoutSeconds = 1e8;

std::optional<bool> is_on(const std::optional<std::string>& value) {
  if (!value) return std::nullopt;
  return *value == "on";
}

void check_arguments(const CollectArguments& arguments) {
  if (arguments.config) {
    throw Error(Exit::usage,
                "--config: running on a board over SSH comes with the next step of msprof; without "
                "--config the application runs on this machine");
  }
  if (arguments.main.empty()) throw Error(Exit::usage, "-m is empty: it names the executable");
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
  options.main = arguments.main;
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
  return options;
}

// Imports and exports every capture that holds data; a failure of one leaves the others.
Exit process_captures(CollectResult& result, nlohmann::json& reports) {
  Exit code = Exit::ok;
  const auto start = std::chrono::steady_clock::now();
  for (const CollectedCapture& capture : result.captures) {
    if (!capture.has_data) continue;
    nlohmann::json report = nlohmann::json::object();
    Exit one = Exit::ok;
    try {
      interrupt::check();
      one = import_and_export(capture.path, &report);
    } catch (const Error& error) {
      if (error.code() == Exit::interrupted) {
        log::info("not imported: {} (interrupted)", capture.path.string());
      } else {
        log::error("{}", error.what());
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

nlohmann::json paths_json(const std::vector<std::filesystem::path>& paths) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& path : paths) list.push_back(valid_utf8(path.string()));
  return list;
}

nlohmann::json application_json(const Outcome& outcome) {
  nlohmann::json application = {{"seconds", outcome.seconds},
                                {"interrupted", outcome.interrupted},
                                {"timed_out", outcome.timed_out}};
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
    document["steps"].push_back(
        {{"name", step.name}, {"seconds", step.seconds}, {"bytes", step.bytes}});
  }
  if (!result.problem.empty()) {
    document["error"] = valid_utf8(result.problem);
    document["likely_causes"] = result.likely_causes;
  }
  return document;
}

void say_next(const CollectResult& result, bool all) {
  for (const CollectedCapture& capture : result.captures) {
    if (!capture.has_data) continue;
    const std::string path = capture.path.string();
    if (all) {
      log::info("next: msprof show -dir {}", path);
    } else {
      log::info("next: msprof import -dir {0}, then msprof show -dir {0}", path);
    }
    return;
  }
}

// Runs, brings home and, with --all, processes; what --json prints comes to `document`.
Exit collect_all(const CollectArguments& arguments, nlohmann::ordered_json& document) {
  check_arguments(arguments);
  CollectOptions options = options_of(arguments);
  const std::filesystem::path runs = runs_folder(user_cache_folder());
  options.private_folders.push_back(runs);
  LocalHost host(runs);
  CollectResult result = collect(options, host);

  nlohmann::json reports = nlohmann::json::array();
  // A Ctrl-C that ended the application is how an endless one is stopped: its capture is wanted.
  if (result.outcome.interrupted && interrupt::received() == SIGINT) interrupt::acknowledge();
  if (arguments.all) {
    result.exit_code = gravest(result.exit_code, process_captures(result, reports));
  }
  say_next(result, arguments.all);
  document.update(document_of(result));
  if (arguments.all) document["results"] = std::move(reports);
  return result.exit_code;
}

Exit run_collect(const CollectArguments& arguments) {
  apply_verbosity(arguments.verbosity);
  nlohmann::ordered_json document = {{"schema", "msprof.collect/1"}};
  const auto work = [&] { return collect_all(arguments, document); };
  return arguments.json ? print_document(document, work) : work();
}

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
  command.add_option({"--config", &arguments.config, "FILE",
                      "the login of a board; not yet available, without it the run is here"});
}

}  // namespace

void add_collect_command(cli::Command& root) {
  auto arguments = std::make_shared<CollectArguments>();
  cli::Command& command = root.add_command(
      "collect",
      "Run an application profiled on a copy of its project and bring home the JOB folder. The "
      "application starts in the copy of the current folder where that lies in the project, else "
      "in the executable's folder; what it writes there comes to <output>/<JOB>.files.");
  command.set_examples(
      "  msprof collect -m main --all             run ./main, then import and export its capture\n"
      "  msprof collect -m out/main --output /data/profiles -- --images 100\n"
      "  msprof collect -m main --interval 10 --timeout 60\n"
      "  msprof collect -m main --acl-json config/profile.json --json");
  cli::Option main = {"-m,--main", &arguments->main, "FILE",
                      "the executable, looked up in the current folder, then in --project, never "
                      "in PATH"};
  main.required = true;
  command.add_option(std::move(main));
  add_profiler_options(command, *arguments);
  add_place_options(command, *arguments);
  command.add_option({"--timeout", &arguments->timeout_seconds, "S",
                      "end the application after S seconds (fractions allowed); what it recorded "
                      "is kept"});
  command.add_option({"--all", &arguments->all, "", "then import and export every capture"});
  command.add_option({"--json", &arguments->json, "",
                      "one JSON document on stdout; the application's stdout goes to stderr"});
  add_verbosity(command, arguments->verbosity);
  command.set_rest(&arguments->application_arguments, "go to the application untouched");
  // The options live as long as the command that writes to them.
  command.set_action([arguments] { return run_collect(*arguments); });
}

}  // namespace msprof
