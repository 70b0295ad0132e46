// msprof follow: imports and exports the captures below a folder as they become complete.
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/foreign_error.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/process.hpp"
#include "base/side_by_side.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "cluster/run/run_lock.hpp"
#include "msprof/application_line.hpp"
#include "msprof/follow_state.hpp"
#include "msprof/pipeline.hpp"
#include "session/capture_end.hpp"
#include "session/capture_walk.hpp"

namespace msprof {

namespace {

namespace fs = std::filesystem;
using FollowClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kSignalInterval{50};

struct FollowArguments {
  std::string folder;
  std::string products = "all";
  std::string command;
  std::optional<double> interval_seconds;
  bool once = false;
  Verbosity verbosity;
};

// FollowArguments, parsed.
struct FollowRequest {
  fs::path root;                      // absolute, without links
  std::vector<std::string> products;  // arguments of `msprof export`
  std::vector<std::string> command;   // empty: none
  FollowClock::duration interval{};
};

void pause_for(FollowClock::duration time) {
  for (const auto end = FollowClock::now() + time; FollowClock::now() < end;) {
    interrupt::check();
    std::this_thread::sleep_for(
        std::min<FollowClock::duration>(kSignalInterval, end - FollowClock::now()));
  }
  interrupt::check();
}

// Import and export yield to every other program.
void lower_priority() {
  constexpr int kNice = 10;
  constexpr int kThisProcess = 1;  // IOPRIO_WHO_PROCESS
  constexpr int kIdle = 3 << 13;   // IOPRIO_CLASS_IDLE, linux/ioprio.h
  [[maybe_unused]] const int niceness = ::nice(kNice);
  ::syscall(SYS_ioprio_set, kThisProcess, 0, kIdle);
}

std::vector<std::string> export_line(const std::vector<std::string>& products,
                                     const fs::path& capture) {
  std::vector<std::string> words = {"export"};
  words.insert(words.end(), products.begin(), products.end());
  words.insert(words.end(), {"--dir", capture.string()});
  return words;
}

// Parses the arguments of `msprof export` without exporting. If they are wrong, prints the error
// and returns false.
bool accepts_export(const std::vector<std::string>& products) {
  for (const std::string& word : products) {
    const std::string name = word.substr(0, word.find('='));
    if (name == "-dir" || name == "--dir" || name == "--collection-dir" || name == "--output")
      throw Error(
          Exit::usage,
          fmt::format("--export: {} cannot be given: products are written into each capture",
                      name));
  }
  bool is_accepted = false;
  const auto root = build_command_tree();
  std::vector<std::function<Exit()>> actions;  // own what the options write to
  for (const auto& verb : root->commands()) {
    if (verb->name() != "export") continue;
    for (const auto& kind : verb->commands()) {
      actions.push_back(kind->action());
      kind->set_action([&is_accepted] {
        is_accepted = true;
        return Exit::ok;
      });
    }
  }
  cli::run(*root, "msprof", export_line(products, "."));
  return is_accepted;
}

// Work of the child process: imports the capture unless its store is current, and exports it. Sets
// `result` to the verdict and the number of files, or to the error.
int convert_capture(const fs::path& capture, const std::vector<std::string>& products,
                    std::string& result) {
  lower_priority();
  try {
    std::string verdict = ready_store({capture, capture}).verdict_text;
    const Exit exit = cli::run(*build_command_tree(), "msprof", export_line(products, capture));
    result = fmt::format("{}, {}", verdict,
                         exit == Exit::nothing_to_do ? "no data for any product"
                                                     : counted(exported_files(), "file"));
    if (exit == Exit::partial_data)
      result += fmt::format("; `msprof doctor -dir {}` explains it", shell_word(capture.string()));
    return static_cast<int>(exit);
  } catch (const std::exception& exception) {
    const Error error = to_error(exception);
    result = error.what();
    return static_cast<int>(error.code());
  }
}

// Runs the command of --exec for a capture; its output goes to stderr.
ProcessEnd run_capture_command(std::vector<std::string> words, const fs::path& capture,
                               int exit_code) {
  constexpr std::chrono::milliseconds kFarewell{500};
  ::setenv("MSPROF_CAPTURE", capture.c_str(), 1);
  ::setenv("MSPROF_EXIT_CODE", std::to_string(exit_code).c_str(), 1);
  words.push_back(capture.string());
  ChildProcess child(words, STDERR_FILENO, STDERR_FILENO);
  for (;;) {
    if (const auto end = child.poll()) return *end;
    if (interrupt::received() != 0) {
      child.stop(kFarewell);
      interrupt::check();
    }
    std::this_thread::sleep_for(kSignalInterval);
  }
}

// Identifies the raw files of a capture by their names, sizes and times.
std::string identify_files(const Session& session) {
  std::string text;
  for (const RawFileState& file : session.file_states())
    text += fmt::format("{} {} {}\n", file.size_bytes, file.mtime_ns, file.name);
  return fmt::format("{:016x}", fnv1a(text));
}

struct Glance {
  std::string files;                      // identify_files(), or a hash of the error
  std::optional<std::string> unfinished;  // reason
};

// Looks for the reason only if a capture with these files is due.
Glance glance_at(const fs::path& capture,
                 const std::function<bool(const std::string& files)>& is_due) {
  try {
    const auto session = Session::open(capture);
    Glance glance{identify_files(*session), std::nullopt};
    if (is_due(glance.files)) glance.unfinished = why_unfinished(*session);
    return glance;
  } catch (const Error& error) {
    if (error.code() == Exit::interrupted) throw;
    return {fmt::format("unreadable {:016x}", fnv1a(error.what())), std::nullopt};
  }
}

// A killed follower's import ends a moment later than the follower itself.
std::unique_ptr<cluster::RunLock> lock_folder(const fs::path& root) {
  constexpr std::chrono::seconds kPatience{3};
  for (const auto last = FollowClock::now() + kPatience;;) {
    try {
      return std::make_unique<cluster::RunLock>(root / ".msprof-follow.lock");
    } catch (const Error&) {
      if (FollowClock::now() > last) throw;
    }
    pause_for(kSignalInterval);
  }
}

class Follower {
 public:
  explicit Follower(FollowRequest request)
      : request_(std::move(request)),
        lock_(lock_folder(request_.root)),
        state_(request_.root / ".msprof-follow.json") {}

  // Handles what is complete now.
  Exit run_once() {
    std::vector<DueCapture> due = look();
    if (!unsettled_.empty()) {
      pause_for(request_.interval);
      due = look();
    }
    for (const DueCapture& one : due) handle(one);
    report_unfinished();
    return exit_;
  }

  // Returns only by Error(interrupted) or if the folder cannot be followed any more.
  [[noreturn]] void run() {
    // Searching takes at most a fifth of the time, however large the tree is.
    constexpr int kRest = 4;
    log::info("following {}; Ctrl-C ends", request_.root.string());
    for (;;) {
      const auto begin = FollowClock::now();
      const auto due = look();
      const auto spent = FollowClock::now() - begin;
      for (const DueCapture& one : due) handle(one);
      pause_for(std::max(request_.interval, spent * kRest));
    }
  }

 private:
  struct DueCapture {
    std::string key;
    fs::path folder;
    std::string files;
  };
  // A capture that failed for a reason outside of it, such as a full disk.
  struct Failure {
    FollowClock::time_point again;
    std::string result;
  };

  std::string shown_name(const fs::path& folder) const {
    const fs::path inner = folder.lexically_relative(request_.root);
    return printable(inner == "." ? own_name(folder) : inner.string());
  }

  // Returns the complete captures that were not handled yet and did not change since the last look.
  std::vector<DueCapture> look() {
    const CapturesBelow below = walk_captures(request_.root);
    std::map<std::string, std::string> unsettled;
    std::vector<DueCapture> due;
    std::set<std::string> keys;
    unfinished_.clear();
    for (const FoundCapture& found : below.captures) {
      interrupt::check();
      const std::string key = FollowState::key_of(found.folder.lexically_relative(request_.root));
      keys.insert(key);
      if (is_delayed(key)) continue;
      const Glance glance = glance_at(
          found.folder, [&](const std::string& files) { return !is_handled(key, files); });
      if (is_handled(key, glance.files)) continue;
      if (glance.unfinished) {
        unfinished_.push_back(fmt::format("{}: {}", shown_name(found.folder), *glance.unfinished));
        continue;
      }
      const auto before = unsettled_.find(key);
      if (before != unsettled_.end() && before->second == glance.files)
        due.push_back({key, found.folder, glance.files});
      unsettled[key] = glance.files;
    }
    unsettled_ = std::move(unsettled);
    check_lock();
    if (warn_of_unlisted(below)) state_.keep_only(keys);
    return due;
  }

  // The folder may have been unmounted or replaced: its captures are then missing, not removed.
  void check_lock() {
    constexpr std::chrono::hours kRefresh{1};
    if (!lock_->is_held())
      throw Error(Exit::cannot_write,
                  fmt::format("{} or its .msprof-follow.lock was removed or replaced",
                              request_.root.string()));
    if (FollowClock::now() - refreshed_ < kRefresh) return;
    lock_->refresh();
    refreshed_ = FollowClock::now();
  }

  // Warns once for each folder that cannot be listed. Returns true if all captures were found.
  bool warn_of_unlisted(const CapturesBelow& below) {
    bool is_whole = below.is_whole;
    if (!is_whole && warned_.insert("").second)
      log::warn("{} contains very many folders: not all of them are searched",
                request_.root.string());
    for (const SkippedFolder& one : below.skipped) {
      if (!one.is_unlisted) {
        unfinished_.push_back(printable(one.reason));
        continue;
      }
      is_whole = false;
      exit_ = gravest(exit_, Exit::partial_data);
      if (warned_.insert(one.reason).second) log::warn("{}", one.reason);
    }
    return is_whole;
  }

  bool is_handled(const std::string& key, const std::string& files) const {
    const FollowedCapture* known = state_.find(key);
    return known != nullptr && known->files == files &&
           !(known->is_command_due && !request_.command.empty());
  }

  bool is_delayed(const std::string& key) const {
    const auto at = failures_.find(key);
    return at != failures_.end() && FollowClock::now() < at->second.again;
  }

  void handle(const DueCapture& one) {
    interrupt::check();
    std::error_code error;
    if (!fs::exists(one.folder, error)) return;
    const FollowedCapture* known = state_.find(one.key);
    const bool is_converted = known != nullptr && known->files == one.files;
    std::optional<FollowedCapture> capture = is_converted ? *known : convert(one);
    if (!capture) return;
    bool is_good = true;
    if (!request_.command.empty()) {
      if (!is_converted) state_.set(one.key, *capture);
      const ProcessEnd end = run_capture_command(request_.command, one.folder, capture->exit_code);
      capture->is_command_due = false;
      capture->command = end.text();
      is_good = end.has_succeeded();
      if (!is_good) exit_ = gravest(exit_, Exit::application_failed);
    }
    exit_ = gravest(exit_, to_exit(capture->exit_code));
    state_.set(one.key, *capture);
    report(one, *capture, is_good);
  }

  // Imports and exports in a child process: a crash there does not end the follower. Returns
  // nullopt if the capture is to be tried again although it did not change.
  std::optional<FollowedCapture> convert(const DueCapture& one) {
    const std::vector<SideWork> work = {[&](std::string& result) {
      return convert_capture(one.folder, request_.products, result);
    }};
    const SideEnd end = run_side_by_side(work, [](std::size_t, SideStream, std::string_view line) {
                          log::verbose("{}", line);
                        }).front();
    FollowedCapture capture;
    capture.files = one.files;
    capture.exit_code = end.signal == 0 ? end.exit_code : static_cast<int>(Exit::internal_error);
    capture.result = end.result.empty() ? "import and export: " + end.text() : end.result;
    capture.is_command_due = !request_.command.empty();
    const Exit exit = to_exit(capture.exit_code);
    if (exit == Exit::interrupted || end.signal != 0) interrupt::check();
    if (exit != Exit::cannot_write && exit != Exit::interrupted) {
      failures_.erase(one.key);
      return capture;
    }
    delay(one, capture);
    return std::nullopt;
  }

  void delay(const DueCapture& one, const FollowedCapture& capture) {
    constexpr std::chrono::minutes kDelay{1};
    exit_ = gravest(exit_, to_exit(capture.exit_code));
    Failure& failure = failures_[one.key];
    failure.again = FollowClock::now() + kDelay;
    if (failure.result == capture.result) return;
    failure.result = capture.result;
    report(one, capture, true);
  }

  // Prints the line of a capture; with -q only if it needs attention.
  void report(const DueCapture& one, const FollowedCapture& capture, bool has_command_succeeded) {
    const bool is_good = capture.exit_code == 0 && has_command_succeeded;
    if (is_good && log::level() <= log::Level::quiet) return;
    const std::string command =
        has_command_succeeded ? "" : fmt::format("; command: {}", capture.command);
    fmt::print("{}: {}{}\n", shown_name(one.folder), printable(capture.result), command);
    std::fflush(stdout);
  }

  void report_unfinished() const {
    constexpr std::size_t kMaxNamed = 20;
    for (std::size_t i = 0; i < std::min(unfinished_.size(), kMaxNamed); ++i)
      log::info("not finished: {}", unfinished_[i]);
    if (unfinished_.size() > kMaxNamed)
      log::info("not finished: {} more", unfinished_.size() - kMaxNamed);
  }

  FollowRequest request_;
  std::unique_ptr<cluster::RunLock> lock_;
  FollowState state_;
  FollowClock::time_point refreshed_ = FollowClock::now();
  std::map<std::string, std::string> unsettled_;  // complete captures of the last look: files
  std::vector<std::string> unfinished_;           // of the last look
  std::map<std::string, Failure> failures_;
  std::set<std::string> warned_;
  Exit exit_ = Exit::ok;
};

FollowClock::duration parse_interval(const FollowArguments& arguments) {
  constexpr double kDefault = 5;
  constexpr double kMost = 86'400;
  const double seconds = arguments.interval_seconds.value_or(kDefault);
  if (!(seconds > 0 && seconds <= kMost))
    throw Error(Exit::usage,
                fmt::format("--interval: expected more than 0 and at most {:g} s, got {:g}", kMost,
                            seconds));
  return std::chrono::duration_cast<FollowClock::duration>(std::chrono::duration<double>(seconds));
}

Exit run_follow(const FollowArguments& arguments) {
  apply_verbosity(arguments.verbosity);
  FollowRequest request;
  request.interval = parse_interval(arguments);
  request.products = split_command(arguments.products, "--export");
  if (!arguments.command.empty()) {
    request.command = split_command(arguments.command, "--exec");
    if (request.command.empty()) throw Error(Exit::usage, "--exec is empty: give a command");
  }
  if (!accepts_export(request.products)) return Exit::usage;
  check_search_folder(arguments.folder);
  request.root = fs::canonical(arguments.folder);
  Follower follower(std::move(request));
  if (arguments.once) return follower.run_once();
  follower.run();
}

}  // namespace

void add_follow_command(cli::Command& root) {
  auto arguments = std::make_shared<FollowArguments>();
  cli::Command& command = root.add_command(
      "follow",
      "Import and export the captures in a folder and its subfolders as they become complete, one "
      "at a time and with low priority, and print one line for each. Runs until Ctrl-C, or once "
      "for cron. Remembers what it has done in DIR/.msprof-follow.json. Does not touch captures "
      "whose collection has not ended.");
  command.set_examples(
      "  msprof follow /data/profiles\n"
      "  msprof follow /data/profiles --export \"timeline --gzip\"\n"
      "  msprof follow /data/profiles --exec \"/opt/notify.sh --team npu\"\n"
      "  msprof follow /data/profiles --once -q   from cron: prints only problems");
  cli::Option folder = {"folder", &arguments->folder, "DIR", "folder to follow"};
  folder.is_required = true;
  command.add_option(std::move(folder));
  cli::Option products = {
      "--export", &arguments->products, "ARGUMENTS",
      "arguments of `msprof export`, such as \"timeline --gzip\" (default all)"};
  products.suggestions = [] {
    return std::vector<cli::Suggestion>{{"all", "all products"},
                                        {"timeline", "timelines"},
                                        {"summary", "tables"},
                                        {"db", "unified database"},
                                        {"parquet", "Parquet files"}};
  };
  command.add_option(std::move(products));
  command.add_option({"--exec", &arguments->command, "COMMAND",
                      "run after each capture, with its folder as last argument; not in a shell"});
  command.add_option(
      {"--once", &arguments->once, "", "handle the captures that are complete now, then exit"});
  command.add_option(
      {"--interval", &arguments->interval_seconds, "SECONDS",
       "time between two searches; raw files must not change in between (default 5)"});
  add_verbosity(command, arguments->verbosity);
  command.set_action([arguments] { return run_follow(*arguments); });
}

}  // namespace msprof
