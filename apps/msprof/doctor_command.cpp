// msprof doctor: what keeps a run from giving a profile, and why a capture has none.
#include <nlohmann/json.hpp>

#include "base/interrupt.hpp"
#include "collect/run_folder.hpp"
#include "doctor/board_checks.hpp"
#include "doctor/capture_checks.hpp"
#include "doctor/machine_checks.hpp"
#include "doctor/project_checks.hpp"
#include "msprof/board_options.hpp"
#include "msprof/doctor_report.hpp"
#include "msprof/json_document.hpp"
#include "msprof/pipeline.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

using nlohmann::ordered_json;

struct DoctorArguments {
  CaptureOptions capture;
  BoardArguments board;
  std::optional<std::string> main;
  std::optional<std::string> project;
  std::optional<std::string> acl_json;
  bool json = false;

  // A run to come is asked about; else only what -dir names.
  bool before_run() const {
    return capture.dirs.empty() || board.names_board() || main || project || acl_json;
  }
};

class Doctor {
 public:
  explicit Doctor(const DoctorArguments& arguments)
      : arguments_(arguments), report_(arguments.capture.verbosity.quiet) {}

  Exit run() {
    if (arguments_.before_run()) look_ahead();
    if (!arguments_.capture.dirs.empty()) look_at_captures();
    if (!arguments_.json) DoctorReport::print_verdict(list_);
    return list_.exit_code();
  }

  const CheckList& list() const { return list_; }

 private:
  void look_ahead() {
    const bool on_board = arguments_.board.names_board();
    const fs::path output = arguments_.capture.output.empty() ? "." : arguments_.capture.output;
    check_machine(list_, output, !on_board);
    show();
    std::optional<NamedBoard> board;
    if (on_board) board = name_board();
    const ProjectFacts project = check_project(list_, question(board));
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
    question.on_board = arguments_.board.names_board();
    if (board) question.private_files = board->private_files;
    return question;
  }

  void look_at_captures() {
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
      "Check what a profiled run needs, or why a capture lacks something: each check with its "
      "evidence and with what mends it. Without -dir: this machine, the project (-m, or what is in "
      "this folder) and, with --config or --host, the board, where nothing is changed. With -dir: "
      "captures, which are not changed either. The exit code is 0 unless a check failed.");
  command.set_examples(
      "  msprof doctor                                this machine and the project in this folder\n"
      "  msprof doctor --config board.ini -m main     the same and the board, before a run\n"
      "  msprof doctor -dir JOBXXX                    why does it give no op_summary?\n"
      "  msprof doctor -dir PROF_XXX --json");
  add_login_options(command, arguments->board);
  command.add_option({"-m,--main", &arguments->main, "FILE",
                      "the executable, looked up as by collect (default: main or out/main, where "
                      "one is there)"});
  command.add_option(
      {"--project", &arguments->project, "DIR", "the project's folder, as for collect"});
  command.add_option({"--acl-json,--acl_json", &arguments->acl_json, "FILE",
                      "the application's acl.json where it has another name or place"});
  cli::Option dirs = {"--dir,--collection-dir", &arguments->capture.dirs, "DIR",
                      "after a run: capture folder (JOB… or PROF…), several, or a glob; also -dir"};
  dirs.takes_captures = true;
  command.add_option(std::move(dirs));
  command.add_option({"--output", &arguments->capture.output, "DIR",
                      "before a run: where results would arrive; after one: where the store is"});
  command.add_option({"--json", &arguments->json, "", "print one JSON document on stdout"});
  add_verbosity(command, arguments->capture.verbosity);
  command.set_action([arguments] { return run_doctor(*arguments); });
}

}  // namespace msprof
