// Makes the n-th call of each kind (readdir, open, read, write, ...) fail with each of its errors,
// for every n that a command reaches, or SIGINT arrive before it. The command must give the bytes
// of an undisturbed run, or end with 3 or 5 (130 after the signal) and a message; no file under its
// final name may be incomplete, no temporary file may stay, and the next run must give the bytes of
// an undisturbed one. FAIL_ONLY=COMMAND[/KIND] limits the test.
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "soak/soak.hpp"
#include "support/face_session.hpp"
#include "support/files.hpp"
#include "support/prof/prof_run.hpp"
#include "support/ranks/rank_folder.hpp"
#include "support/ranks/rank_part_file.hpp"
#include "support/run_program.hpp"
#include "support/temp_folder.hpp"

using namespace msprof::test;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

namespace {

using Words = std::vector<std::string>;

constexpr int kPartialExit = 3, kWriteExit = 5, kInterruptedExit = 130;
constexpr std::chrono::seconds kLongest{20};

// In place of an errno: transfer half of the bytes; deliver a signal.
constexpr int kHalf = 0, kSignal = -SIGINT;

struct Kind {
  std::string name;
  std::vector<int> errors;
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {"readdir", {EIO}},
      {"open", {EIO, EACCES, EMFILE, EINTR, ENOSPC, kSignal}},
      {"read", {EIO, EINTR, kHalf, kSignal}},
      {"write", {EIO, ENOSPC, EINTR, kHalf, kSignal}},
      {"rename", {EIO, ENOSPC, EACCES}},
      {"fsync", {EIO, ENOSPC, EINTR}},
      {"mkdir", {EIO, ENOSPC, EACCES}},
      {"lock", {EIO, EACCES, EINTR}},
      {"mmap", {EACCES, ENOMEM}},
      {"pthread_create", {EAGAIN}},
  };
  return all;
}

std::string error_name(int error) {
  if (error == kSignal) return "SIGINT";
  return error == kHalf ? "half of the bytes" : std::strerror(error);
}

// Counters of the preloaded library, in the format of fail_at_call.c.
struct CallReport {
  std::array<long, 10> calls{};  // for each of kinds()
  long failed = 0;
  std::array<char, 4008> what{};
};

struct Ended {
  RunResult result;
  CallReport calls;
  bool hung = false;
};

Ended run_with_plan(const Words& words, const RunOptions& usual, const fs::path& scratch,
                    const std::string& kind, long call, int error) {
  const fs::path counted = scratch / "calls";
  write_file(counted, std::string(sizeof(CallReport), '\0'));
  RunOptions options = usual;
  options.variables.emplace_back("LD_PRELOAD", FAIL_AT_CALL_LIBRARY);
  options.variables.emplace_back("FAIL_REPORT_TO", counted.string());
  options.variables.emplace_back("FAIL_AT_CALL",
                                 kind + " " + std::to_string(call) + " " + std::to_string(error));
  RunningProgram program(msprof_path(), words, options);
  Ended ended;
  for (const auto start = Clock::now(); !program.has_ended();) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (ended.hung || Clock::now() - start < kLongest) continue;
    ended.hung = true;
    program.send(SIGKILL);
  }
  ended.result = program.wait();
  const std::string bytes = read_file(counted);
  std::memcpy(&ended.calls, bytes.data(), sizeof(CallReport));
  return ended;
}

// Returns true if a file of any msprof format is complete.
bool is_whole(const std::string& name, const std::string& bytes, const fs::path& path) {
  const auto ends_with = [](std::string_view text, std::string_view end) {
    return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
  };
  if (ends_with(name, ".json")) return nlohmann::json::accept(bytes);
  if (ends_with(name, ".csv")) return ends_with(bytes, "\n");
  if (ends_with(name, ".html")) return ends_with(bytes, "</html>\n");
  if (ends_with(name, ".db"))
    return query(path, "PRAGMA integrity_check") == std::vector<std::string>{"ok"};
  return true;
}

// A command that writes into the folder `output`.
class Subject {
 public:
  Subject(std::string name, Words words, fs::path output, fs::path scratch)
      : name_(std::move(name)),
        words_(std::move(words)),
        output_(std::move(output)),
        scratch_(std::move(scratch)) {}

  Subject& in(RunOptions options) {
    options_ = std::move(options);
    return *this;
  }
  // Sets the command that completes a partial result before the command is repeated.
  Subject& mended_by(Words words) {
    mend_ = std::move(words);
    return *this;
  }
  // A partial result lists its inputs; it is cleared before the next run.
  Subject& kept_until_removed() {
    is_kept_ = true;
    return *this;
  }
  // File names or times differ in each run: only the current contents are compared.
  Subject& not_repeated() {
    is_repeated_ = false;
    return *this;
  }

  const std::string& name() const { return name_; }

  // Runs undisturbed. Files that differ between two runs contain times and are not compared.
  void measure() {
    expected_ = undisturbed();
    for (const auto& [name, bytes] : undisturbed()) {
      const auto before = expected_.find(name);
      if (before == expected_.end()) throw std::runtime_error(name_ + ": " + name + " is new");
      // rank.state lists the inputs of a rank summary, only for the next run.
      if (before->second != bytes || fs::path(name).filename() == "rank.state")
        varying_.insert(name);
    }
    expected_ = compared(std::move(expected_));
  }
  long calls(std::size_t kind) const { return calls_[kind]; }

  // Describes what is wrong; empty if all is well. `outcome` is for the counts.
  std::string fail(const Kind& kind, long call, int error, std::string& outcome) {
    clear();
    const Ended ended = run_with_plan(words_, options_, scratch_, kind.name, call, error);
    const std::string told = ended.result.out + ended.result.err;
    const std::string where = std::string(ended.calls.what.data()) + ": exit " +
                              std::to_string(ended.result.exit_code) + ", " + told.substr(0, 600) +
                              ": ";
    if (ended.calls.failed == 0) outcome = "no call to fail";
    if (ended.hung) return where + "it hung";
    if (ended.result.signal != 0)
      return where + "ended by signal " + std::to_string(ended.result.signal);
    const int code = ended.result.exit_code;
    if (outcome.empty()) outcome = "exit " + std::to_string(code);
    Files found = compared(files_below(output_));
    Files expected = expected_;
    // A capture without its run.json is complete, but a warning is required.
    const bool lacks_record = told.find("warning: cannot write ") != std::string::npos;
    for (Files* const files : {&found, &expected})
      std::erase_if(*files, [&](const auto& file) {
        return lacks_record && fs::path(file.first).filename() == "run.json";
      });
    // Unreadable files are left out of a copy with a warning; the application misses them.
    const bool is_left_out = told.find("not copied: ") != std::string::npos;
    // The signal reached only the process of one capture, which cluster then leaves out.
    const bool is_of_capture =
        code == kPartialExit && told.find(": interrupted; ") != std::string::npos;
    std::string wrong;
    if (code == 0) {
      wrong = difference(expected, found);
    } else if (error == kSignal ? code != kInterruptedExit && !is_of_capture
                                : code != kPartialExit && code != kWriteExit && !is_left_out) {
      wrong = "another exit code";
    } else if (told.find("internal error") != std::string::npos) {
      wrong = "an internal error";
    } else if (told.find("error: ") == std::string::npos &&
               told.find("warning: ") == std::string::npos &&
               told.find("PARTIAL") == std::string::npos) {
      wrong = "no sentence";
    } else {
      wrong = left_by_failure(found, code);
    }
    if (!wrong.empty()) return where + wrong;
    if (code == 0 || !is_repeated_) return "";
    if (code == kPartialExit && is_kept_) clear();
    if (code == kPartialExit && !mend_.empty()) run_msprof(mend_, options_);
    const RunResult again = run_msprof(words_, options_);
    if (again.exit_code != 0)
      return where + "the next run ended with " + std::to_string(again.exit_code) + ": " +
             again.err;
    wrong = difference(expected_, compared(files_below(output_)));
    return wrong.empty() ? "" : where + "after the next run " + wrong;
  }

 private:
  void clear() const {
    fs::remove_all(output_);
    fs::create_directories(output_);
  }

  Files undisturbed() {
    clear();
    const auto [result, calls, hung] =
        run_with_plan(words_, options_, scratch_, kinds().front().name, -1, EIO);
    calls_ = calls.calls;
    if (result.exit_code != 0)
      throw std::runtime_error(name_ + " ended with " + std::to_string(result.exit_code) + ": " +
                               result.err);
    return files_below(output_);
  }

  Files compared(Files files) const {
    for (const std::string& name : varying_)
      if (const auto at = files.find(name); at != files.end()) at->second.clear();
    return files;
  }

  std::string left_by_failure(const Files& found, int code) const {
    for (const auto& [name, bytes] : found) {
      if (name.find(".msprof-tmp") != std::string::npos) return name + " stayed";
      const auto whole = expected_.find(name);
      if (whole != expected_.end() && whole->second == bytes) continue;
      if (fs::path(name).extension() == ".log") continue;
      if (code != kPartialExit) return name + " is there, with other bytes";
      if (!is_whole(name, bytes, output_ / name)) return name + " is half a file";
    }
    return "";
  }

  std::string name_;
  Words words_;
  fs::path output_;
  fs::path scratch_;
  RunOptions options_;
  Words mend_;
  bool is_kept_ = false;
  bool is_repeated_ = true;
  Files expected_;
  std::set<std::string> varying_;
  std::array<long, 10> calls_{};  // number of calls by kind, in an undisturbed run
};

struct Attempt {
  Subject* subject;
  const Kind* kind;
  int error;
  long call;
};

std::vector<Subject> make_captures(const fs::path& scratch) {
  JobBuilder job(scratch);
  add_face(job);
  prof::RunShape shape;
  shape.tasks = 120;
  const fs::path atlas = prof::make_run(scratch, {}, shape).folder;
  std::vector<Subject> subjects;
  for (const auto& [dialect, capture] : {std::pair("board", job.folder()), {"Atlas", atlas}}) {
    const fs::path out = scratch / (std::string(dialect) + "_out");
    const auto words = [&, folder = capture.string()](Words verb, const fs::path& output) {
      verb.insert(verb.end(), {"-dir", folder, "--output", output.string()});
      return verb;
    };
    const std::string of = std::string(" of ") + dialect;
    subjects.push_back(Subject("import" + of, words({"import"}, out), out, scratch));
    subjects.push_back(Subject("export" + of, words({"export", "all"}, out), out, scratch)
                           .mended_by(words({"import"}, out)));
    const fs::path page = scratch / (std::string(dialect) + "_page");
    run_msprof(words({"import"}, scratch / "stores"));
    subjects.push_back(
        Subject("report" + of, words({"report"}, page / "report.html"), page, scratch)
            .mended_by({"import", "-dir", capture.string()}));
  }
  return subjects;
}

std::vector<Subject> make_ranks(const fs::path& scratch) {
  ranks::ClusterShape shape;
  shape.ranks = 2;
  shape.steps = 1;
  shape.collectives = 3;
  shape.operators = 3;
  shape.tasks = 60;
  shape.compute_ns = 4000 * ranks::kernels_before_collective(shape);
  const ranks::ClusterRun run(shape);
  const fs::path merged = scratch / "merged";
  const fs::path parts = scratch / "parts";
  const fs::path captures = scratch / "captures";
  const fs::path cluster = scratch / "cluster";
  fs::create_directories(parts);
  fs::create_directories(captures);
  Words merge = {"merge", "--output", (merged / "cluster.db").string()};
  for (std::int64_t rank = 0; rank < shape.ranks; ++rank) {
    merge.push_back((parts / ranks::part_name(rank)).string());
    ranks::write_rank_part_file(merge.back(), run, rank);
    ranks::write_rank_folder(captures, run, rank);
  }
  return {Subject("merge", merge, merged, scratch),
          Subject("cluster",
                  {"cluster", captures.string(), "--output", cluster.string(), "--jobs", "1"},
                  cluster, scratch)
              .kept_until_removed()
              .mended_by({"import", "-q", "-dir", (captures / "PROF*").string()})};
}

// The application copies a capture to the output folder of acl.json, so that every run has the same
// files.
Subject make_collect(const fs::path& scratch) {
  const fs::path project = scratch / "project";
  fs::create_directories(project);
  JobBuilder job(scratch / "recorded");
  add_face(job);
  write_file(project / "acl.json", "{\"profiler\":{\"switch\":\"on\"}}\n");
  write_file(project / "main",
             "#!/bin/sh\nexec cp -r '" + job.folder().string() +
                 "' \"$(sed -n 's/.*\"output\": *\"\\([^\"]*\\)\".*/\\1/p' acl.json)\"\n");
  fs::permissions(project / "main", fs::perms::owner_exec, fs::perm_options::add);
  RunOptions options;
  options.folder = project;
  options.variables = {{"XDG_CACHE_HOME", (scratch / "cache").string()}};
  const fs::path out = scratch / "collected";
  return Subject("collect", {"collect", "-m", "main", "--output", out.string()}, out, scratch)
      .in(options)
      .not_repeated();
}

bool is_wanted(const std::string& subject, const std::string& kind) {
  const char* const only = std::getenv("FAIL_ONLY");
  if (only == nullptr) return true;
  const std::string_view text = only;
  const std::size_t slash = text.find('/');
  const bool fits = subject.rfind(text.substr(0, slash), 0) == 0;
  return fits && (slash == std::string_view::npos || kind == text.substr(slash + 1));
}

}  // namespace

int main(int argc, char** argv) {
  const TempFolder folder;
  std::vector<Subject> subjects = make_captures(folder.path());
  for (Subject& subject : make_ranks(folder.path())) subjects.push_back(std::move(subject));
  subjects.push_back(make_collect(folder.path()));
  std::vector<Attempt> attempts;
  for (Subject& subject : subjects) {
    if (!is_wanted(subject.name(), kinds().front().name) &&
        !std::any_of(kinds().begin(), kinds().end(),
                     [&](const Kind& kind) { return is_wanted(subject.name(), kind.name); }))
      continue;
    subject.measure();
    for (std::size_t kind = 0; kind < kinds().size(); ++kind) {
      if (!is_wanted(subject.name(), kinds()[kind].name)) continue;
      for (const int error : kinds()[kind].errors)
        for (long call = 0; call <= subject.calls(kind); ++call)
          attempts.push_back({&subject, &kinds()[kind], error, call});
    }
  }
  // A random selection, or each attempt once.
  const std::uint64_t all = attempts.size();
  const std::uint64_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : all;
  return run_soak(argc, argv, "fail_at_call", all,
                  [&](std::uint64_t number, SoakRandom& random, SoakReport& report) {
                    const std::uint64_t chosen = count < all ? random() % all : number % all;
                    const auto& [subject, kind, error, call] = attempts[chosen];
                    std::string outcome;
                    const std::string wrong = subject->fail(*kind, call, error, outcome);
                    report.count(subject->name() + ", " + kind->name + ": " + outcome);
                    if (!wrong.empty())
                      report.fail(number, subject->name() + ": call " + std::to_string(call) +
                                              " of " + kind->name + ", " + error_name(error) +
                                              ": " + wrong);
                  });
}
