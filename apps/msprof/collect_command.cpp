// msprof collect: run an application profiled and bring its capture home.
#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>

#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/shell_word.hpp"
#include "base/text.hpp"
#include "board/ssh_host.hpp"
#include "collect/collector.hpp"
#include "collect/local_host.hpp"
#include "msprof/collect_document.hpp"
#include "msprof/collect_options.hpp"
#include "msprof/json_document.hpp"
#include "msprof/pipeline.hpp"

namespace msprof {

namespace {

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

void say_next(const CollectResult& result, bool all) {
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

// Runs, brings home and, with --all, processes; what --json prints comes to `document`.
Exit collect_on(Host& host, const CollectArguments& arguments, const CollectOptions& options,
                const ProcessCapture& process, nlohmann::ordered_json& document) {
  CollectResult result;
  try {
    collect(options, host, result);
  } catch (const Error&) {
    document.update(document_of(result));  // how far it came
    if (!result.remains.empty()) log::info("{}", result.remains);
    throw;
  }
  nlohmann::json reports = nlohmann::json::array();
  // A Ctrl-C that ended the application is how an endless one is stopped: its capture is wanted.
  if (result.outcome.interrupted && interrupt::received() == SIGINT) interrupt::acknowledge();
  // So it is where the terminal is closed over a long run.
  interrupt::ignore_hangup();
  if (arguments.all) {
    result.exit_code = gravest(result.exit_code, process_captures(result, process, reports));
  }
  say_next(result, arguments.all);
  if (!result.remains.empty()) log::info("{}", result.remains);
  document.update(document_of(result));
  if (arguments.all) document["results"] = std::move(reports);
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
  // What the look at the board told is wanted most where an error ended the run.
  const auto note_facts = [&] {
    if (!host.facts().system.empty()) document["board"] = document_of(host.facts());
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
      "Run an application profiled on a copy of its project and bring home the JOB folder. The "
      "application starts in the copy of the current folder where that lies in the project, else "
      "in the executable's folder; what it writes there comes to <output>/<JOB>.files. With "
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
