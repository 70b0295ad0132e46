#include "collect/collector.hpp"

#include <fmt/format.h>

#include <chrono>
#include <exception>

#include "base/atomic_file.hpp"
#include "base/durable.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "base/words.hpp"
#include "collect/arrival.hpp"
#include "collect/cann/application.hpp"
#include "collect/cann/dynamic_session.hpp"
#include "collect/elf_file.hpp"
#include "collect/moved_results.hpp"
#include "collect/outcome.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMaxNamed = 20;
constexpr std::uint64_t kFullBytes = 1'000'000;

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Cleans up on every return path, except for recordings that were not fetched; stores the
// description of what remains.
class HostGuard {
 public:
  HostGuard(Host& host, std::string& remains) : host_(host), remains_(remains) {}
  ~HostGuard() {
    try {
      if (std::string remains = host_.clean_up(); !remains.empty()) remains_ = std::move(remains);
    } catch (const std::exception& error) {
      log::warn("{}", error.what());
    }
  }
  HostGuard(const HostGuard&) = delete;
  HostGuard& operator=(const HostGuard&) = delete;

 private:
  Host& host_;
  std::string& remains_;
};

// Shows the progress of a run during its lifetime.
class Watched {
 public:
  Watched(RunWatch* watch, Host& host, const std::string& name) : watch_(watch) {
    if (watch_ != nullptr) watch_->begin(host, name, host.peek());
  }
  ~Watched() {
    if (watch_ != nullptr) watch_->finish();
  }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

  void tick() {
    if (watch_ != nullptr) watch_->tick();
  }

 private:
  RunWatch* watch_;
};

void name_files(const std::string& intro, const std::vector<fs::path>& files) {
  if (files.empty()) return;
  std::string text = intro;
  for (std::size_t i = 0; i < files.size() && i < kMaxNamed; ++i) {
    text += "\n  " + printable(files[i].string());
  }
  if (files.size() > kMaxNamed) text += fmt::format("\n  and {} more", files.size() - kMaxNamed);
  log::info("{}", text);
}

// Warns before a disk is full, while an application runs. Checks the disk of the run (on a board at
// most every ten seconds, since each check starts a process there) and the local output folder.
// Warns once per disk and threshold.
class SpaceWatch {
 public:
  // Also checks immediately.
  SpaceWatch(Host& host, fs::path output)
      : host_(host), output_(std::move(output)), interval_(host.is_board() ? 10 : 1) {
    probe_now();
  }

  void probe() {
    if (Clock::now() >= next_) probe_now();
  }

  void probe_now() {
    probe_host();
    if (host_.is_board()) probe_here();
    next_ = Clock::now() + interval_;
  }

  // True if the disk of the run was found full, or nearly so.
  bool is_run_full() const { return is_run_full_; }

 private:
  using Clock = std::chrono::steady_clock;

  // Warning level of a disk: 0 none, 1 low, 2 almost full.
  static int disk_warning_level(std::uint64_t free_bytes) {
    return free_bytes < kNoSpaceBytes ? 2 : free_bytes < kLittleSpaceBytes ? 1 : 0;
  }

  void probe_host() {
    const auto free = host_.free_bytes();
    if (!free) return;
    is_run_full_ = is_run_full_ || *free < kFullBytes;
    const int level = disk_warning_level(*free);
    if (level <= said_host_) return;
    said_host_ = level;
    log::warn("only {} free on the run's disk on {}; recording stops when the disk is full",
              human_bytes(*free), host_.name());
  }

  void probe_here() {
    const auto free = read_free_bytes(output_);
    if (!free) return;
    const int level = disk_warning_level(*free);
    if (level <= said_here_) return;
    said_here_ = level;
    log::warn(
        "only {} free in {}, the folder for the results (choose another folder with --output)",
        human_bytes(*free), output_.string());
  }

  Host& host_;
  fs::path output_;
  std::chrono::seconds interval_;
  Clock::time_point next_;
  int said_host_ = 0;
  int said_here_ = 0;
  bool is_run_full_ = false;
};

class CollectRun {
 public:
  CollectRun(const CollectOptions& options, Host& host, RunRecord& record, CollectResult& result)
      : options_(options),
        host_(host),
        name_(options.main.empty() ? "the run" : fs::path(options.main).filename().string()),
        limits_(options.limits),
        record_(record),
        result_(result) {}

  void all() {
    const fs::path current = fs::current_path();
    output_ = fs::weakly_canonical(current / options_.output.value_or("."));
    std::optional<ProjectTarget> target;
    if (!options_.resumes && !options_.existing_folder) {
      target = find_target(options_.main, options_.project, current);
      prepare(*target);
    }
    const Staging staging(output_);
    {
      const HostGuard guard(host_, result_.remains);
      connect(target ? &project_ : nullptr);
      if (!options_.resumes && !target) find_on_host(staging);
      // Ctrl-C ends the application, a second one kills it; the recording is fetched in both cases.
      const interrupt::DeferSecondSignal deferred;
      if (options_.resumes) {
        resume(staging);
      } else {
        copy();
        run(staging);
      }
      fetch_results(staging);
      clean_up();
    }
    conclude();
  }

 private:
  void resume(const Staging& staging) {
    ResumedRun run = host_.resume(options_.sends_stdout_to_stderr);
    take_note(run.note);
    if (!result_.main.empty()) name_ = fs::path(result_.main).filename().string();
    limits_.timeout_seconds = run.timeout_seconds;
    limits_.elapsed_seconds = run.elapsed_seconds;
    if (!run.program) {
      result_.outcome.end.is_unknown = true;
      log::info(
          "the msprof that started {} ended before it fetched the results; when and how the "
          "application ended is unknown",
          name_);
      return;
    }
    const Stopwatch watch;
    SpaceWatch space(host_, output_);
    follow(staging, watch, space, std::move(run.program));
  }

  // Reads the note left by the msprof that started the run.
  void take_note(const std::string& note) {
    const auto known = parse_run_record(note);
    if (!known) {
      // Drop command and options: they describe this msprof, not the one that started the run.
      record_.command.clear();
      record_.options.clear();
      return;
    }
    record_ = *known;
    if (!known->command.empty()) result_.main = known->command.front();
    result_.begin_ns = known->begin_ns;
  }

  std::string record_text() const {
    return run_text(make_run_record(result_, record_, result_.exit_code));
  }

  void prepare(const ProjectTarget& target) {
    const Stopwatch watch;
    ScanOptions scan;
    scan.is_limited = !options_.project.has_value();
    scan.never_copied = options_.private_folders;
    scan.private_files = options_.private_files;
    scan.links_may_leave = !host_.is_board();
    const fs::path working = target.root / target.working_folder;
    const bool needed =
        is_within(target.root / target.main, output_) || is_within(working, output_);
    if (options_.output && !needed) scan.never_copied.push_back(output_);
    scan.earlier_results = {output_ / (name_ + ".files"), output_ / (name_ + ".runs"),
                            output_ / kKilledFiles};
    project_ = scan_project(target, scan);
    project_.is_for_cann = is_for_cann(target, options_.arguments, host_.is_board());
    project_.own_profiling = find_own_profiling(read_elf(target.root / target.main));
    name_left_out();
    add_step("check", watch, 0);
  }

  void name_left_out() const {
    std::size_t named = 0;
    for (const Excluded& item : project_.excluded) {
      const bool shown = item.is_unexpected && ++named <= kMaxNamed;
      log::write(shown ? log::Level::normal : log::Level::verbose, "",
                 fmt::format("not copied: {} ({})", item.path.string(), item.reason));
    }
    if (named > kMaxNamed) log::info("not copied: {} more (-v lists them)", named - kMaxNamed);
  }

  void connect(const Project* expected) {
    result_.host = host_.name();
    const Stopwatch watch;
    host_.connect(expected);
    if (host_.is_board()) add_step("connect", watch, 0);
    result_.host_facts = host_.facts();
  }

  void find_on_host(const Staging& staging) {
    const Stopwatch watch;
    const fs::path scratch = staging.path() / "remote";
    fs::create_directories(scratch);
    project_ = host_.existing_project(options_.main, *options_.existing_folder, scratch);
    add_step("check", watch, 0);
  }

  void copy() {
    const Stopwatch watch;
    result_.main = (project_.target.root / project_.target.main).string();
    // A project that is already on a board is not read.
    if (!host_.is_board() || !options_.existing_folder)
      result_.models = find_model_files(project_, options_.arguments);
    paths_ = host_.open(project_);
    const TransferTotals placed =
        host_.place(project_, options_.injection->plan_files(project_, paths_));
    result_.host_facts = host_.facts();
    interrupt::check();
    log::verbose("{}: {} ({}) copied to {}", project_.target.root.string(),
                 counted(placed.files, "file"), human_bytes(placed.bytes), paths_.project);
    add_step(host_.is_board() ? "upload" : "copy", watch, placed.bytes, placed.files);
  }

  void run(const Staging& staging) {
    RunCommand command;
    command.main = project_.target.main;
    command.working_folder = project_.target.working_folder;
    command.arguments = options_.arguments;
    command.environment = options_.environment;
    command.sends_stdout_to_stderr = options_.sends_stdout_to_stderr;
    command.is_on_terminal = options_.is_on_terminal;
    options_.injection->apply(paths_, command);
    // Replaces temporary capture paths in other lines by the final ones; not for a server, which
    // may keep the capture.
    if (!command.output_changes.dropped.empty() && !host_.is_board())
      command.output_changes = {command.output_changes.dropped, paths_.output, output_.string()};
    if (options_.companion != nullptr) options_.companion->begin(paths_, command);
    log::info("running {} on {}", result_.main, host_.name());
    result_.begin_ns = wall_clock_ns();
    command.note = record_text();
    command.timeout_seconds = options_.limits.timeout_seconds;
    const Stopwatch watch;
    SpaceWatch space(host_, output_);
    follow(staging, watch, space, host_.start(command));
  }

  // Waits for the end of the program, and destroys it.
  void follow(const Staging& staging, const Stopwatch& watch, SpaceWatch& space,
              std::unique_ptr<RunningProgram> program) {
    {
      Watched watched(options_.watch, host_, name_);
      result_.outcome = wait_for_end(*program, limits_, name_, [&] {
        space.probe();
        watched.tick();
        take_complete(staging);
      });
    }
    program.reset();
    result_.end_ns = wall_clock_ns();
    take_complete(staging);
    if (options_.companion != nullptr) {
      for (std::string& note : options_.companion->finish())
        result_.notes.push_back(std::move(note));
    }
    space.probe_now();
    is_output_full_ = space.is_run_full();
    if (is_output_full_) {
      result_.notes.push_back(
          fmt::format("the disk that {} wrote to on {} is full: the last records may be missing",
                      name_, host_.name()));
    }
    add_step("run", watch, 0);
    const std::string ending = describe(result_.outcome, name_, limits_);
    if (result_.outcome.has_succeeded()) {
      log::info("{} ({:.2f} s)", ending, result_.outcome.seconds);
    } else {
      log::error("{}", ending);
    }
    if (result_.outcome.end.left_over > 0) {
      const auto left = static_cast<std::uint64_t>(result_.outcome.end.left_over);
      log::warn("{} left {} running; {} stopped", name_, counted(left, "process", "processes"),
                left == 1 ? "it was" : "they were");
    }
  }

  // Publishes captures that a companion reports as complete, possibly long before the application
  // ends.
  void take_complete(const Staging& staging) {
    if (options_.companion == nullptr) return;
    for (const fs::path& capture : options_.companion->tick()) {
      drop_special_files(capture);
      const bool has_data = has_data_folder(capture);
      publish(staging, capture, capture.filename().string(), has_data);
      log::info("complete: {}", result_.captures.back().path.string());
    }
  }

  void fetch_results(const Staging& staging) {
    const Stopwatch watch;
    try {
      const Fetched fetched = host_.fetch(staging.path());
      // The board's copy is removed next, so the local copy must survive a power failure.
      if (host_.is_board()) sync_tree(staging.path());
      publish(staging, fetched);
      if (host_.is_board()) sync_results();
      add_step("fetch", watch, fetched.bytes, fetched.captures.size() + fetched.files.size());
    } catch (const Error& error) {
      const std::string place = host_.keep();
      throw error.with_context(fmt::format("fetching the results (they stay {})", place));
    } catch (const std::exception&) {
      log::warn("the results were not fetched; they stay {}", host_.keep());
      throw;
    }
    record_left();
  }

  // Syncs the names of the results, and of the output folder, which may be new.
  void sync_results() const {
    const fs::path apart = output_ / options_.failed_folder;
    if (!options_.failed_folder.empty() && fs::exists(apart)) sync_folder(apart);
    sync_folder(output_);
    sync_folder(output_.parent_path());
  }

  // Writes the record next to captures that stay on the host. A failure is not an error: they are
  // complete without the record.
  void record_left() {
    if (result_.left.empty()) return;
    result_.exit_code = exit_so_far();
    const std::string text = record_text();
    for (const LeftCapture& left : result_.left) {
      try {
        host_.write_into(left, std::string(kRunRecordName), text);
      } catch (const Error& error) {
        if (error.code() == Exit::interrupted) throw;
        log::warn("{} has no {}: {}", left.place, kRunRecordName, error.what());
      }
    }
  }

  void clean_up() {
    const Stopwatch watch;
    result_.remains = host_.clean_up();
    if (host_.is_board()) add_step("clean up", watch, 0);
  }

  void publish(const Staging& staging, const fs::path& capture, const std::string& name,
               bool has_data) {
    for (std::string& note : check_done_files(capture)) result_.notes.push_back(std::move(note));
    const bool is_apart = !options_.failed_folder.empty() && !result_.outcome.has_succeeded();
    if (is_apart) create_output_folder(output_ / options_.failed_folder);
    const std::string own = name + options_.name_suffix;
    const fs::path path =
        staging.publish(capture, is_apart ? options_.failed_folder + "/" + own : own);
    if (path.filename() != own)
      log::info("{} already exists; this capture is saved as {}", own, path.filename().string());
    result_.captures.push_back({path, has_data, options_.injection->capture_label(path)});
  }

  void publish(const Staging& staging, const Fetched& fetched) {
    for (const FetchedCapture& capture : fetched.captures)
      publish(staging, staging.path() / "captures" / capture.name, capture.name, capture.has_data);
    result_.left = fetched.left;
    for (LeftCapture& left : result_.left) {
      if (!left.products.empty())
        left.products = staging.publish(left.products, left.name + ".products");
    }
    if (!fetched.files.empty()) {
      const std::string stem =
          result_.captures.empty() ? name_ : result_.captures.front().path.filename().string();
      result_.files_folder = staging.publish(staging.path() / "files", stem + ".files");
      for (const fs::path& file : fetched.files) {
        result_.files.push_back(result_.files_folder / file);
      }
    }
    result_.deleted = fetched.deleted;
    result_.changed_there = fetched.changed_there;
    result_.notes.insert(result_.notes.end(), fetched.notes.begin(), fetched.notes.end());
    for (const std::string& note : result_.notes) log::warn("{}", note);
    if (fetched.not_fetched > 0) {
      log::warn("not fetched: {} of the run",
                counted(fetched.not_fetched, "link or special file", "links or special files"));
    }
  }

  void conclude() {
    name_files("files created or changed by the run:", result_.files);
    name_files("files deleted by the run (in its copy only):", result_.deleted);
    name_files(fmt::format("project files on {} changed during the run:", host_.name()),
               result_.changed_there);
    bool any_data = false;
    for (const CollectedCapture& capture : result_.captures) {
      log::info("capture: {}{}{}", capture.path.string(),
                capture.label.empty() ? "" : fmt::format(" ({})", capture.label),
                capture.has_data ? "" : " (without data)");
      any_data = any_data || capture.has_data;
    }
    for (const LeftCapture& left : result_.left) name_left(left);
    for (const LeftCapture& left : result_.left) any_data = any_data || left.has_data;
    result_.exit_code = exit_so_far();
    if (any_data) return;
    result_.exit_code = gravest(result_.exit_code, Exit::nothing_to_do);
    if (!result_.outcome.end.start_error.empty()) return;
    explain();
  }

  Exit exit_so_far() const {
    // Ctrl-C was pressed after the application ended; the results are still fetched.
    if (interrupt::received() != 0) return Exit::interrupted;
    Exit exit = result_.outcome.exit_code();
    for (const LeftCapture& left : result_.left)
      exit = gravest(exit, to_exit(left.exit_code.value_or(0)));
    return result_.notes.empty() ? exit : gravest(exit, Exit::partial_data);
  }

  void name_left(const LeftCapture& left) const {
    log::info("capture left on {}: {} ({}{})", host_.name(), left.place, human_bytes(left.bytes),
              left.has_data ? "" : ", without data");
    if (!left.products.empty()) log::info("its products: {}", left.products.string());
  }

  void explain() {
    RunInfo info;
    info.main = name_;
    info.has_capture = !result_.captures.empty() || !result_.left.empty();
    info.is_on_board = host_.is_board();
    info.is_output_full = is_output_full_;
    info.outcome = result_.outcome;
    const std::string_view name = options_.injection->capture_name();
    result_.problem = info.has_capture ? fmt::format("the run left a {} folder without data/", name)
                                       : fmt::format("the run left no {} folder", name);
    result_.likely_causes = options_.injection->likely_causes(info);
    std::string text = result_.problem + "; likely causes:";
    for (const std::string& cause : result_.likely_causes) text += "\n  - " + cause;
    log::error("{}", text);
  }

  void add_step(const std::string& name, const Stopwatch& watch, std::uint64_t bytes,
                std::uint64_t files = 0) {
    result_.steps.push_back({name, watch.seconds(), bytes, files});
  }

  const CollectOptions& options_;
  Host& host_;
  std::string name_;
  WaitLimits limits_;
  RunRecord& record_;
  CollectResult& result_;
  fs::path output_;
  Project project_;
  RunPaths paths_;
  bool is_output_full_ = false;
};

}  // namespace

std::int64_t wall_clock_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

RunRecord make_run_record(const CollectResult& result, const RunRecord& known, Exit exit) {
  RunRecord record = known;
  record.msprof = std::string(version());
  record.begin_ns = result.begin_ns;
  record.end_ns = result.end_ns;
  record.host = result.host.empty() ? "this machine" : result.host;
  record.board = result.host_facts;
  if (record.command.empty() && !result.main.empty()) record.command = {result.main};
  record.command = without_secrets(std::move(record.command));
  for (auto& [name, value] : record.options) value = without_secrets({value}).front();
  for (const ModelFile& model : result.models)
    record.models.push_back({model.file, model.bytes, model.sha256});
  record.application_exit_code = result.outcome.end.exit_code;
  if (result.outcome.end.signal != 0)
    record.application_signal = signal_name(result.outcome.end.signal);
  if (result.outcome.has_timed_out) record.application_ended_by = "time limit";
  if (result.outcome.was_interrupted) record.application_ended_by = "user";
  record.seconds = result.outcome.seconds;
  record.exit_code = static_cast<int>(exit);
  return record;
}

void collect(const CollectOptions& options, Host& host, RunRecord& record, CollectResult& result) {
  CollectRun(options, host, record, result).all();
}

}  // namespace msprof
