// msprof doctor: checks what would prevent a run from producing a profile, and why a capture has
// none.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "collect/run_folder.hpp"
#include "doctor/board_checks.hpp"
#include "doctor/capture_checks.hpp"
#include "doctor/check.hpp"
#include "doctor/machine_checks.hpp"
#include "doctor/project_checks.hpp"
#include "msprof/board_options.hpp"
#include "msprof/pipeline.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

constexpr const char* kMargin = "           ";  // of the lines below a result
constexpr const char* kAsAbove = "as above";
constexpr std::size_t kLong = 40;  // bytes; shorter texts are repeated, which is easier to read
                                   // than a reference

const char* result_colour(CheckResult result) {
  switch (result) {
    case CheckResult::ok:
      return "\033[32m";
    case CheckResult::warning:
      return "\033[33m";
    case CheckResult::failed:
      return "\033[1;31m";
    case CheckResult::skipped:
      break;
  }
  return "\033[2m";
}

// Prints checks as they are completed, one line each with the remedy below, grouped by subject.
class DoctorReport {
 public:
  // `only_problems`: omits checks that passed or were skipped.
  explicit DoctorReport(bool only_problems) : shows_only_problems_(only_problems) {}

  // Prints the checks added to `list` since the last call.
  void print_new(const CheckList& list) {
    for (; printed_ < list.checks().size(); ++printed_) print(list.checks()[printed_]);
    std::fflush(stdout);
  }

  // "verdict: 1 failed, 2 warnings, 9 ok, 3 skipped"
  static void print_verdict(const CheckList& list) {
    const std::size_t warnings = list.count(CheckResult::warning);
    fmt::print("\nverdict: {} failed, {}, {} ok, {} skipped\n", list.count(CheckResult::failed),
               counted(warnings, "warning"), list.count(CheckResult::ok),
               list.count(CheckResult::skipped));
  }

 private:
  void print(const Check& check) {
    const bool is_problem =
        check.result == CheckResult::warning || check.result == CheckResult::failed;
    if (shows_only_problems_ && !is_problem) return;
    if (check.about != about_) {
      fmt::print("{}{}\n", about_.empty() ? "" : "\n", printable(check.about));
      about_ = check.about;
      shown_.clear();
    }
    const bool colour = is_colour_allowed(STDOUT_FILENO);
    const std::string evidence = shown_once(check.evidence);
    const std::string remedy = shown_once(check.remedy);
    fmt::print("  {}{:<8}{} {}: {}\n", colour ? result_colour(check.result) : "",
               result_name(check.result), colour ? "\033[0m" : "", printable(check.name),
               printable(evidence));
    if (remedy.empty() || (evidence.ends_with(kAsAbove) && remedy == kAsAbove)) return;
    fmt::print("{}{}\n", kMargin, printable(remedy));
  }

  // Replaces a long text, or its long part after ": ", that was already printed under the same
  // heading.
  std::string shown_once(const std::string& text) {
    for (std::size_t at = 0; text.size() - at >= kLong; at += 2) {
      if (shown_.contains(text.substr(at))) return text.substr(0, at) + kAsAbove;
      at = text.find(": ", at);
      if (at == std::string::npos) break;
    }
    for (std::size_t at = 0; text.size() - at >= kLong; at += 2) {
      shown_.insert(text.substr(at));
      at = text.find(": ", at);
      if (at == std::string::npos) break;
    }
    return text;
  }

  bool shows_only_problems_;
  std::size_t printed_ = 0;
  std::string about_;
  std::set<std::string> shown_;  // long texts already printed under this heading
};

// Adds the counts and the checks to the --json document.
void add_checks(nlohmann::ordered_json& document, const CheckList& list) {
  using nlohmann::ordered_json;
  for (const CheckResult result :
       {CheckResult::ok, CheckResult::warning, CheckResult::failed, CheckResult::skipped}) {
    document[std::string(result_name(result))] = list.count(result);
  }
  document["checks"] = ordered_json::array();
  for (const Check& check : list.checks()) {
    ordered_json one = {{"about", valid_utf8(check.about)},
                        {"name", valid_utf8(check.name)},
                        {"result", result_name(check.result)},
                        {"evidence", valid_utf8(check.evidence)}};
    if (!check.remedy.empty()) one["remedy"] = valid_utf8(check.remedy);
    if (check.result == CheckResult::failed) one["exit_code"] = static_cast<int>(check.code);
    document["checks"].push_back(std::move(one));
  }
}

using nlohmann::ordered_json;

struct DoctorArguments {
  CaptureOptions capture;
  BoardArguments board;
  std::optional<std::string> main;
  std::optional<std::string> project;
  std::optional<std::string> acl_json;
  bool json = false;

  // True if a future run is checked; false if only the captures named by -dir are.
  bool before_run() const {
    return capture.dirs.empty() || board.names_board() || main || project || acl_json;
  }
};

class Doctor {
 public:
  explicit Doctor(const DoctorArguments& arguments)
      : arguments_(arguments), report_(arguments.capture.verbosity.quiet) {}

  Exit run() {
    if (arguments_.before_run()) check_before_run();
    if (!arguments_.capture.dirs.empty()) check_captures();
    if (!arguments_.json) DoctorReport::print_verdict(list_);
    return list_.exit_code();
  }

  const CheckList& list() const { return list_; }

 private:
  void check_before_run() {
    const bool on_board = arguments_.board.names_board();
    const fs::path output = arguments_.capture.output.empty() ? "." : arguments_.capture.output;
    check_machine(list_, output, !on_board);
    show();
    std::optional<NamedBoard> board;
    if (on_board) board = name_board();
    const ProjectInfo project = check_project(list_, question(board));
    if (!on_board) check_project_here(list_, project);
    show();
    if (board) {
      list_.begin(board->config.login.name());
      check_board(list_, board->config, project);
    } else if (on_board) {
      list_.begin("board");
      skip_board(list_, "the board is not known");
    }
    show();
  }

  std::optional<NamedBoard> name_board() {
    list_.begin("board");
    const auto& config = arguments_.board.config;
    try {
      NamedBoard board = find_board(arguments_.board);
      if (config) check_board_file(list_, *config, board.config);
      show();
      return board;
    } catch (const Error& error) {
      list_.fail(config ? "ini file" : "--host", error);
      return std::nullopt;
    }
  }

  ProjectQuestion question(const std::optional<NamedBoard>& board) const {
    ProjectQuestion question;
    question.main = arguments_.main;
    question.project = arguments_.project;
    question.acl_json = arguments_.acl_json;
    question.is_on_board = arguments_.board.names_board();
    if (board) question.private_files = board->private_files;
    return question;
  }

  void check_captures() {
    for (const ChosenCapture& capture : choose_captures(arguments_.capture)) {
      interrupt::check();
      check_capture(list_, capture.folder, capture.products);
      show();
    }
  }

  void show() {
    if (!arguments_.json) report_.print_new(list_);
  }

  const DoctorArguments& arguments_;
  CheckList list_;
  DoctorReport report_;
};

Exit run_doctor(const DoctorArguments& arguments) {
  apply_verbosity(arguments.capture.verbosity);
  Doctor doctor(arguments);
  ordered_json document = {{"schema", "msprof.doctor/2"}};
  const auto work = [&] {
    check_board_arguments(arguments.board);
    const Exit exit = doctor.run();
    add_checks(document, doctor.list());
    return exit;
  };
  return arguments.json ? print_document(document, work) : work();
}

}  // namespace

void add_doctor_command(cli::Command& root) {
  auto arguments = std::make_shared<DoctorArguments>();
  cli::Command& command = root.add_command(
      "doctor",
      "Check the requirements of a profiled run, or why data is missing from a capture. Each check "
      "prints its evidence and a remedy. Without -dir: checks this machine, the project (-m, or "
      "the one in this folder) and, with --config or --host, the board. With -dir: checks "
      "captures. Nothing is changed. The exit code is 0 unless a check failed.");
  command.set_examples(
      "  msprof doctor                                this machine and the project in this folder\n"
      "  msprof doctor --config board.ini -m main     also the board, before a run\n"
      "  msprof doctor -dir JOBXXX                    why is there no op_summary?\n"
      "  msprof doctor -dir PROF_XXX --json");
  add_login_options(command, arguments->board);
  command.add_option(
      {"-m,--main", &arguments->main, "FILE",
       "executable, searched as by collect (default: main or out/main, if it exists)"});
  command.add_option({"--project", &arguments->project, "DIR", "project folder, as for collect"});
  command.add_option({"--acl-json,--acl_json", &arguments->acl_json, "FILE",
                      "the application's acl.json, if it has another name or folder"});
  cli::Option dirs = {"--dir,--collection-dir", &arguments->capture.dirs, "DIR",
                      "after a run: capture folders (JOB… or PROF…) or a glob; also -dir"};
  dirs.takes_captures = true;
  command.add_option(std::move(dirs));
  command.add_option({"--output", &arguments->capture.output, "DIR",
                      "before a run: folder for the results; after a run: folder of the store"});
  command.add_option({"--json", &arguments->json, "", "print one JSON document on stdout"});
  add_verbosity(command, arguments->capture.verbosity);
  command.set_action([arguments] { return run_doctor(*arguments); });
}

}  // namespace msprof
