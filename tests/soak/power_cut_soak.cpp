// Simulates a power failure before a random call of `msprof export all` that changes a file, or
// after it has ended, on a disk with or without an earlier export. On the disk left by the failure,
// every product with its final name must be complete, and the next export must give the same bytes
// as an undisturbed one. Needs root and loop devices; ext4 and xfs alternate.
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "soak/soak.hpp"
#include "support/face_session.hpp"
#include "support/files.hpp"
#include "support/loop_disk.hpp"
#include "support/prof/prof_run.hpp"
#include "support/require.hpp"
#include "support/run_program.hpp"

using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

constexpr const char* kKinds[] = {"ext4", "xfs"};

RunOptions with_library(std::vector<std::pair<std::string, std::string>> variables) {
  RunOptions options;
  options.variables = std::move(variables);
  options.variables.emplace_back("LD_PRELOAD", KILL_AT_CALL_LIBRARY);
  const char* sanitizer = std::getenv("ASAN_OPTIONS");
  options.variables.emplace_back(
      "ASAN_OPTIONS",
      std::string(sanitizer == nullptr ? "" : sanitizer) + ":verify_asan_link_order=0");
  return options;
}

void expect_success(const RunResult& result, const std::string& what) {
  if (result.exit_code != 0)
    throw std::runtime_error(what + " ended with " + std::to_string(result.exit_code) + ": " +
                             result.err);
}

// Copies with file times, which a store records.
void copy_as_it_is(const fs::path& from, const fs::path& to) {
  expect_success(run_program("/usr/bin/cp", {"-a", from.string(), to.string()}), "cp");
}

// A capture, and the files of an undisturbed `export all` in its folder.
class Subject {
 public:
  Subject(const fs::path& capture, const fs::path& scratch) : capture_(capture) {
    const fs::path copy = scratch / capture.filename();
    copy_as_it_is(capture, copy);
    const fs::path counted = scratch / "calls";
    expect_success(run_msprof(words(copy), with_library({{"COUNT_CALLS_TO", counted.string()}})),
                   "the undisturbed run");
    calls_ = std::stoul(read_file(counted));
    expected_ = files_below(copy);
    fs::remove_all(copy);
  }

  void trial(const std::string& kind, std::uint64_t number, SoakRandom& random,
             SoakReport& report) const {
    const LoopDisk disk(kind);
    const fs::path here = disk / capture_.filename();
    copy_as_it_is(capture_, here);
    const bool is_second = random() % 2 == 0;
    if (is_second) expect_success(run_msprof(words(here)), "the earlier export");
    disk.sync();
    const auto call = random() % (calls_ + calls_ / 8);
    const RunResult run =
        run_msprof(words(here), with_library({{"KILL_AT_CALL", std::to_string(call)}}));
    const auto cut = disk.cut();
    const fs::path left = *cut / capture_.filename();
    report.count(kind + (is_second ? ", an older export there" : ", the first export") +
                 (run.signal == SIGKILL ? ": in the middle" : ": at the end"));
    const Files found = files_below(left);
    for (const auto& [name, bytes] : found) {
      const auto expected = expected_.find(name);
      if (expected != expected_.end() && expected->second != bytes)
        report.fail(number, kind + ": " + name + " is not whole");
    }
    if (run.signal != SIGKILL || is_second) {
      for (const auto& [name, bytes] : expected_) {
        if (!found.contains(name)) report.fail(number, kind + ": " + name + " is gone");
      }
    }
    expect_success(run_msprof(words(left)), "the run after the cut");
    const std::string what = difference(expected_, files_below(left));
    if (!what.empty()) report.fail(number, kind + ": " + what);
  }

 private:
  static std::vector<std::string> words(const fs::path& capture) {
    return {"export", "all", "-q", "-dir", capture.string()};
  }

  fs::path capture_;
  std::uint64_t calls_ = 0;
  Files expected_;
};

}  // namespace

int main(int argc, char** argv) {
  for (const char* kind : kKinds) {
    if (LoopDisk::is_available_or_skip(kind)) continue;
    std::printf("power_cut: skipped: %s\n", last_skip().c_str());
    return 0;
  }
  const TempFolder folder;
  prof::RunShape shape;
  shape.tasks = 300;
  fs::create_directory(folder / "in");
  const Subject atlas(prof::make_run(folder / "in", {}, shape).folder, folder.path());
  JobBuilder job(folder / "in");
  add_face(job);
  const Subject board(job.folder(), folder.path());
  return run_soak(
      argc, argv, "power_cut", 200,
      [&](std::uint64_t number, SoakRandom& random, SoakReport& report) {
        (number % 4 < 2 ? atlas : board).trial(kKinds[number % 2], number, random, report);
      });
}
