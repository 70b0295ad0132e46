// The misbehaving application follows its arguments, so that board tests can rely on it.
#include <signal.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <string>

#include "support/eventually.hpp"
#include "support/files.hpp"
#include "support/run_program.hpp"
#include "support/small_disk.hpp"
#include "support/temp_folder.hpp"

namespace msprof::test {

namespace fs = std::filesystem;

namespace {

// A folder with the acl.json of a profiled run. Its capture folder is named JOB.
struct Run {
  explicit Run(const std::string& profiling = "on") {
    write_file(folder / "acl.json", R"({"profiler":{"switch":")" + profiling + R"(","output":")" +
                                        (folder / "out").string() + "\"}}");
  }
  RunResult app(const std::vector<std::string>& words) const {
    return run_program(COLLECT_APP, words, {.folder = folder.path()});
  }
  fs::path data() const { return folder / "out" / "JOB" / "data"; }

  TempFolder folder;
};

}  // namespace

TEST_CASE("The demo application writes the JOB folder that its arguments describe") {
  const Run run;
  const RunResult result =
      run.app({"job", "JOB", "big", "large", "3000001", "many", "small", "3", "done", "short", "99",
               "odd-names", "odd", "link-out", "out", "write", "JOB/data/text", "here"});
  CHECK(result.exit_code == 0);
  CHECK(names_in(run.data()) == std::vector<std::string>{"aicore.0.m.1.1.1.0", "large", "odd\x01",
                                                         "odd\nline", "out", "short", "short.done",
                                                         "small.0", "small.1", "small.2", "text"});
  CHECK(fs::file_size(run.data() / "large") == 3'000'001);
  CHECK(fs::file_size(run.data() / "small.2") == 4096);
  CHECK(fs::file_size(run.data() / "short") == 16);
  CHECK(read_file(run.data() / "short.done") == "filesize:99\n");
  CHECK(fs::read_symlink(run.data() / "out") == "/etc/hostname");
  CHECK(read_file(run.data() / "text") == "here");
}

TEST_CASE("The demo application writes nothing if profiling is off") {
  const Run run("off");
  const RunResult result = run.app({"job", "JOB", "big", "large", "10", "odd-names", "odd"});
  CHECK(result.exit_code == 0);
  CHECK(names_in(run.folder.path()) == std::vector<std::string>{"acl.json"});
}

TEST_CASE("The demo application saves its last records at SIGTERM, even an early one") {
  const Run run;
  const std::vector<std::string> words = {"job", "JOB",  "on-term", "big", "last",   "5",
                                          "say", "done", "exit",    "3",   "end",    "ready",
                                          "up",  "hang", "say",     "not", "reached"};
  RunningProgram program(COLLECT_APP, words, {.folder = run.folder.path()});
  REQUIRE(eventually([&] { return fs::exists(run.folder / "up"); }));
  program.send(SIGTERM);
  const RunResult result = program.wait();
  CHECK(result.exit_code == 3);
  CHECK(result.out == "done\n");
  CHECK(fs::file_size(run.data() / "last") == 5);
}

TEST_CASE("The demo application sleeps and then continues") {
  const Run run;
  const auto begin = std::chrono::steady_clock::now();
  CHECK(run.app({"sleep", "1", "say", "awake"}).out == "awake\n");
  CHECK(std::chrono::steady_clock::now() - begin >= std::chrono::seconds(1));
}

TEST_CASE("The application leaves a file that grows") {
  const Run run;
  const fs::path file = run.data() / "growing";
  REQUIRE(run.app({"job", "JOB", "grow", "JOB/data/growing", "pid"}).exit_code == 0);
  const pid_t pid = std::stoi(read_file(run.folder / "pid"));
  const auto size = fs::file_size(file);
  CHECK(size >= 4096);
  CHECK(eventually([&] { return fs::file_size(file) > size; }));
  CHECK(::kill(pid, SIGTERM) == 0);
  const auto later = fs::file_size(file);
  CHECK(eventually([&] { return fs::file_size(file) > later; }));
  CHECK(::kill(pid, SIGKILL) == 0);
}

TEST_CASE("The demo application fills a disk and reports the error") {
  if (!SmallDisk::is_available_or_skip()) return;
  const SmallDisk disk(1 << 20);
  const Run run;
  const RunResult result = run.app({"fill", disk / "file", "say", "still here"});
  CHECK(result.out == "fill: No space left on device\nstill here\n");
  CHECK(fs::space(disk.path()).available == 0);
}

}  // namespace msprof::test
