#include "board/ssh_host.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "base/error.hpp"
#include "base/findings.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "board/disk/board_peek.hpp"
#include "board/disk/drained_folder.hpp"
#include "board/disk/removal.hpp"
#include "board/session/program.hpp"
#include "board/session/survive.hpp"
#include "board/transfer/listing.hpp"
#include "board/transfer/remote_project.hpp"
#include "board/transfer/transfer.hpp"
#include "collect/elf_file.hpp"
#include "collect/run_changes.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

// Arguments: $1 folder, $2 name. Writes stdin to the file atomically.
const BoardScript kWriteInto = {"writing beside the raw data", R"sh(
umask 077
cd "$1" && cat >".msprof-$2" && mv -f ".msprof-$2" "$2"
)sh"};

// Arguments: $1 run folder, then the folders in it. May run again after a lost connection.
const BoardScript kMakeRun = {"making the folder of the run", R"sh(
umask 077
mkdir -p "$1" && cd "$1" || exit 1
shift
mkdir -p "$@"
)sh"};

// Arguments: $1 from, $2 to, $3 what to keep: "recording" keeps only the recording if there is one,
// otherwise the whole folder; "brought-home" also marks the results as fetched.
const BoardScript kKeepRun = {"keeping the run on the board", R"sh(
umask 077
mkdir -p "${2%/*}" || exit 1
set -- "$1" "$2" "$3" "$1/profiling"/*
if [ "$3" = recording ] && [ -e "$4" ]; then mv "$1/profiling" "$2"; else mv "$1" "$2"; fi || exit 1
[ "$3" != brought-home ] || : > "$2/brought-home" || :
)sh"};

const BoardScript kUptime = {"asking for the board's uptime", R"sh(
read -r up rest < /proc/uptime
echo "${up%%.*}"
)sh"};

// An application whose recording is drained. If the drain's connection reaches another machine, the
// run ends and the recording stays on the board.
class DrainedProgram : public RunningProgram {
 public:
  DrainedProgram(std::unique_ptr<RunningProgram> program, BoardDrain& drain, BoardLink& link)
      : program_(std::move(program)), drain_(drain), link_(link) {}
  std::optional<ProgramEnd> wait(std::chrono::milliseconds limit) override {
    try {
      drain_.check();
    } catch (const ConnectFailure& stranger) {
      link_.shell().disconnect();
      throw ConnectFailure(
          stranger.why(),
          fmt::format("{}. The board stops the run by itself; its recording is then in {} there",
                      stranger.what(), link_.kept_folder()));
    }
    return program_->wait(limit);
  }
  void signal(int number) override { program_->signal(number); }

 private:
  std::unique_ptr<RunningProgram> program_;
  BoardDrain& drain_;
  BoardLink& link_;
};

BoardStep folder_step(const std::string& folder) {
  return {.script = kMakeRun,
          .arguments = {folder, std::string(kTreeName), std::string(kOutputName)}};
}

Host::Facts list_facts(const BoardInfo& info) {
  Host::Facts facts = {{"system", info.system}};
  if (!info.release.empty()) facts.emplace_back("release", info.release);
  facts.emplace_back("machine", info.machine);
  if (!info.product.empty()) facts.emplace_back("product", info.product);
  if (info.cores > 0) facts.emplace_back("cores", std::to_string(info.cores));
  facts.emplace_back("free_bytes", std::to_string(info.free_bytes));
  facts.emplace_back("tar", info.has_tar ? "yes" : "no");
  facts.emplace_back("sftp", info.has_sftp ? "yes" : "no");
  return facts;
}

// Keeps the name of the project's folder on the board: an application may depend on its own path.
std::string folder_name(const Project& project) {
  std::string name = project.target.root.filename().string();
  return is_acceptable_board_path(name) ? name : "project";
}

}  // namespace

SshHost::SshHost(const BoardConfig& config, const BoardRunOptions& options)
    : Host(config.login.name(), true),
      options_(options),
      link_(config, options.reconnect_seconds),
      leave_(link_, options.leave),
      nfs_(link_, options.nfs) {}

void SshHost::enter(RunPhase next) {
  if (!may_follow(phase_, next)) {
    throw std::logic_error(fmt::format("phase {} of a run on a board cannot follow phase {}",
                                       static_cast<int>(next), static_cast<int>(phase_)));
  }
  phase_ = next;
}

std::string SshHost::on_board(const fs::path& in_project) const {
  return (fs::path(project_) / in_project).lexically_normal().string();
}

// Steps of the upload that are sent together with the request for the lock.
std::vector<BoardStep> SshHost::first_steps(const Project& project) const {
  if (options_.runs_in_place || options_.leave.on || nfs_.is_on() || options_.no_cache) return {};
  std::vector<BoardStep> steps = {folder_step("runs/" + link_.run())};
  for (BoardStep& step : BoardUpload::first_steps(project)) steps.push_back(std::move(step));
  return steps;
}

void SshHost::connect(const Project* expected) {
  if (options_.resume) {
    link_.connect();
    choose_earlier_run();
    link_.lock(options_.force);
    enter(RunPhase::connected);
  } else {
    std::vector<BoardStep> first;
    if (expected != nullptr) first = first_steps(*expected);
    link_.open(options_.force, first);
    enter(first.empty() ? RunPhase::connected : RunPhase::requested);
  }
  facts_ = list_facts(info());
  if (options_.clean_board && !options_.force) refuse_to_lose_results();
}

void SshHost::choose_earlier_run() {
  const LeftRun run =
      choose_left_run(list_left_runs(link_.shell(), info().folder), *options_.resume, name());
  log::info("continuing {}", run.in_words());
  if (!run.who.empty() && run.who != own_name())
    log::info("note: {} was started by {}, and you are {}", run.name, run.who, own_name());
  link_.resume(run.name, run.folder);
}

std::vector<LeftRun> SshHost::left_runs() {
  link_.connect();
  std::vector<LeftRun> runs = list_left_runs(link_.shell(), info().folder);
  link_.close();
  return fetchable_runs(runs, name());
}

std::string SshHost::resume_hint() const {
  return fmt::format("msprof collect --attach {}{}{}", link_.run(),
                     options_.resume_words.empty() ? "" : " ", options_.resume_words);
}

ResumedRun SshHost::resume(bool stdout_to_stderr) {
  ResumedRun run;
  bool has_program = false;
  enter(RunPhase::unfetched);
  link_.with_reconnect([&] {
    find_drained();
    bring_back_run(link_);
    fetch_ = std::make_unique<BoardFetch>(link_, "", "");
    fetch_->take_state(survival_text(link_, "before"));
    run.note = survival_text(link_, "note");
    std::uint64_t began = 0;
    std::uint64_t now = 0;
    has_program = !survival_text(link_, "who").empty();
    const std::string start = survival_text(link_, "start");
    const BoardAnswer up = link_.shell().ask(kUptime, {});
    if (parse_u64(trim(start), began) && parse_u64(trim(up.out), now) && now > began)
      run.elapsed_seconds = static_cast<double>(now - began);
    double limit = 0;
    const std::string text = survival_text(link_, "limit");
    std::istringstream(text) >> limit;
    if (limit > 0) run.timeout_seconds = limit;
  });
  options_.survives = has_program;
  if (!has_program) return run;
  enter(RunPhase::detached);
  run.program = std::make_unique<SurvivingProgram>(link_, stdout_to_stderr, resume_hint());
  return run;
}

// Call before anything changes the run: if this throws, the run stays as it is.
void SshHost::find_drained() {
  if (drain_) return;
  const DrainedRun found = find_drained_run(link_, options_.drain.output, options_.force);
  drain_gap_ = found.gap;
  if (found.folder.empty()) return;
  drain_ = std::make_unique<BoardDrain>(link_, found.folder);
}

void SshHost::refuse_to_lose_results() {
  options_.clean_board = false;
  const std::vector<std::string> runs =
      list_kept_results(link_.shell(), info().folder, link_.run());
  options_.clean_board = runs.empty();
  if (runs.empty()) return;
  const bool is_apart = std::any_of(runs.begin(), runs.end(),
                                    [](const std::string& run) { return run.starts_with('/'); });
  throw Error(FindingId::kept_results,
              fmt::format("{} has results of {} in {}/kept that were never fetched: {}; nothing "
                          "was removed. {} fetches them, --clean-board --force deletes them",
                          name(), info().folder,
                          runs.size() == 1 ? "a run" : fmt::format("{} runs", runs.size()),
                          fmt::join(runs, ", "),
                          is_apart ? "collect --fetch --all-runs"
                                   : copy_command(link_.shell().login(), info().folder + "/kept",
                                                  info().has_sftp)));
}

Project SshHost::existing_project(const std::string& main, const std::string& folder,
                                  const fs::path& scratch) {
  if (options_.runs_in_place) {
    application_ = find_on_server(link_.shell(), folder, main);
    Project project;
    project.target.root = application_.folder;
    project.target.main = application_.program;
    return project;
  }
  RemoteProject found = find_remote_project(link_, main, folder, scratch);
  remote_folder_ = found.project.target.root.string();
  refuse_other_machine(found.program_head, found.project.target.main.string());
  return std::move(found.project);
}

void SshHost::refuse_other_machine(const std::string& head, const std::string& program) const {
  const std::string why = why_not_for_board(head, info().program_head, info().machine);
  if (!why.empty()) {
    throw Error(Exit::application_failed,
                fmt::format("{} cannot run on {}: it is built for {} ({}); build it with the "
                            "board's cross compiler",
                            program, name(), why, info().machine));
  }
}

RunPaths SshHost::open(const Project& project) {
  const bool is_local = !options_.runs_in_place && remote_folder_.empty();
  if (is_local) {
    refuse_other_machine(read_head(project.target.root / project.target.main),
                         project.target.main.string());
  }
  project_ = options_.runs_in_place
                 ? application_.folder
                 : fmt::format("{}/{}/{}", link_.run_folder(), kTreeName, folder_name(project));
  if (phase_ == RunPhase::connected) enter(RunPhase::requested);
  // The folder is created together with the upload if nothing else has to be put into it first.
  const bool later = is_local && !options_.leave.on && !nfs_.is_on() && !options_.no_cache;
  if (!later) make_folder();
  if (options_.leave.on) leave_.open();
  const std::string output = nfs_.is_on() ? nfs_.open() : std::string(kOutputName);
  return {project_, link_.run_folder() + '/' + output};
}

// Waits for the steps that were sent with the request for the lock, if any. The folder of the run
// stays requested if their answers are missing.
void SshHost::await_first_steps() {
  std::vector<BoardAnswer> answers = link_.lease().take_first_answers();
  if (answers.empty()) return;
  link_.shell().require_ok(kMakeRun, answers.front());
  enter(RunPhase::ready);
  upload_answers_.assign(answers.begin() + 1, answers.end());
}

void SshHost::make_folder() {
  if (phase_ == RunPhase::requested) await_first_steps();
  if (phase_ != RunPhase::requested) return;
  const BoardStep step = folder_step(link_.run_folder());
  link_.shell().change(step.script, step.arguments);
  enter(RunPhase::ready);
}

ServerRuntimes SshHost::find_runtimes() {
  make_folder();
  return ServerRuntimes(link_.shell(), link_.run(), link_.run_folder());
}

TransferTotals SshHost::place(const Project& project, const std::vector<ExtraFile>& files) {
  fetch_ = std::make_unique<BoardFetch>(link_, fs::path(project_).filename().string(),
                                        nfs_.is_on() ? nfs_.folder() : "");
  if (options_.runs_in_place) {
    fetch_->remember();
    return {};
  }
  upload_ = std::make_unique<BoardUpload>(link_, project_);
  TransferTotals placed;
  if (!remote_folder_.empty()) {
    upload_->from_board(remote_folder_);
  } else if (options_.no_cache) {
    placed = upload_->directly(project);
  } else {
    placed = place_by_cache(project, files);
    link_.with_reconnect([this] { link_.complete_facts(); });
    facts_ = list_facts(info());
    return placed;
  }
  upload_->place_files(project, files);
  fetch_->remember(remote_folder_);
  return placed;
}

// Combines the steps that follow the upload with it; if they failed, sends them again separately.
TransferTotals SshHost::place_by_cache(const Project& project,
                                       const std::vector<ExtraFile>& files) {
  if (phase_ == RunPhase::requested) await_first_steps();
  const std::vector<BoardStep> own = upload_->place_steps(project, files);
  const std::vector<BoardStep> state = fetch_->remember_steps();
  UploadContext company;
  company.begun = std::exchange(upload_answers_, {});
  if (phase_ == RunPhase::requested) company.before = {folder_step(link_.run_folder())};
  if (!own.empty() || files.empty()) {
    company.after = own;
    company.after.insert(company.after.end(), state.begin(), state.end());
    company.after.push_back(free_step(info().folder));
  }
  const TransferTotals placed = upload_->by_cache(project, company);
  if (phase_ == RunPhase::requested) enter(RunPhase::ready);
  const std::vector<BoardAnswer>& answers = company.answers;
  const auto own_end = static_cast<std::ptrdiff_t>(own.size());
  const auto state_end = own_end + static_cast<std::ptrdiff_t>(state.size());
  const bool asked = answers.size() == own.size() + state.size() + 1;
  const bool is_placed =
      asked && std::all_of(answers.begin(), answers.begin() + own_end,
                           [](const BoardAnswer& answer) { return answer.has_succeeded(); });
  if (!is_placed) upload_->place_files(project, files);
  if (!is_placed ||
      !fetch_->take_remembered({answers.begin() + own_end, answers.begin() + state_end})) {
    fetch_->remember();
  } else {
    note_free(answers.back());
  }
  return placed;
}

// Combines the final queries with the cleanup of processes, if all results are in the run folder.
void SshHost::ask_at_end(BoardProgram& program) {
  std::vector<BoardStep> steps = fetch_->end_steps();
  if (steps.empty() || drain_ || nfs_.is_on() || options_.leave.on) return;
  program.ask_at_end(std::move(steps), [this](std::unique_ptr<StepsUnderWay> answers) {
    note_free(fetch_->take_end(std::move(answers)));
  });
}

void SshHost::note_free(const BoardAnswer& answer) {
  try {
    free_once_ = free_bytes_in(link_.shell(), info().folder, answer);
  } catch (const Error& error) {
    log::verbose("{}", error.what());
  }
}

std::unique_ptr<RunningProgram> SshHost::start(const RunCommand& in_project) {
  RunCommand command = in_project;
  command.main = on_board(in_project.main);
  command.working_folder = on_board(in_project.working_folder);
  if (!in_project.acl_json.empty()) command.acl_json = on_board(in_project.acl_json);
  std::string last;
  for (const fs::path& folder : {in_project.main.parent_path() / "lib", fs::path("lib")}) {
    const std::string place = on_board(folder);
    if (place == last || !fetch_->had_folder(place)) continue;
    command.libraries += (command.libraries.empty() ? "" : ":") + place;
    last = place;
  }
  enter(RunPhase::unfetched);
  if (options_.drain.on) {
    drain_ = std::make_unique<BoardDrain>(link_, options_.drain);
    drain_->wait_until_it_looks();
    drain_->check();
  }
  if (options_.survives) {
    auto program =
        std::make_unique<SurvivingProgram>(link_, command, fetch_->state(), resume_hint());
    enter(RunPhase::detached);
    return program;
  }
  auto program = std::make_unique<BoardProgram>(link_, command, options_.runs_in_login_shell);
  ask_at_end(*program);
  if (!drain_) return program;
  return std::make_unique<DrainedProgram>(std::move(program), *drain_, link_);
}

std::optional<DrainStatus> SshHost::drain_status() const {
  if (!drain_) return std::nullopt;
  return drain_->status();
}

// Call before the results are fetched: completes the files that were drained while the application
// ran.
void SshHost::take_drained() {
  if (!drain_) return;
  drain_->finish();
  std::vector<HereFile> files;
  for (const DrainedResult& result : drain_->results()) {
    files.push_back({std::string(kOutputName) + "/" + result.path, drain_->file(result.path),
                     result.is_beside});
  }
  fetch_->set_here(std::move(files));
}

// Keeps local data that exists nowhere else if the results could not be completed.
void SshHost::end_drain() {
  if (!drain_) return;
  drain_->stop();
  if (phase_ != RunPhase::fetched && drain_->is_needed()) {
    log::warn(
        "{} no longer has the part of the recording downloaded during the run: it is in {}; "
        "collect --fetch {} combines both",
        name(), drain_->folder().string(), link_.run());
  } else {
    drain_->remove();
  }
  drain_.reset();
}

std::optional<std::uint64_t> SshHost::free_bytes() {
  if (options_.drain.on && !drain_) return std::nullopt;
  if (const auto drained = drain_status(); drained && drained->frees) {
    const bool is_full = drained->free_bytes && *drained->free_bytes < kDrainBlock;
    return is_full ? drained->free_bytes : std::nullopt;
  }
  if (free_once_) return std::exchange(free_once_, std::nullopt);
  try {
    const std::string disk = nfs_.is_on() ? link_.run_folder() + '/' + std::string(kOutputName)
                             : leave_.disk().empty() ? info().folder
                                                     : leave_.disk();
    return board_free_bytes(link_.shell(), disk);
  } catch (const Error& error) {
    // The code that waits for the application detects and handles a lost connection.
    log::verbose("{}", error.what());
    return std::nullopt;
  }
}

std::unique_ptr<OutputPeek> SshHost::peek() {
  const std::string output = nfs_.is_open() ? nfs_.folder() : std::string(kOutputName);
  BoardPeek::FileHere file_here;
  if (drain_) file_here = [this](const std::string& path) { return drain_->file(path); };
  return std::make_unique<BoardPeek>(link_.shell(), link_.run_folder() + '/' + output,
                                     std::move(file_here));
}

Fetched SshHost::fetch(const fs::path& into) {
  if (phase_ != RunPhase::unfetched) enter(RunPhase::unfetched);
  // Captures that were moved out of the run's folder must not be fetched again.
  std::vector<LeftCapture> left;
  if (options_.leave.on) left = leave_.all(into / "products");
  take_drained();
  Fetched fetched =
      fetch_->all(into, options_.runs_in_place ? FetchedParts::captures : FetchedParts::everything);
  if (drain_)
    fetched.notes.insert(fetched.notes.end(), drain_->notes().begin(), drain_->notes().end());
  if (!drain_gap_.empty()) {
    fetched.notes.push_back(drain_gap_);
    for (const char* part : {"captures", "files"}) {
      for (std::string& note : name_gaps(into / part)) fetched.notes.push_back(std::move(note));
    }
  }
  fetched.left = std::move(left);
  enter(RunPhase::fetched);
  return fetched;
}

void SshHost::write_into(const LeftCapture& capture, const std::string& name,
                         const std::string& text) {
  link_.with_reconnect([&] { link_.shell().change(kWriteInto, {capture.place, name}, text); });
}

std::string SshHost::keep() {
  const std::string place = link_.kept_folder();
  try {
    link_.with_reconnect([&] {
      if (nfs_.is_on()) return nfs_.close(false);
      link_.shell().change(kKeepRun, {link_.run_folder(), place,
                                      options_.survives || options_.keep ? "run" : "recording"});
    });
    enter(RunPhase::kept);
  } catch (const Error& error) {
    enter(RunPhase::stranded);
    log::verbose("{}", error.what());
  }
  if (nfs_.is_on()) return fmt::format("in {}", nfs_.place());
  return fmt::format(
      "on {} in {} (collect --fetch {} or {} fetches them; --clean-board --force "
      "removes them)",
      name(), place, link_.run(), copy_command(link_.shell().login(), place, info().has_sftp));
}

std::string SshHost::clean_up() {
  if (phase_ == RunPhase::closed) return "";
  end_drain();
  // An earlier Ctrl-C must not interrupt the cleanup of the board.
  const interrupt::MaskPendingSignal masked;
  std::string remains;
  try {
    // A permanent loss of the connection was already reported; the board then cleans up by itself.
    if (link_.shell().is_connected() && phase_ != RunPhase::detached) {
      remains = remove_run();
    } else if (nfs_.is_open()) {
      log::warn("the recording is in {}; the board unmounts it by itself", nfs_.place());
    }
  } catch (const Error& error) {
    log::warn("{}", error.what());
  }
  link_.close();
  enter(RunPhase::closed);
  return remains;
}

// Returns a description of what stays on the board; empty: nothing.
std::string SshHost::remove_run() {
  BoardShell& shell = link_.shell();
  const bool is_kept = phase_ == RunPhase::kept || phase_ == RunPhase::stranded;
  const bool is_home = phase_ != RunPhase::unfetched && !is_kept;
  const bool clean = options_.clean_board && is_home;
  bool has_folder = phase_ != RunPhase::connected && phase_ != RunPhase::stranded;
  link_.with_reconnect([&] {
    link_.complete_facts();
    if (nfs_.is_open() && !is_home) log::warn("the recording stays in {}", nfs_.place());
    nfs_.close(is_home && !options_.keep);
    if (has_folder && phase_ == RunPhase::unfetched) {
      // An error between the start of the application and the fetch.
      if (save_run(link_, options_.resume || options_.keep)) {
        log::warn(
            "the results were not fetched; they are on {} in {} (collect --fetch {} fetches "
            "them)",
            name(), link_.kept_folder(), link_.run());
      }
    } else if (has_folder && options_.keep && is_home) {
      shell.change(kKeepRun, {link_.run_folder(), link_.kept_folder(), "brought-home"});
      log::info("the run is kept on {} in {}", name(), link_.kept_folder());
    } else if (has_folder) {
      // Removes the folder together with the release of the lock, in one round trip, if this is the
      // last step.
      const bool last = !clean && !nfs_.is_on();
      if (!last || !link_.release(link_.run())) remove_run_folder(shell, link_.run_folder());
    }
    has_folder = false;
    if (clean) remove_all_of_ours(shell, info().folder);
  });
  if (options_.leave.on) return leave_.remains();
  return upload_ && !clean ? upload_->remains() : "";
}

void SshHost::clean_board() {
  options_.clean_board = true;
  try {
    connect(nullptr);
    remove_run();
  } catch (const Error&) {
    link_.close();
    throw;
  }
  link_.close();
  log::info("{} no longer has any files of msprof", name());
}

}  // namespace msprof
