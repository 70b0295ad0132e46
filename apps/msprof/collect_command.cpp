// msprof collect: profiles an application and fetches its capture.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/findings.hpp"
#include "base/interrupt.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "board/ssh_host.hpp"
#include "collect/cann/application.hpp"
#include "collect/local_host.hpp"
#include "collect/svp_injection.hpp"
#include "import/record_layout.hpp"
#include "msprof/board_options.hpp"
#include "msprof/cann_collection.hpp"
#include "msprof/collect_environment.hpp"
#include "msprof/collect_runs.hpp"
#include "msprof/collection.hpp"
#include "msprof/pipeline.hpp"
#include "msprof/server_collection.hpp"
#include "msprof/survive_options.hpp"
#include "msprof/verbs.hpp"
#include "store/layout_origin.hpp"
#include "watch/live_view.hpp"

namespace msprof {

namespace {

// An option of CANN's collector, with the collector's name.
struct CannOption {
  std::string name;
  std::optional<std::string> value;
};

struct CollectArguments : RunsRequest {
  ResumeArguments resume;
  std::optional<long> interval;
  std::optional<std::string> acl_api;
  std::optional<std::string> aicpu;
  std::optional<std::string> profiler_switch;
  std::optional<std::string> metrics;
  std::optional<std::string> project;
  std::optional<std::string> acl_json;
  std::optional<double> timeout_seconds;
  std::optional<double> grace_seconds;  // set by tests; empty: default of WaitLimits
  std::vector<std::string> environment;
  std::optional<std::string> dialect;
  std::optional<std::string> runtime;
  std::optional<std::string> framework;
  std::optional<std::string> profiling_options;
  std::vector<CannOption> cann_options;
  std::string layout;
  bool cann = false;
  bool all = false;
  bool json = false;
  bool watch = false;
  Verbosity verbosity;
  std::vector<std::string> application_arguments;
};

constexpr const char* kBoardTopic = "board";

void add_profiler_options(cli::Command& command, CollectArguments& arguments) {
  command.begin_group("Recording on boards", kBoardTopic);
  command.add_option({"--interval", &arguments.interval, "N",
                      "record every N-th inference, 0 to 9999 (default 0: all, in one capture)"});
  command.add_option({"--acl_api,--acl-api",
                      &arguments.acl_api,
                      "on|off",
                      "record calls of the ACL API (default on)",
                      {"on", "off"}});
  command.add_option({"--aacpu,--aicpu",
                      &arguments.aicpu,
                      "on|off",
                      "record layers that run on the CPU (default on)",
                      {"on", "off"}});
  command.add_option({"--switch",
                      &arguments.profiler_switch,
                      "on|off",
                      "enable profiling (default on)",
                      {"on", "off"}});
  command.add_option(
      {"--aac_metrics,--aac-metrics,--aic_metrics,--aic-metrics", &arguments.metrics, "NAME",
       "AA core counters: ArithmeticUtilization (the default), or none, which switches "
       "the cores off; with --cann: AI core counters"});
  command.add_option({"--acl-json,--acl_json", &arguments.acl_json, "FILE",
                      "the application's acl.json, if it has another name or folder"});
  command.add_option({"--layout", &arguments.layout, "FILE",
                      "JSON description of the board's record layouts, for --all and later imports "
                      "(default: see import)"});
}

// Returns true for options of CANN's collector that are renamed or missing here.
bool is_elsewhere(const CollectorOption& option) {
  constexpr std::array kElsewhere = {"output", "application", "aicpu", "aic-metrics",
                                     "python-path"};
  return option.scope == CollectorScope::offline ||
         std::find(kElsewhere.begin(), kElsewhere.end(), option.name) != kElsewhere.end();
}

void add_cann_options(cli::Command& command, CollectArguments& arguments) {
  command.begin_group("Applications on CANN", "cann");
  command.add_option(
      {"--cann", &arguments.cann, "", "the application is for CANN; short for --dialect cann"});
  command.add_option({"--dialect",
                      &arguments.dialect,
                      "svp|cann",
                      "the application's platform (default: cann if it, one of its libraries or a "
                      "Python script loads libascendcl, otherwise svp)",
                      {"svp", "cann"}});
  command.add_option({"--runtime",
                      &arguments.runtime,
                      "vendor|cann|host",
                      "with --cann: use the vendor's msprof in PATH, an installed CANN, or the "
                      "host runtime (default: the first that exists)",
                      {"vendor", "cann", "host"}});
  command.add_option({"--framework", &arguments.framework, "tf|mindspore|torch",
                      "with --cann: set the variables that enable profiling in this framework",
                      framework_names()});
  command.add_option({"--profiling-options", &arguments.profiling_options, "JSON",
                      "with --framework tf: its profiling_options, checked before the start "
                      "(default: the documented ones)"});
  // reserve(): add_option() keeps references to the elements.
  arguments.cann_options.reserve(collector_options().size());
  for (const CollectorOption& option : collector_options()) {
    if (is_elsewhere(option)) continue;
    CannOption& own = arguments.cann_options.emplace_back();
    own.name = option.name;
    std::string help(option.help);
    if (!option.by_default.empty()) help += fmt::format(" (default {})", option.by_default);
    command.add_option({fmt::format("--{}", option.name), &own.value, std::string(option.values),
                        std::move(help)});
  }
}

// Longer than any run, but small enough for the clock arithmetic.
constexpr double kMaxTimeoutSeconds = 1e8;

std::optional<bool> is_on(const std::optional<std::string>& value) {
  if (!value) return std::nullopt;
  return *value == "on";
}

bool is_given(const CollectArguments& arguments, std::string_view cann_option) {
  return std::any_of(
      arguments.cann_options.begin(), arguments.cann_options.end(),
      [&](const CannOption& option) { return option.name == cann_option && option.value; });
}

// -m is optional if the board is only cleaned, and if the applications are already running.
void check_main(const CollectArguments& arguments) {
  if (arguments.main || arguments.resume.is_given()) return;
  if (is_given(arguments, "pid")) {
    if (arguments.watch)
      throw Error(Exit::usage,
                  "--watch works only with an application that msprof starts: it cannot be used "
                  "with --pid");
    if (!arguments.board.names_board()) return;
    throw Error(
        Exit::usage,
        "--pid selects local processes: run msprof on that machine, without --config and --host");
  }
  if (!arguments.board.run.clean_board) {
    throw Error(Exit::usage, "-m,--main FILE is required: the executable to run");
  }
  if (arguments.all || arguments.watch || !arguments.application_arguments.empty()) {
    throw Error(Exit::usage,
                "--clean-board without -m runs nothing; --all, --watch and arguments need "
                "-m,--main");
  }
}

void add_application_options(cli::Command& command, CollectArguments& arguments) {
  command.begin_group("Application");
  command.add_option(
      {"-m,--main", &arguments.main, "FILE",
       "executable, searched in the current folder, then in --project; not in PATH"});
  command.add_option({"--project", &arguments.project, "DIR",
                      "folder copied for the run (default: the executable's folder, or its parent "
                      "if that has src/acl.json)"});
  cli::Option variable = {"--env", &arguments.environment, "NAME=VALUE",
                          "environment variable for the application; can be repeated"};
  variable.takes_one_each = true;
  command.add_option(std::move(variable));
  command.add_option(
      {"--timeout", &arguments.timeout_seconds, "S",
       "stop the application with SIGTERM after S seconds (can be fractional). Exit code 0, or 7 "
       "if it then fails or must be killed 5 s later. Its recording is kept"});
  add_repeat_options(command, arguments.repeat);
}

void add_result_options(cli::Command& command, CollectArguments& arguments) {
  command.begin_group("Results");
  command.add_option({"--output", &arguments.output, "DIR",
                      "folder for the JOB folder (default: the current folder)"});
  command.add_option({"--all", &arguments.all, "", "then import and export all captures"});
  command.add_option({"--watch", &arguments.watch, "",
                      "show live status: executions per second, slowest layers, bytes, disk; "
                      "updated in place on a terminal, otherwise a line every 10 s"});
  command.add_option(
      {"--json", &arguments.json, "",
       "print one JSON document on stdout; the application's stdout is sent to stderr"});
  add_verbosity(command, arguments.verbosity);
}

// Returns true to request a terminal like ssh -t: with --tty, or by default if stdin, stdout and
// stderr are terminals.
bool wants_terminal(const CollectArguments& arguments) {
  const BoardArguments& board = arguments.board;
  if (board.tty) return true;
  if (board.run.survives || arguments.resume.is_given()) return false;
  return !board.no_tty && !arguments.json && !board.password_stdin && ::isatty(STDIN_FILENO) != 0 &&
         ::isatty(STDOUT_FILENO) != 0 && ::isatty(STDERR_FILENO) != 0;
}

const char* find_svp_option(const CollectArguments& arguments) {
  if (arguments.interval) return "--interval";
  if (arguments.acl_api) return "--acl_api";
  if (arguments.profiler_switch) return "--switch";
  if (arguments.acl_json) return "--acl-json";
  if (!arguments.layout.empty()) return "--layout";
  return arguments.project && !arguments.board.upload ? "--project" : nullptr;
}

// Returns the first given option, such as "--msproftx"; empty if there is none.
std::string find_cann_option(const CollectArguments& arguments) {
  if (arguments.runtime) return "--runtime";
  if (arguments.framework) return "--framework";
  if (arguments.profiling_options) return "--profiling-options";
  for (const CannOption& option : arguments.cann_options) {
    if (option.value) return "--" + option.name;
  }
  return "";
}

bool asks_for_cann(const CollectArguments& arguments) {
  return arguments.cann || arguments.dialect == "cann";
}

// Throws Error(usage) if options of both dialects are given.
void check_dialect(const CollectArguments& arguments) {
  if (arguments.cann && arguments.dialect == "svp")
    throw Error(Exit::usage, "--cann and --dialect svp cannot be combined");
  const bool wants_cann = asks_for_cann(arguments);
  const char* const svp = find_svp_option(arguments);
  if (wants_cann && svp != nullptr)
    throw Error(
        Exit::usage,
        fmt::format("{} is for applications on SVP boards: it cannot be used with --cann", svp));
  const std::string cann = find_cann_option(arguments);
  if (arguments.dialect == "svp" && !cann.empty())
    throw Error(
        Exit::usage,
        fmt::format("{} is for applications on CANN: it cannot be used with --dialect svp", cann));
  if (!cann.empty() && svp != nullptr)
    throw Error(
        Exit::usage,
        fmt::format("{} is for applications on CANN, {} for SVP boards: give only one of them",
                    cann, svp));
}

// Returns true if a local run is of a CANN application: by option, or by the libraries it loads.
bool is_cann(const CollectArguments& arguments) {
  if (arguments.cann || arguments.dialect) return arguments.cann || arguments.dialect == "cann";
  const std::string option = find_cann_option(arguments);
  if (is_given(arguments, "pid")) return true;
  if (!arguments.main || find_svp_option(arguments) != nullptr) return false;
  ApplicationKind kind = ApplicationKind::unknown;
  try {
    const std::filesystem::path current = std::filesystem::current_path();
    const RuntimeSurroundings around = read_surroundings();
    kind = detect_kind(
        find_application(*arguments.main, arguments.application_arguments, current, around.path),
        current, around.library_path);
  } catch (const Error& error) {
    // A missing program is reported when it is to be started.
    if (error.code() == Exit::partial_data) throw;
  }
  if (kind != ApplicationKind::cann && !option.empty())
    throw Error(Exit::usage, fmt::format("{} is for applications on CANN, but {} does not appear "
                                         "to be one: add --cann to use it anyway",
                                         option, *arguments.main));
  return kind == ApplicationKind::cann;
}

CannRequest cann_request(const CollectArguments& arguments) {
  CannRequest request;
  request.main = arguments.main.value_or("");
  request.arguments = arguments.application_arguments;
  request.runtime = arguments.runtime;
  request.framework = arguments.framework;
  request.profiling_options = arguments.profiling_options;
  for (const CannOption& option : arguments.cann_options) {
    if (option.value) request.settings.set(option.name, *option.value);
  }
  if (arguments.aicpu) request.settings.set("aicpu", *arguments.aicpu);
  if (arguments.metrics) request.settings.set("aic-metrics", *arguments.metrics);
  return request;
}

// Throws Error(usage) if a run is resumed and an option requires a newly started run.
void check_resume(const CollectArguments& arguments) {
  if (!arguments.resume.is_given()) return;
  const std::pair<bool, const char*> options[] = {
      {arguments.main.has_value(), "-m"},
      {!arguments.application_arguments.empty(), "an application argument"},
      {arguments.timeout_seconds.has_value(), "--timeout"},
      {!arguments.environment.empty(), "--env"},
      {arguments.project.has_value(), "--project"},
      {arguments.board.no_upload, "--no-upload"},
      {arguments.board.run.no_cache, "--no-cache"},
      {arguments.board.run.clean_board, "--clean-board"},
      {arguments.interval.has_value(), "--interval"},
      {arguments.repeat.runs.has_value(), "--repeat"},
  };
  for (const auto& [given, name] : options) {
    if (!given) continue;
    throw Error(Exit::usage, fmt::format("{}: {} applies only when a run is started: remove it",
                                         arguments.resume.name(), name));
  }
}

// Throws Error(usage) for values out of range and for conflicting options.
void check_arguments(const CollectArguments& arguments) {
  check_main(arguments);
  check_board_arguments(arguments.board,
                        asks_for_cann(arguments) ? MachineKind::server : MachineKind::board);
  check_dialect(arguments);
  check_survive_arguments(arguments.resume, arguments.board, asks_for_cann(arguments));
  check_resume(arguments);
  const std::string cann = find_cann_option(arguments);
  if (arguments.board.names_board() && !asks_for_cann(arguments) && !cann.empty())
    throw Error(Exit::usage, fmt::format("{} is for applications on CANN: add --cann", cann));
  if (arguments.board.remote_dir && !arguments.board.names_board()) {
    throw Error(Exit::usage, "--remote-dir is a folder on a board: add --config or --host");
  }
  check_variables(arguments.environment);
  if (arguments.board.no_upload && arguments.project) {
    throw Error(Exit::usage,
                "--project is a local folder; with --no-upload the project is --remote-dir");
  }
  if (arguments.board.tty && arguments.json) {
    throw Error(FindingId::tty_with_json,
                "--tty and --json cannot be combined: --tty merges the application's stdout and "
                "stderr, and --json needs stdout for its document");
  }
  if (arguments.interval && (*arguments.interval < 0 || *arguments.interval > kMaxInterval)) {
    throw Error(Exit::usage, fmt::format("--interval: expected 0 to {1}, got {0}",
                                         *arguments.interval, kMaxInterval));
  }
  if (arguments.timeout_seconds &&
      !(*arguments.timeout_seconds > 0 && *arguments.timeout_seconds <= kMaxTimeoutSeconds)) {
    throw Error(Exit::usage, fmt::format("--timeout: expected seconds > 0 and <= 1e8, got {}",
                                         *arguments.timeout_seconds));
  }
}

SvpInjection svp_injection(const CollectArguments& arguments) {
  const auto& names = aac_metrics_names();
  if (arguments.metrics &&
      std::find(names.begin(), names.end(), *arguments.metrics) == names.end()) {
    throw Error(Exit::usage,
                fmt::format("--aac_metrics: expected {}, got '{}'{}", listed(names, "or"),
                            *arguments.metrics, did_you_mean(*arguments.metrics, names)));
  }
  ProfilerOptions profiler;
  profiler.interval = arguments.interval;
  profiler.acl_api = is_on(arguments.acl_api);
  profiler.aicpu = is_on(arguments.aicpu);
  profiler.on = is_on(arguments.profiler_switch);
  profiler.metrics = arguments.metrics;
  return {profiler, arguments.acl_json, arguments.dialect == "svp"};
}

// For --watch; null if not requested. Records are read with the layout that an import would use.
std::unique_ptr<RunWatch> make_watch(const CollectArguments& arguments) {
  if (!arguments.watch) return nullptr;
  LayoutPlaces places = layout_places();
  places.given = layout_option(arguments.layout);
  return std::make_unique<watch::LiveView>(std::move(places));
}

// Creates the request for collect(), without the parts that depend on host or dialect.
CollectOptions make_collect_options(const CollectArguments& arguments, const RunPlace& place) {
  CollectOptions options = place.options;
  options.main = arguments.main.value_or("");
  options.arguments = arguments.application_arguments;
  options.project = arguments.project;
  options.limits.timeout_seconds = arguments.timeout_seconds;
  if (arguments.grace_seconds) options.limits.grace_seconds = *arguments.grace_seconds;
  options.sends_stdout_to_stderr = arguments.json;
  options.is_on_terminal = wants_terminal(arguments);
  options.environment = arguments.environment;
  options.existing_folder = arguments.board.remote_dir;
  options.resumes = arguments.resume.is_given();
  return options;
}

void add_collect_options(cli::Command& command, CollectArguments& arguments) {
  add_application_options(command, arguments);
  command.begin_group("Boards and servers, over SSH", kBoardTopic);
  add_board_options(command, arguments.board);
  add_survive_options(command, arguments.board, arguments.resume);
  add_profiler_options(command, arguments);
  add_cann_options(command, arguments);
  add_result_options(command, arguments);
  command.set_usual_options(
      {"--main",  "--project",        "--env",         "--timeout", "--repeat",   "--config",
       "--host",  "--password-stdin", "--clean-board", "--survive", "--interval", "--acl_api",
       "--aacpu", "--cann",           "--output",      "--all",     "--watch",    "--json",
       "--quiet", "--verbose"},
      {{kBoardTopic, "list all options for boards and servers"},
       {"cann", "list all options for applications on CANN"}});
  command.set_rest(&arguments.application_arguments, "are passed to the application unchanged");
}

nlohmann::json board_info_json(const BoardInfo& info) {
  return {{"system", valid_utf8(info.system)},
          {"machine", valid_utf8(info.machine)},
          {"folder", valid_utf8(info.folder)},
          {"free_bytes", info.free_bytes},
          {"tar", info.has_tar},
          {"sftp", info.has_sftp}};
}

Exit collect_here(const CollectArguments& arguments, const RunPlace& place,
                  const CollectionPlan& plan, nlohmann::ordered_json& document) {
  take_password_variable();  // the application would inherit it
  CollectOptions options = make_collect_options(arguments, place);
  const std::unique_ptr<RunWatch> watch = make_watch(arguments);
  options.watch = watch.get();
  if (is_cann(arguments)) return collect_cann(cann_request(arguments), options, plan, document);
  const std::filesystem::path runs = runs_folder(user_cache_folder());
  options.private_folders.push_back(runs);
  SvpInjection injection = svp_injection(arguments);
  options.injection = &injection;
  LocalHost host(runs);
  document["host"] = host.name();
  return run_collection(host, options, plan, document);
}

// Removes msprof's files from the board without running anything.
Exit clean_board(SshHost& host, nlohmann::ordered_json& document) {
  const auto start = std::chrono::steady_clock::now();
  host.clean_board();
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  document["steps"] = {{{"name", "clean board"}, {"seconds", spent.count()}}};
  return Exit::ok;
}

Exit run_on_board(SshHost& host, const CollectArguments& arguments, CollectOptions options,
                  const CollectionPlan& plan, nlohmann::ordered_json& document) {
  if (!arguments.main && !arguments.resume.is_given()) return clean_board(host, document);
  if (asks_for_cann(arguments))
    return collect_cann_on_server(host, cann_request(arguments), arguments.board, options, plan,
                                  document);
  SvpInjection injection = svp_injection(arguments);
  options.injection = &injection;
  return run_collection(host, options, plan, document);
}

Exit collect_on_board(const CollectArguments& arguments, const RunPlace& place,
                      const CollectionPlan& plan, nlohmann::ordered_json& document) {
  CollectOptions options = make_collect_options(arguments, place);
  NamedBoard board = *place.board;
  board.options.clean_board = board.options.clean_board && place.cleans_board;
  board.options.drain.output = std::filesystem::weakly_canonical(std::filesystem::current_path() /
                                                                 options.output.value_or("."));
  set_resume(board.options, arguments.resume, plan.record.options);
  const bool is_server = asks_for_cann(arguments) && arguments.main;
  SshHost host(board.config, is_server
                                 ? server_options(board.options, arguments.board, arguments.all)
                                 : board.options);
  document["host"] = valid_utf8(host.name());
  const std::unique_ptr<RunWatch> watch = make_watch(arguments);
  options.watch = watch.get();
  options.private_files = board.private_files;
  // The results of probing the board matter most if an error ended the run.
  const auto note_facts = [&] {
    if (!host.info().system.empty()) document["board"] = board_info_json(host.info());
  };
  try {
    const Exit code = run_on_board(host, arguments, options, plan, document);
    note_facts();
    return code;
  } catch (const Error&) {
    note_facts();
    throw;
  }
}

// --fetch --all-runs: fetches one run at a time. A failed one does not stop the others.
Exit fetch_all_runs(const CollectArguments& arguments, const RunPlace& place,
                    const CollectionPlan& plan, nlohmann::ordered_json& document) {
  SshHost host(place.board->config, place.board->options);
  document["schema"] = "msprof.collect_left_runs/1";
  document["host"] = valid_utf8(host.name());
  document["runs"] = nlohmann::ordered_json::array();
  Exit exit = Exit::ok;
  for (const LeftRun& run : host.left_runs()) {
    interrupt::check();
    CollectArguments one = arguments;
    one.resume.fetch = run.name;
    nlohmann::ordered_json its_document = {{"schema", "msprof.collect/2"}, {"run", run.name}};
    exit = gravest(exit, fill_document(its_document, [&] {
                     return collect_on_board(one, place, plan, its_document);
                   }));
    document["runs"].push_back(std::move(its_document));
  }
  return exit;
}

// Returns the command-line options for run.json; --env without values.
RunRecord::Facts given_options(const cli::Command& command, const CollectArguments& arguments) {
  RunRecord::Facts options = cli::given_options(command);
  for (auto& [name, value] : options) {
    if (name != "--env") continue;
    value.clear();
    for (const std::string& variable : arguments.environment)
      value += (value.empty() ? "" : " ") + variable.substr(0, variable.find('='));
  }
  return options;
}

Exit run_collect(CollectArguments& arguments, const ProcessCapture& processing,
                 const cli::Command& command) {
  apply_verbosity(arguments.verbosity);
  CollectionPlan plan;
  plan.record.options = given_options(command, arguments);
  nlohmann::ordered_json document = {{"schema", "msprof.collect/2"}};
  const auto work = [&] {
    take_one_board(arguments.board);
    check_arguments(arguments);
    arguments.reads_words = is_given(arguments, "dynamic") || is_given(arguments, "pid");
    check_runs(arguments);
    const LayoutChoice layout = layout_option(arguments.layout);
    if (!layout.json.empty()) {
      const bool is_inferred = LayoutSet::parse(layout.json, layout.file).is_inferred();
      plan.record.layout = {layout.file, std::string(source_name(layout.source)), layout.json,
                            std::string(layout_origin_name(is_inferred ? LayoutOrigin::inferred
                                                                       : LayoutOrigin::described))};
    }
    if (arguments.all) {
      plan.process = processing;
      if (!plan.process)
        plan.process = [layout](const std::filesystem::path& capture, nlohmann::json* report) {
          return import_and_export(capture, report, layout);
        };
    }
    const auto collect = [&](const RunPlace& place, const CollectionPlan& its,
                             nlohmann::ordered_json& its_document) {
      if (place.board == nullptr) return collect_here(arguments, place, its, its_document);
      return arguments.resume.all_runs ? fetch_all_runs(arguments, place, its, its_document)
                                       : collect_on_board(arguments, place, its, its_document);
    };
    return collect_all(arguments, plan, collect, document);
  };
  return arguments.json ? print_document(document, work) : work();
}

}  // namespace

void add_collect_command(cli::Command& root) {
  add_collect_command(root, nullptr);
}

void add_collect_command(cli::Command& root, ProcessCapture process,
                         std::optional<double> grace_seconds) {
  auto arguments = std::make_shared<CollectArguments>();
  arguments->grace_seconds = grace_seconds;
  cli::Command& command = root.add_command(
      "collect",
      "Profile an application on a copy of its project and fetch the JOB folder. It starts in the "
      "copy of the current folder if that is part of the project, otherwise in the executable's "
      "folder. Files that it writes there are put into <output>/<JOB>.files. With --config or "
      "--host it runs on a board over SSH, otherwise on this machine.");
  command.set_examples(
      "  msprof collect -m main --config board.ini --all   run ./main on a board, import, export\n"
      "  msprof collect -m main --host root@192.168.1.10 --env THREADS=2\n"
      "  msprof collect -m main --host root@192.168.1.10,root@192.168.1.11   two boards at once\n"
      "  msprof collect -m main --repeat 5                 five runs, for msprof compare\n"
      "  msprof collect -m main --config board.ini --survive   then: collect --attach --config …\n"
      "  msprof collect --host root@192.168.1.10 --clean-board\n"
      "  msprof collect -m infer --host me@server --cann   run an application that is already on a "
      "server\n"
      "  msprof collect -m main --all                      run ./main on this machine, import, "
      "export\n"
      "  msprof collect -m out/main --output /data/profiles -- --images 100\n"
      "  msprof collect -m main --interval 10 --timeout 60\n"
      "  msprof collect -m main --acl-json config/profile.json --json");
  add_collect_options(command, *arguments);
  // The options live as long as the command that writes to them.
  command.set_action([arguments, process = std::move(process), &command] {
    return run_collect(*arguments, process, command);
  });
}

}  // namespace msprof
