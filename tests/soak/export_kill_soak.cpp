// Kills `msprof export all` after a random time, or before a random call that changes a file, in a
// folder that may hold an earlier export. The next run must give the same bytes as an undisturbed
// one and leave no other files. Captures of both dialects alternate.
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "soak/soak.hpp"
#include "support/face_session.hpp"
#include "support/files.hpp"
#include "support/prof/prof_run.hpp"
#include "support/run_program.hpp"
#include "support/temp_folder.hpp"

using namespace msprof::test;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

namespace {

// A capture, and the files of an undisturbed `export all` in its folder.
class Subject {
 public:
  Subject(const std::string& name, const fs::path& capture, const fs::path& scratch)
      : name_(name), capture_(capture) {
    const fs::path counted = scratch / (name + ".calls");
    const auto start = Clock::now();
    expect_success(run_msprof(all_words(), with_library({{"COUNT_CALLS_TO", counted.string()}})),
                   "the undisturbed run");
    duration_ = Clock::now() - start;
    calls_ = std::stoul(read_file(counted));
    expected_ = files_below(capture_);
  }

  void trial(std::uint64_t number, SoakRandom& random, SoakReport& report) {
    prepare(random);
    const bool was_killed = random() % 2 == 0 ? kill_by_time(random) : kill_by_call(random);
    report.count(name_ + (was_killed ? ": killed" : ": had ended"));
    expect_success(export_all(), "the run after the kill");
    const std::string what = difference(expected_, files_below(capture_));
    if (!what.empty()) report.fail(number, name_ + ": " + what);
  }

 private:
  // A delay up to slightly longer than a run, so that its end is covered.
  bool kill_by_time(SoakRandom& random) const {
    RunningProgram program(msprof_path(), all_words());
    std::uniform_real_distribution<double> moment(0, duration_.count() * 1.1);
    std::this_thread::sleep_for(std::chrono::duration<double>(moment(random)));
    program.send(SIGKILL);
    return program.wait().signal == SIGKILL;
  }

  bool kill_by_call(SoakRandom& random) const {
    const auto call = random() % (calls_ + 1);
    const RunResult result =
        run_msprof(all_words(), with_library({{"KILL_AT_CALL", std::to_string(call)}}));
    return result.signal == SIGKILL;
  }

  static RunOptions with_library(std::vector<std::pair<std::string, std::string>> variables) {
    RunOptions options;
    options.variables = std::move(variables);
    options.variables.emplace_back("LD_PRELOAD", KILL_AT_CALL_LIBRARY);
    // ASan expects to be loaded first, but works as the second.
    const char* sanitizer = std::getenv("ASAN_OPTIONS");
    options.variables.emplace_back(
        "ASAN_OPTIONS",
        std::string(sanitizer == nullptr ? "" : sanitizer) + ":verify_asan_link_order=0");
    return options;
  }

  std::vector<std::string> all_words() const {
    return {"export", "all", "-q", "-dir", capture_.string()};
  }
  RunResult export_all() const { return run_msprof(all_words()); }

  static void expect_success(const RunResult& result, const std::string& what) {
    if (result.exit_code != 0)
      throw std::runtime_error(what + " ended with " + std::to_string(result.exit_code) + ": " +
                               result.err);
  }

  // Creates the state left by an earlier command: no store, only a store, or products of some kind.
  void prepare(SoakRandom& random) {
    const auto form = random() % 5;
    if (form < 2) remove_products();
    if (form == 1)
      expect_success(run_msprof({"import", "-q", "-dir", capture_.string()}), "import");
    if (form == 3) export_timeline({"--split", "200kB"});
    if (form == 4) export_timeline({"--gzip"});
  }

  void export_timeline(const std::vector<std::string>& options) const {
    std::vector<std::string> words = {"export", "timeline", "-q", "-dir", capture_.string()};
    words.insert(words.end(), options.begin(), options.end());
    expect_success(run_msprof(words), "export timeline");
  }

  void remove_products() const {
    for (const char* name : {"log", "sqlite", "timeline", "summary", "mindstudio_profiler_output"})
      fs::remove_all(capture_ / name);
    for (const auto& entry : fs::directory_iterator(capture_)) {
      if (entry.path().extension() == ".db" || entry.path().filename().string().starts_with("."))
        fs::remove(entry.path());
    }
  }

  std::string name_;
  fs::path capture_;
  std::chrono::duration<double> duration_{};
  std::uint64_t calls_ = 0;  // calls that change files, in an undisturbed run
  Files expected_;
};

fs::path make_board_capture(const fs::path& parent) {
  JobBuilder job(parent);
  add_face(job);
  return job.folder();
}

fs::path make_atlas_capture(const fs::path& parent) {
  prof::RunShape shape;
  shape.tasks = 300;
  return prof::make_run(parent, {}, shape).folder;
}

}  // namespace

int main(int argc, char** argv) {
  const TempFolder folder;
  Subject board("board", make_board_capture(folder.path()), folder.path());
  Subject atlas("Atlas", make_atlas_capture(folder.path()), folder.path());
  return run_soak(argc, argv, "export_kill", 1000,
                  [&](std::uint64_t number, SoakRandom& random, SoakReport& report) {
                    (number % 2 == 0 ? atlas : board).trial(number, random, report);
                  });
}
