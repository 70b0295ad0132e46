// Containers: PID namespaces on one machine with one host name, in which programs have equal
// process ids. A run after a killed one must succeed and remove its files; of two concurrent runs,
// neither may remove the other's files. Needs permission to create namespaces, e.g. as root.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <thread>

#include "soak/soak.hpp"
#include "support/files.hpp"
#include "support/prof/prof_run.hpp"
#include "support/run_program.hpp"
#include "support/temp_folder.hpp"

using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

constexpr const char* kUnshare = "/usr/bin/unshare";

using Words = std::vector<std::string>;

// Runs as process 1 of a namespace. Killing unshare kills it, too.
Words in_container(const Words& words) {
  Words all = {"-pf", "--mount-proc", "--kill-child", msprof_path()};
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

std::size_t temporaries_in(const fs::path& folder) {
  std::size_t count = 0;
  if (!fs::exists(folder)) return 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().filename().string().ends_with(".msprof-tmp")) ++count;
  }
  return count;
}

class Trials {
 public:
  explicit Trials(const fs::path& scratch) : scratch_(scratch) {
    prof::RunShape shape;
    shape.tasks = 20'000;
    capture_ = prof::make_run(scratch, {}, shape).folder;
    const auto start = std::chrono::steady_clock::now();
    expect(run_program(kUnshare, in_container(words("whole"))), "the undisturbed run");
    duration_ = std::chrono::steady_clock::now() - start;
    expected_ = files_below(scratch / "whole");
  }

  void trial(std::uint64_t number, SoakRandom& random, SoakReport& report) {
    const std::string name = "out" + std::to_string(number);
    std::uniform_real_distribution<double> moment(0, duration_.count() * 1.1);
    if (number % 2 == 0) {
      RunningProgram killed(kUnshare, in_container(words(name)));
      pause(moment(random));
      killed.send(SIGKILL);
      report.count(killed.wait().signal == SIGKILL ? "killed, then again"
                                                   : "had ended, then again");
      await_end_of_killed();
      expect(run_program(kUnshare, in_container(words(name))), "the run after the kill");
    } else {
      RunningProgram first(kUnshare, in_container(words(name)));
      pause(moment(random));
      RunningProgram second(kUnshare, in_container(words(name)));
      expect(first.wait(), "the first of two");
      expect(second.wait(), "the second of two");
      report.count("two at once");
    }
    const std::size_t left = temporaries_in(scratch_ / name);
    if (left > 0) report.fail(number, std::to_string(left) + " temporaries are left");
    const std::string what = difference(expected_, files_below(scratch_ / name));
    if (!what.empty()) report.fail(number, what);
    fs::remove_all(scratch_ / name);
  }

 private:
  static void expect(const RunResult& result, const std::string& what) {
    if (result.exit_code != 0)
      throw std::runtime_error(what + " ended with " + std::to_string(result.exit_code) + ": " +
                               result.err);
  }
  static void pause(double seconds) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  }
  // The kernel ends the namespace shortly after unshare.
  static void await_end_of_killed() { pause(0.2); }

  Words words(const std::string& name) const {
    return {
        "export", "all", "-q", "-dir", capture_.string(), "--output", (scratch_ / name).string()};
  }

  fs::path scratch_;
  fs::path capture_;
  std::chrono::duration<double> duration_{};
  Files expected_;
};

}  // namespace

int main(int argc, char** argv) {
  if (run_program(kUnshare, {"-pf", "--mount-proc", "--kill-child", "/bin/true"}).exit_code != 0) {
    std::printf("namespaces: skipped, no PID namespace can be made here; run it as root\n");
    return 0;
  }
  const TempFolder folder;
  Trials trials(folder.path());
  return run_soak(argc, argv, "namespaces", 200,
                  [&](std::uint64_t number, SoakRandom& random, SoakReport& report) {
                    trials.trial(number, random, report);
                  });
}
