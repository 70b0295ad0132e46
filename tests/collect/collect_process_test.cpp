#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <fstream>
#include <random>
#include <thread>

#include "base/error.hpp"
#include "base/owner_lock.hpp"
#include "collect/collect_fixture.hpp"
#include "collect/local_host.hpp"
#include "collect/local_process.hpp"
#include "collect/outcome.hpp"
#include "collect/output_rewriter.hpp"
#include "collect/run_folder.hpp"
#include "support/files.hpp"
#include "support/sample.hpp"
#include "support/temp_folder.hpp"

using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

struct Demo : Sandbox {
  Demo() {
    add_app();
    write("project/acl.json", R"({"profiler":{"switch":"on"}})");
    write("project/deep/state", "user's own");
  }
  std::string at(const std::string& name) const { return (root() / name).string(); }
};

// A run that records, changes files and starts processes before it reports that it is ready.
std::vector<std::string> busy_run(const Demo& demo, const std::vector<std::string>& more) {
  std::vector<std::string> words = {"-m",
                                    "main",
                                    "--output",
                                    "../out",
                                    "--",
                                    "job",
                                    kJob,
                                    "append",
                                    "deep/state",
                                    " changed",
                                    "append",
                                    "acl.json",
                                    " ",
                                    "child",
                                    demo.at("child"),
                                    "daemon",
                                    demo.at("daemon"),
                                    "ready",
                                    demo.at("ready")};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

void check_nothing_left(const Demo& demo) {
  for (const char* name : {"child", "daemon", "ready"}) {
    const pid_t pid = read_pid(demo.at(name));
    CHECK(eventually([&] { return process_gone(pid); }));
  }
}

// Runs `words` with a time limit, retrying with longer limits until the application creates
// `ready`. The first limit is enough on most machines.
Finished timed_out(const Demo& demo, std::vector<std::string> words, const fs::path& ready,
                   const std::vector<std::string>& environment = {}) {
  words.insert(words.begin() + 2, {"--timeout", ""});
  Finished finished;
  for (const char* limit : {"1", "4", "16", "64"}) {
    for (const char* name : {"child", "daemon", "ready", "deaf", "out"}) {
      fs::remove_all(demo.at(name));
    }
    words[3] = limit;
    finished = collect(demo, words, {}, "", environment);
    if (fs::exists(ready)) break;
  }
  return finished;
}

// The moment at which msprof is killed.
struct Kill {
  bool is_at_work = false;  // the application is ready; otherwise msprof may still be starting it
  std::chrono::microseconds delay{};
};

std::vector<Kill> some_kills() {
  std::mt19937 random(20260);
  std::uniform_int_distribution<int> delay_us(0, 60'000);
  std::vector<Kill> at_work(10);
  std::vector<Kill> on_the_way(10);
  for (Kill& kill : at_work) kill = {true, std::chrono::microseconds(delay_us(random))};
  for (Kill& kill : on_the_way) kill = {false, std::chrono::microseconds(delay_us(random))};
  std::vector<Kill> kills = sample(at_work, 2);
  for (const Kill& kill : sample(on_the_way, 2)) kills.push_back(kill);
  return kills;
}

// Makes the driver wait 0.3 s instead of 5 s before it kills an application that was asked to exit.
const std::vector<std::string> kShortGrace = {"COLLECT_DRIVER_GRACE=0.3"};

bool runs_empty(const Sandbox& sandbox) {
  return !fs::exists(sandbox.runs()) || fs::is_empty(sandbox.runs());
}

}  // namespace

TEST_CASE("Ctrl-C ends the application and keeps what it recorded") {
  const Demo demo;
  const auto before = snapshot(demo.project());
  Collecting run(demo, busy_run(demo, {"hang"}));
  REQUIRE(eventually([&] { return demo.exists("ready"); }));
  run.signal(SIGINT);
  const Finished finished = run.wait();
  INFO(finished.err);
  CHECK(finished.exit_code == 130);
  CHECK(contains(finished.err, "main was killed by SIGINT"));
  CHECK(demo.exists(std::string("out/") + kJob + "/data/aicore.0.m.1.1.1.0"));
  CHECK(demo.read(std::string("out/") + kJob + ".files/deep/state") == "user's own changed");
  CHECK(snapshot(demo.project()) == before);
  CHECK(runs_empty(demo));
  check_nothing_left(demo);
}

TEST_CASE("SIGTERM stops the application and keeps its recording") {
  const Demo demo;
  Collecting run(demo, busy_run(demo, {"hang"}));
  REQUIRE(eventually([&] { return demo.exists("ready"); }));
  run.signal(SIGTERM);
  const Finished finished = run.wait();
  CHECK(finished.exit_code == 130);
  CHECK(contains(finished.err, "main was killed by SIGTERM"));
  CHECK(demo.exists(std::string("out/") + kJob + "/info.json.0"));
  check_nothing_left(demo);
}

TEST_CASE("With --all the recording before Ctrl-C is imported, and the exit code is 130") {
  const Demo demo;
  Collecting run(demo,
                 {"-m", "main", "--all", "--", "job", kJob, "ready", demo.at("ready"), "hang"});
  REQUIRE(eventually([&] { return demo.exists("ready"); }));
  run.signal(SIGINT);
  const Finished finished = run.wait();
  CHECK(finished.exit_code == 130);
  CHECK(contains(finished.err, std::string("driver imports ") + kJob));
}

TEST_CASE("Closing the terminal stops the application once, and its recording is imported") {
  const Demo demo;
  Collecting run(demo, {"-m", "main", "--all", "--", "job", kJob, "on-term", "write",
                        "JOB/data/last", "at TERM", "end", "ready", demo.at("ready"), "hang"});
  REQUIRE(eventually([&] { return demo.exists("ready"); }));
  // Both the kernel and the shell send SIGHUP: repeated signals must not kill the application.
  run.signal(SIGHUP);
  REQUIRE(eventually([&] { return contains(run.err(), "stopping main with its recording kept"); }));
  for (int i = 0; i < 3; ++i) run.signal(SIGHUP);
  const Finished finished = run.wait();
  INFO(finished.err);
  CHECK(finished.exit_code == 130);
  CHECK(contains(finished.err, "main exited with code 0 after the interrupt"));
  CHECK(contains(finished.err, std::string("driver imports ") + kJob));
  CHECK(demo.read(std::string("project/") + kJob + "/data/last") == "at TERM");
}

TEST_CASE("A second Ctrl-C kills the application, and its recording is kept") {
  const Demo demo;
  Collecting run(demo, busy_run(demo, {"ignore-ends", "ready", demo.at("deaf"), "hang"}));
  REQUIRE(eventually([&] { return demo.exists("deaf"); }));
  run.signal(SIGINT);
  REQUIRE(eventually([&] { return contains(run.err(), "stopping main with its recording kept"); }));
  run.signal(SIGINT);
  const Finished finished = run.wait();
  CHECK(finished.exit_code == 130);
  CHECK(contains(finished.err, "main was killed by SIGKILL"));
  CHECK(demo.exists(std::string("out/") + kJob + "/info.json.0"));
  check_nothing_left(demo);
}

TEST_CASE("A third Ctrl-C ends msprof and the application at once") {
  const Demo demo;
  const auto before = snapshot(demo.project());
  Collecting run(demo, busy_run(demo, {"ignore-ends", "ready", demo.at("deaf"), "hang"}));
  REQUIRE(eventually([&] { return demo.exists("deaf"); }));
  run.signal(SIGINT);
  REQUIRE(eventually([&] { return contains(run.err(), "stopping main with its recording kept"); }));
  run.signal(SIGINT);
  run.signal(SIGINT);
  run.signal(SIGINT);
  CHECK(run.wait().exit_code == 130);
  check_nothing_left(demo);
  CHECK(snapshot(demo.project()) == before);
  // The next run removes the files that the first run had no time to remove.
  REQUIRE(eventually([&] { return no_run_is_held(demo.runs()); }));
  CHECK(collect(demo, {"-m", "main", "--", "job", kOtherJob}).exit_code == 0);
  CHECK(runs_empty(demo));
}

TEST_CASE("An application that ignores Ctrl-C is killed after the grace period") {
  const Demo demo;
  Collecting run(demo, busy_run(demo, {"ignore-ends", "ready", demo.at("deaf"), "hang"}), {}, "",
                 kShortGrace);
  REQUIRE(eventually([&] { return demo.exists("deaf"); }));
  run.signal(SIGINT);
  const Finished finished = run.wait();
  CHECK(finished.exit_code == 130);
  CHECK(contains(finished.err, "main was killed by SIGKILL"));
  CHECK(demo.exists(std::string("out/") + kJob + "/info.json.0"));
  check_nothing_left(demo);
}

TEST_CASE("--timeout stops the application: exit on SIGTERM is a success") {
  const Demo demo;
  const auto before = snapshot(demo.project());
  const bool handled = GENERATE(false, true);
  std::vector<std::string> end = {"hang"};
  if (handled) {
    end = {"on-term", "write", "JOB/data/last", "at TERM", "end", "ready", demo.at("deaf"), "hang"};
  }
  const Finished finished =
      timed_out(demo, busy_run(demo, end), demo.at(handled ? "deaf" : "ready"));
  INFO(finished.err);
  CHECK(finished.exit_code == 0);
  CHECK(contains(finished.err, "main ran for the "));
  CHECK(contains(finished.err, handled ? "(exit code 0)" : "(SIGTERM)"));
  CHECK_FALSE(contains(finished.err, "error:"));
  CHECK(demo.exists(std::string("out/") + kJob + "/info.json.0"));
  if (handled) CHECK(demo.read(std::string("out/") + kJob + "/data/last") == "at TERM");
  CHECK(snapshot(demo.project()) == before);
  CHECK(runs_empty(demo));
  check_nothing_left(demo);
}

TEST_CASE("After --timeout an application that fails is a failure") {
  const Demo demo;
  const Finished failed = timed_out(
      demo, busy_run(demo, {"on-term", "exit", "3", "end", "ready", demo.at("deaf"), "hang"}),
      demo.at("deaf"));
  INFO(failed.err);
  CHECK(failed.exit_code == 7);
  CHECK(contains(failed.err, "main exited with code 3 after the time limit of "));
  CHECK(demo.exists(std::string("out/") + kJob + "/info.json.0"));
  check_nothing_left(demo);
}

TEST_CASE("After --timeout an application that has to be killed is a failure") {
  const Demo demo;
  const Finished killed =
      timed_out(demo, busy_run(demo, {"ignore-ends", "ready", demo.at("deaf"), "hang"}),
                demo.at("deaf"), kShortGrace);
  INFO(killed.err);
  CHECK(killed.exit_code == 7);
  CHECK(contains(killed.err, "main was killed by SIGKILL after the time limit of "));
  CHECK(demo.exists(std::string("out/") + kJob + "/info.json.0"));
  check_nothing_left(demo);
}

TEST_CASE("An application that ends before --timeout keeps its exit code") {
  const Demo demo;
  const Finished quick =
      collect(demo, {"-m", "main", "--timeout", "600", "--", "job", kJob, "say", "done"});
  CHECK(quick.exit_code == 0);
  CHECK(contains(quick.err, "main exited with code 0"));
  const Finished failed =
      collect(demo, {"-m", "main", "--timeout", "600", "--", "job", kOtherJob, "exit", "3"});
  CHECK(failed.exit_code == 7);
}

TEST_CASE("Ctrl-C before the time limit is reported as Ctrl-C") {
  const Demo demo;
  auto words = busy_run(demo, {"hang"});
  words.insert(words.begin() + 2, {"--timeout", "600"});
  Collecting run(demo, words);
  REQUIRE(eventually([&] { return demo.exists("ready"); }));
  run.signal(SIGINT);
  CHECK(run.wait().exit_code == 130);
}

TEST_CASE("An application that fails or crashes leaves the project as it was") {
  const Demo demo;
  const auto before = snapshot(demo.project());
  for (const std::vector<std::string>& end :
       {std::vector<std::string>{"exit", "3"}, std::vector<std::string>{"raise", "11"}}) {
    CHECK(collect(demo, busy_run(demo, end)).exit_code == 7);
    CHECK(snapshot(demo.project()) == before);
    CHECK(runs_empty(demo));
    check_nothing_left(demo);
    for (const char* name : {"child", "daemon", "ready"}) fs::remove(demo.at(name));
  }
}

TEST_CASE("Processes left by an application are stopped and counted") {
  const Demo demo;
  const Finished finished = collect(demo, busy_run(demo, {}));
  CHECK(finished.exit_code == 0);
  CHECK(contains(finished.err, "left 2 processes running"));
  check_nothing_left(demo);
}

TEST_CASE("A kill -9 of msprof at any moment leaves the user's files and no process") {
  const Demo demo;
  const auto before = snapshot(demo.project());
  for (const Kill& moment : some_kills()) {
    for (const char* name : {"child", "daemon", "ready"}) fs::remove(demo.at(name));
    Collecting run(demo, busy_run(demo, {"hang"}));
    if (moment.is_at_work) REQUIRE(eventually([&] { return demo.exists("ready"); }));
    std::this_thread::sleep_for(moment.delay);
    run.signal(SIGKILL);
    CHECK(run.wait().signal == SIGKILL);
    REQUIRE(eventually([&] { return no_run_is_held(demo.runs()); }));
    REQUIRE(eventually([&] { return nothing_runs_below(demo.cache()); }));
    CHECK(snapshot(demo.project()) == before);
  }
  // At most the folder of the last round remains; the next run removes it.
  CHECK(collect(demo, {"-m", "main", "--output", "../out", "--", "job", kJob}).exit_code == 0);
  CHECK(runs_empty(demo));
  CHECK(std::distance(fs::directory_iterator(demo.root() / "out"), fs::directory_iterator()) == 1);
}

TEST_CASE("A run in progress is not treated as a stale one") {
  const Demo demo;
  Collecting first(demo, {"-m", "main", "--", "job", kJob, "ready", demo.at("ready"), "hang"});
  REQUIRE(eventually([&] { return demo.exists("ready"); }));
  const Finished second = collect(demo, {"-m", "main", "--", "job", kOtherJob});
  CHECK(second.exit_code == 0);
  // Their files are kept apart, and a message warns that both use the device.
  CHECK(contains(second.err, "another run of "));
  CHECK(contains(second.err, "[concurrent_run]"));
  CHECK_FALSE(process_gone(read_pid(demo.at("ready"))));
  demo.add_app("other/main");
  const Finished other =
      collect(demo, {"-m", "main", "--", "job", kOtherJob}, demo.root() / "other");
  CHECK(other.exit_code == 0);
  CHECK_FALSE(contains(other.err, "[concurrent_run]"));
  first.signal(SIGINT);
  const Finished after = first.wait();
  CHECK(after.exit_code == 130);
  CHECK_FALSE(contains(after.err, "[concurrent_run]"));
  CHECK(demo.exists(std::string("project/") + kJob + "/data/aicore.0.m.1.1.1.0"));
  // A killed run does not count as a concurrent run.
  CHECK_FALSE(contains(collect(demo, {"-m", "main", "--", "job", kOtherJob}).err, "[concurrent"));
}

TEST_CASE("Stale run folders are removed with any permissions") {
  const Sandbox sandbox;
  const std::string stale = "run_1_" + msprof::machine_tag();
  // Names from another machine, whose locks may be invisible here, and from an earlier version.
  const std::vector<std::string> unknown = {"run_1_0000000000000000", "run_1_1_0"};
  const std::string runs = "cache/msprof/runs/";
  sandbox.write(runs + stale + "/tree/p/file", "x");
  sandbox.write(runs + stale + ".lock", "");
  sandbox.write(runs + "run_2_2_0/orphan", "x");
  sandbox.write(runs + "not_ours/file", "x");
  for (const std::string& name : unknown) {
    sandbox.write(runs + name + "/file", "x");
    sandbox.write(runs + name + ".lock", "");
  }
  ::chmod((sandbox.runs() / stale / "tree/p").c_str(), 0);
  const msprof::RunFolder held(sandbox.runs(), sandbox.project());
  CHECK(msprof::remove_stale_runs(sandbox.runs()) == 2);
  CHECK(fs::exists(held.path()));
  CHECK(sandbox.exists(runs + "not_ours/file"));
  CHECK_FALSE(sandbox.exists(runs + stale));
  CHECK_FALSE(sandbox.exists(runs + stale + ".lock"));
  CHECK_FALSE(sandbox.exists(runs + "run_2_2_0"));
  const auto yesterday = fs::file_time_type::clock::now() - std::chrono::hours(25);
  for (const std::string& name : unknown) {
    CHECK(sandbox.exists(runs + name + "/file"));
    for (const char* part : {".lock", "/file", ""})
      fs::last_write_time(sandbox.runs() / (name + part), yesterday);
  }
  CHECK(msprof::remove_stale_runs(sandbox.runs()) == 2);
  for (const std::string& name : unknown) CHECK_FALSE(sandbox.exists(runs + name));
}

TEST_CASE("Signals are printed by name") {
  CHECK(msprof::signal_name(SIGSEGV) == "SIGSEGV");
  CHECK(msprof::signal_name(SIGKILL) == "SIGKILL");
  CHECK(msprof::signal_name(64) == "signal 64");
}

TEST_CASE("A released process is killed at once with all its children") {
  const Demo demo;
  pid_t pid = 0;
  {
    msprof::LocalProgram program;
    program.path = demo.project() / "main";
    program.working_folder = demo.project();
    program.arguments = {"ignore-ends", "daemon",         demo.at("daemon"),
                         "ready",       demo.at("ready"), "hang"};
    const msprof::LocalProcess process(program);
    REQUIRE(eventually([&] { return demo.exists("ready"); }));
    pid = read_pid(demo.at("ready"));
    CHECK_FALSE(process_gone(pid));
  }
  CHECK(process_gone(pid));
  CHECK(process_gone(read_pid(demo.at("daemon"))));
}

TEST_CASE("If the supervisor is killed, the application ends too and is reported") {
  const Demo demo;
  msprof::LocalProgram program;
  program.path = demo.project() / "main";
  program.working_folder = demo.project();
  program.arguments = {"ready", demo.at("ready"), "hang"};
  msprof::LocalProcess process(program);
  REQUIRE(eventually([&] { return demo.exists("ready"); }));
  const pid_t pid = read_pid(demo.at("ready"));
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string word;
  pid_t supervisor = 0;
  stat >> word >> word >> word >> supervisor;
  REQUIRE(supervisor > 1);
  REQUIRE(supervisor != ::getpid());
  ::kill(supervisor, SIGKILL);
  std::optional<msprof::ProgramEnd> end;
  REQUIRE(
      eventually([&] { return (end = process.wait(std::chrono::milliseconds(50))).has_value(); }));
  CHECK(end->signal == SIGKILL);
  CHECK(eventually([&] { return process_gone(pid); }));
}

TEST_CASE("lines are dropped and text is replaced in a stream at any chunk boundaries") {
  const msprof::OutputChanges changes = {"[INFO] Data in ", "/out/.tmp/run", "/out"};
  const std::string printed =
      "(msprof) /out/.tmp/run/PROF_1\n[INFO] Data in /out/.tmp/run/PROF_1\n[INFO] Data is\n"
      "a [INFO] Data in b\n/out/.tmp/ru/out/.tmp/runrun\n[INFO] Data in x";
  const std::string expected =
      "(msprof) /out/PROF_1\n[INFO] Data is\na [INFO] Data in b\n/out/.tmp/ru/outrun\n";
  for (std::size_t chunk = 1; chunk <= printed.size(); ++chunk) {
    msprof::OutputRewriter rewriter(changes);
    std::string text;
    for (std::size_t at = 0; at < printed.size(); at += chunk)
      text += rewriter.take(printed.substr(at, chunk));
    text += rewriter.end();
    CAPTURE(chunk);
    CHECK(text == expected);
  }
  // Other text is passed on immediately, even if it started like a match.
  msprof::OutputRewriter rewriter(changes);
  CHECK(rewriter.take("[IN") == "");
  CHECK(rewriter.take("PUT] ") == "[INPUT] ");
  CHECK(rewriter.take("> ") == "> ");
  CHECK(rewriter.take("/out/.t") == "");
  CHECK(rewriter.end() == "/out/.t");
}

TEST_CASE("Results that were not fetched because of an error are kept") {
  const TempFolder folder;
  msprof::LocalHost host(folder / "runs");
  fs::create_directories(folder / "out/staging/remote");
  host.existing_project("sh", "/bin", folder / "out/staging/remote");
  const msprof::RunPaths paths = host.open({});
  msprof::RunCommand command;
  command.main = "sh";
  command.arguments = {"-c", "exit 0"};
  {
    const auto program = host.start(command);
    REQUIRE(msprof::wait_for_end(*program, {}, "sh", [] {}).has_succeeded());
  }
  write_file(fs::path(paths.output) / "records", "all");
  host.clean_up();
  std::string kept;
  for (const auto& entry : fs::recursive_directory_iterator(folder.path())) {
    if (entry.path().filename() == "records") kept = entry.path().string();
  }
  CHECK(contains(kept, "/profiling.kept."));
  CHECK(read_file(kept) == "all");
}
