#include "collect/collector.hpp"

#include <fmt/format.h>
#include <sys/statvfs.h>

#include <chrono>

#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "collect/acl_plan.hpp"
#include "collect/arrival.hpp"
#include "collect/likely_causes.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMostNamed = 20;
constexpr std::uint64_t kAlmostFullBytes = 1'000'000;

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Cleans up on every way out, unless what the run recorded is still there.
class HostGuard {
 public:
  explicit HostGuard(Host& host) : host_(host) {}
  ~HostGuard() {
    try {
      host_.clean_up();
    } catch (const std::exception& error) {
      log::warn("{}", error.what());
    }
  }
  HostGuard(const HostGuard&) = delete;
  HostGuard& operator=(const HostGuard&) = delete;

 private:
  Host& host_;
};

void name_files(const std::string& intro, const std::vector<fs::path>& files) {
  if (files.empty()) return;
  std::string text = intro;
  for (std::size_t i = 0; i < files.size() && i < kMostNamed; ++i) {
    text += "\n  " + printable(files[i].string());
  }
  if (files.size() > kMostNamed) text += fmt::format("\n  and {} more", files.size() - kMostNamed);
  log::info("{}", text);
}

class Run {
 public:
  Run(const CollectOptions& options, Host& host)
      : options_(options), host_(host), name_(fs::path(options.main).filename().string()) {}

  CollectResult all() {
    const fs::path current = fs::current_path();
    output_ = fs::weakly_canonical(current / options_.output.value_or("."));
    const Target target = find_target(options_.main, options_.project, current);
    const Staging staging(output_);
    result_.main = (target.root / target.main).string();
    prepare(target);
    {
      // Ctrl-C ends the application, a second one kills it; what it recorded comes home either way.
      const interrupt::MorePatience patience;
      const HostGuard guard(host_);
      const RunPlace place = copy();
      run();
      check_space(place.output);
      bring_home(staging);
    }
    conclude();
    return std::move(result_);
  }

 private:
  void prepare(const Target& target) {
    const Stopwatch watch;
    ScanOptions scan;
    scan.limited = !options_.project.has_value();
    scan.never_copied = options_.private_folders;
    const fs::path working = target.root / target.working_folder;
    const bool needed =
        is_within(target.root / target.main, output_) || is_within(working, output_);
    if (options_.output && !needed) scan.never_copied.push_back(output_);
    scan.earlier_files = output_ / (name_ + ".files");
    project_ = scan_project(target, scan);
    for (const LeftOut& item : project_.left_out) {
      log::write(item.unexpected ? log::Level::normal : log::Level::verbose, "",
                 fmt::format("not copied: {} ({})", item.path.string(), item.reason));
    }
    add_step("check", watch, 0);
  }

  RunPlace copy() {
    const Stopwatch watch;
    const RunPlace place = host_.open(project_);
    plan_ = plan_acl_json(project_, options_.acl_json, options_.profiler, place.output);
    host_.place(project_, plan_.files);
    interrupt::check();
    log::verbose("{}: {} files ({}) copied to {}", project_.target.root.string(),
                 with_thousands(project_.file_count), human_bytes(project_.bytes), place.project);
    add_step("copy", watch, project_.bytes);
    return place;
  }

  void run() {
    const Stopwatch watch;
    RunCommand command;
    command.main = project_.target.main;
    command.working_folder = project_.target.working_folder;
    command.acl_json = plan_.chosen;
    command.arguments = options_.arguments;
    command.stdout_to_stderr = options_.stdout_to_stderr;
    log::info("running {} on {}", result_.main, host_.name());
    const auto program = host_.start(command);
    result_.outcome = wait_for_end(*program, options_.limits, name_);
    add_step("run", watch, 0);
    const std::string ending = describe(result_.outcome, name_, options_.limits);
    if (result_.outcome.ok()) {
      log::info("{} ({:.2f} s)", ending, result_.outcome.seconds);
    } else {
      log::error("{}", ending);
    }
    if (result_.outcome.end.left_over > 0) {
      log::warn("{} left {} process(es) behind; they were ended", name_,
                result_.outcome.end.left_over);
    }
  }

  void check_space(const std::string& folder) {
    struct statvfs space = {};
    output_full_ = !host_.is_board() && ::statvfs(folder.c_str(), &space) == 0 &&
                   space.f_bavail * space.f_frsize < kAlmostFullBytes;
  }

  void bring_home(const Staging& staging) {
    const Stopwatch watch;
    try {
      const Fetched fetched = host_.fetch(staging.path());
      publish(staging, fetched);
      add_step("fetch", watch, fetched.bytes);
    } catch (const Error& error) {
      const std::string place = host_.keep();
      throw error.with_context(
          fmt::format("bringing home the results, which stay in {} until the next run", place));
    }
  }

  void publish(const Staging& staging, const Fetched& fetched) {
    for (const FetchedCapture& capture : fetched.captures) {
      const fs::path path =
          staging.publish(staging.path() / "captures" / capture.name, capture.name);
      if (path.filename() != capture.name) {
        log::info("{} is there already; this capture is {}", capture.name,
                  path.filename().string());
      }
      result_.captures.push_back({path, capture.has_data});
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
    if (fetched.not_fetched > 0) {
      log::warn("{} link(s) or special file(s) of the run were not brought home",
                fetched.not_fetched);
    }
  }

  void conclude() {
    name_files("files that the run made or changed:", result_.files);
    name_files("files that the run deleted (in its copy only):", result_.deleted);
    bool any_data = false;
    for (const CollectedCapture& capture : result_.captures) {
      log::info("capture: {}{}", capture.path.string(), capture.has_data ? "" : " (without data)");
      any_data = any_data || capture.has_data;
    }
    result_.exit_code = result_.outcome.exit_code();
    // A Ctrl-C after the application's own end: the results are brought home all the same.
    if (interrupt::received() != 0) result_.exit_code = Exit::interrupted;
    if (any_data) return;
    result_.exit_code = gravest(result_.exit_code, Exit::nothing_to_do);
    if (!result_.outcome.end.start_error.empty()) return;
    explain();
  }

  void explain() {
    RunFacts facts;
    facts.main = name_;
    facts.capture_there = !result_.captures.empty();
    facts.switched_off = !options_.profiler.on.value_or(true);
    facts.items_off =
        !options_.profiler.acl_api.value_or(true) && !options_.profiler.aicpu.value_or(true);
    facts.dump_on = plan_.dump_on;
    facts.own_acl_json = plan_.own;
    facts.on_board = host_.is_board();
    facts.output_full = output_full_;
    facts.outcome = result_.outcome;
    result_.problem = facts.capture_there ? "the run left a JOB folder without data/"
                                          : "the run left no JOB folder";
    result_.likely_causes = likely_causes(facts);
    std::string text = result_.problem + "; likely causes:";
    for (const std::string& cause : result_.likely_causes) text += "\n  - " + cause;
    log::error("{}", text);
  }

  void add_step(const std::string& name, const Stopwatch& watch, std::uint64_t bytes) {
    result_.steps.push_back({name, watch.seconds(), bytes});
  }

  const CollectOptions& options_;
  Host& host_;
  std::string name_;
  fs::path output_;
  Project project_;
  AclPlan plan_;
  bool output_full_ = false;
  CollectResult result_;
};

}  // namespace

CollectResult collect(const CollectOptions& options, Host& host) {
  return Run(options, host).all();
}

}  // namespace msprof
