// Runs with --survive: the connection breaks, msprof is killed, or the board is restarted, and the
// results still arrive, or their loss is reported.
#include <signal.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "board/collect_board_fixture.hpp"
#include "support/files.hpp"
#include "support/lines.hpp"
#include "support/network_proxy.hpp"
#include "support/small_disk.hpp"

namespace msprof::test {

namespace fs = std::filesystem;

namespace {

// A board behind a network, and a user who can resume the run in another process.
struct SurvivalScene {
  explicit SurvivalScene(const BoardOptions& options = {}, const Line& line = {})
      : board(options), network(board.port(), line), user(board, network.port()) {}

  RunResult go_on(const Words& options) const {
    Words words = {"collect", "--config", user.ini().string(), "--output", user.output().string()};
    words.insert(words.end(), options.begin(), options.end());
    return run_msprof(words, user.run_options());
  }
  bool is_ready(const BoardCollecting& run) const {
    return eventually([&] { return fs::exists(user.at("ready")) || run.has_ended(); });
  }
  void let_go() const { write_file(user.at("go"), ""); }
  // Returns the folder of the only run on the board, running or kept.
  fs::path run_folder() const {
    for (const char* place : {"runs", "kept"}) {
      const auto runs = names_in(board.home() / "msprof" / place);
      if (!runs.empty()) return board.home() / "msprof" / place / runs.front();
    }
    return board.home() / "no run";
  }
  bool is_kept() const {
    return eventually([&] { return !names_in(board.home() / "msprof/kept").empty(); });
  }
  std::string litter(std::size_t kept = 0) const {
    return litter_on(board, kept) + find_litter(user);
  }

  BoardServer board;
  NetworkProxy network;
  BoardUser user;
};

const Words kSurvive = {"--survive", "--reconnect", kAmple};

// Prints and records data before and after the test lets it continue.
Words two_halves(const BoardUser& user, const Words& last = {}) {
  Words words = {"job",      kBoardJob,     "say",      "first",
                 "complain", "one",         "ready",    user.at("ready"),
                 "await",    user.at("go"), "write",    "JOB/data/last",
                 "late",     "write",       "log",      "made by main",
                 "say",      "second",      "complain", "two"};
  words.insert(words.end(), last.begin(), last.end());
  return words;
}

void check_results(const SurvivalScene& scene) {
  CHECK(names_in(scene.user.output()) == Words{kBoardJob, std::string(kBoardJob) + ".files"});
  CHECK(read_file(scene.user.in_job("data/last")) == "late");
  CHECK(read_file(scene.user.output() / (std::string(kBoardJob) + ".files") / "log") ==
        "made by main");
  CHECK(scene.litter() == "");
}

// A run with a time limit whose msprof is killed before the limit expires.
struct LimitedScene {
  LimitedScene(BoardKind kind, const std::string& reconnect) {
    // The first limit is long enough on most machines.
    for (const char* seconds : {"4", "16", "64", "256"}) {
      limit = seconds;
      scene = std::make_unique<SurvivalScene>(BoardOptions{.kind = kind});
      const BoardCollecting first(scene->user,
                                  {"--survive", "--reconnect", reconnect, "--timeout", limit},
                                  {"job", kBoardJob, "on-term", "write", "JOB/data/last", "at TERM",
                                   "end", "ready", scene->user.at("ready"), "hang"});
      if (!scene->is_ready(first) || first.has_ended()) continue;
      // Stopped, so that msprof cannot end the run between the check and the kill.
      first.send(SIGSTOP);
      const bool is_early = !fs::exists(scene->run_folder() / "survive/ended-by") &&
                            !contains(first.err(), "stopping main with its recording kept");
      first.send(SIGKILL);
      first.wait();
      if (is_early) return;
    }
    FAIL("the application never started before its limit");
  }

  std::unique_ptr<SurvivalScene> scene;
  std::string limit;
};

}  // namespace

TEST_CASE("A --survive run without a lost connection behaves like any other") {
  const SurvivalScene scene({.kind = each_kind()});
  scene.let_go();
  const RunResult result =
      scene.user.collect({"--survive", "--json"}, two_halves(scene.user, {"exit", "3"}));
  INFO(result.err);
  CHECK(result.exit_code == 7);
  CHECK(contains(result.err, "survives a lost connection"));
  CHECK(contains(result.err, "24 h"));
  CHECK(contains(result.err, "--attach"));
  // Both streams are on stderr: the lines of one may be between those of the other.
  CHECK(result.err.find("\nfirst\n") < result.err.find("\nsecond\n"));
  CHECK(result.err.find("\none\n") < result.err.find("\ntwo\n"));
  CHECK(contains(result.err, "\nsecond\n"));
  CHECK(contains(result.err, "\ntwo\n"));
  const auto document = nlohmann::json::parse(result.out);
  CHECK(document["application"]["exit_code"] == 3);
  CHECK(document["application"]["connection_lost"] == false);
  check_results(scene);
}

TEST_CASE("A --survive run continues when the connection is restored") {
  SurvivalScene scene({.kind = each_kind()});
  const BoardCollecting run(scene.user, kSurvive, two_halves(scene.user, {"exit", "3"}));
  REQUIRE(scene.is_ready(run));
  scene.network.cut_now(GENERATE(CutKind::reset, CutKind::close));
  scene.let_go();
  const RunResult result = run.wait();
  INFO(result.err);
  CHECK(scene.network.cuts() > 0);
  CHECK(result.exit_code == 7);
  CHECK(contains(result.err, "main exited with code 3"));
  CHECK(result.out == "first\nsecond\n");
  CHECK(count_occurrences(result.err, "one\n") == 1);
  CHECK(count_occurrences(result.err, "two\n") == 1);
  check_results(scene);
}

TEST_CASE("A run whose start was confirmed on a lost connection is continued, not started twice") {
  // A round trip long enough that the answer is lost.
  SurvivalScene scene({.kind = each_kind()}, {.round_trip = std::chrono::milliseconds(60)});
  const BoardCollecting run(scene.user, kSurvive, two_halves(scene.user));
  REQUIRE(eventually(
      [&] { return fs::exists(scene.run_folder() / "survive/begun") || run.has_ended(); }));
  scene.network.cut_now();
  scene.let_go();
  const RunResult result = run.wait();
  INFO(result.err);
  CHECK(scene.network.cuts() > 0);
  CHECK(result.exit_code == 0);
  CHECK(result.out == "first\nsecond\n");
  check_results(scene);
}

TEST_CASE("After msprof is killed, another one can continue the run and gets all data") {
  const SurvivalScene scene({.kind = each_kind()});
  const BoardCollecting first(scene.user, kSurvive, two_halves(scene.user, {"raise", "11"}));
  REQUIRE(scene.is_ready(first));
  const fs::path seen = scene.run_folder() / "survive/seen";
  REQUIRE(eventually([&] { return fs::exists(seen) && read_file(seen) == "6 4\n"; }));
  // SIGHUP: the terminal was closed.
  const int how = GENERATE_COPY(from_range(sample_for_case(std::vector{SIGKILL, SIGHUP}, 1)));
  first.send(how);
  const RunResult killed = first.wait();
  if (how == SIGKILL) CHECK(killed.signal == SIGKILL);
  if (how == SIGHUP) CHECK(killed.exit_code == 130);
  CHECK(killed.out == "first\n");
  // If true, the application ends while no msprof is connected.
  const bool alone = GENERATE(true, false);
  if (alone) {
    scene.let_go();
    REQUIRE(eventually([&] { return fs::exists(scene.run_folder() / "survive/end"); }));
  }
  const RunResult busy = scene.user.collect({}, {"job", kOtherBoardJob});
  INFO(busy.err);
  CHECK(busy.exit_code == 6);
  CHECK(contains(busy.err, "is busy"));
  CHECK(contains(busy.err, " of "));
  CHECK(contains(busy.err, " since "));
  CHECK(contains(busy.err, "survives its connection"));
  scene.let_go();
  const RunResult result = scene.go_on({"--attach", "--json"});
  INFO(result.err);
  CHECK(result.exit_code == 7);
  CHECK(contains(result.err, "main was killed by SIGSEGV"));
  CHECK(contains(result.err, "second\n"));
  CHECK(count_occurrences(result.err, "first\n") == 0);
  const auto document = nlohmann::json::parse(result.out);
  CHECK(document["application"]["signal"] == "SIGSEGV");
  check_results(scene);
  // Information known only to the first msprof is in the capture.
  const auto record = nlohmann::json::parse(read_file(scene.user.in_job("run.json")));
  CHECK(record["options"].contains("--survive"));
  CHECK(record["command"][0] == "main");
}

TEST_CASE("A run with a connected msprof is not taken from it") {
  SurvivalScene scene({.kind = each_kind()});
  const BoardCollecting run(scene.user, kSurvive, two_halves(scene.user));
  REQUIRE(scene.is_ready(run));
  const RunResult followed = scene.go_on({"--attach", scene.run_folder().filename().string()});
  INFO(followed.err);
  CHECK(followed.exit_code == 6);
  CHECK(contains(followed.err, "followed by "));
  CHECK(contains(followed.err, "--force"));
  scene.let_go();
  const RunResult result = run.wait();
  INFO(result.err);
  CHECK(result.exit_code == 0);
  check_results(scene);
}

TEST_CASE("If a board keeps several runs, one must be chosen") {
  SurvivalScene scene({.kind = each_kind()});
  const BoardCollecting run(scene.user, {"--survive", "--reconnect", "0"}, two_halves(scene.user));
  REQUIRE(scene.is_ready(run));
  run.send(SIGKILL);
  run.wait();
  shorten_wait_for_lost_run(scene.board);
  scene.let_go();
  REQUIRE(scene.is_kept());
  // Copies the kept run to get a second one.
  const fs::path kept = scene.board.home() / "msprof/kept";
  const std::string name = names_in(kept).front();
  fs::copy(kept / name, kept / (name + "-2"), fs::copy_options::recursive);
  const RunResult several = scene.go_on({"--fetch"});
  INFO(several.err);
  CHECK(several.exit_code == 2);
  CHECK(contains(several.err, "has 2 runs"));
  for (const std::string& one : names_in(kept)) {
    CHECK(contains(several.err, one));
    const RunResult fetched = scene.go_on({"--fetch", one});
    INFO(fetched.err);
    CHECK(fetched.exit_code == 0);
  }
  CHECK(names_in(scene.user.output()).size() == 4);
  CHECK(scene.litter() == "");
}

TEST_CASE("A run that ended without a connection is kept, and --fetch fetches it") {
  SurvivalScene scene({.kind = each_kind()});
  const BoardCollecting first(scene.user, {"--survive", "--reconnect", "0"},
                              two_halves(scene.user));
  REQUIRE(scene.is_ready(first));
  first.send(SIGKILL);
  first.wait();
  const RunResult early = scene.go_on({"--fetch"});
  INFO(early.err);
  CHECK(early.exit_code == 4);
  CHECK(contains(early.err, "still in progress"));
  CHECK(names_in(scene.user.output()).empty());
  shorten_wait_for_lost_run(scene.board);
  scene.let_go();
  REQUIRE(scene.is_kept());
  // The board can be used again.
  const BoardUser another(scene.board);
  const RunResult other = another.collect({}, {"job", kOtherBoardJob});
  INFO(other.err);
  CHECK(other.exit_code == 0);
  const RunResult result = scene.go_on({"--fetch"});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(contains(result.out, "second\n"));
  check_results(scene);
  const RunResult again = scene.go_on({"--fetch"});
  CHECK(again.exit_code == 4);
  CHECK(contains(again.err, "has no earlier run"));
}

TEST_CASE("The files of a run without --survive are fetched, with the known facts") {
  SurvivalScene scene({.kind = each_kind()});
  shorten_wait_for_lost_run(scene.board);
  const BoardCollecting killed(scene.user, {"--reconnect", "1"},
                               {"job", kBoardJob, "ready", scene.user.at("ready"), "hang"});
  REQUIRE(scene.is_ready(killed));
  killed.send(SIGKILL);
  killed.wait();
  REQUIRE(scene.is_kept());
  const RunResult result = scene.go_on({"--fetch", "--json"});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(contains(result.err, "when and how the application ended is unknown"));
  CHECK(scene.user.project_is_untouched());
  const auto run = nlohmann::json::parse(read_file(scene.user.in_job("run.json")));
  for (const char* key : {"command", "application", "begin", "end"}) CHECK_FALSE(run.contains(key));
  CHECK(run.at("options").empty());
  CHECK(run.at("host").get<std::string>().starts_with("board@127.0.0.1"));
  CHECK(run.at("exit_code") == 0);
  const auto document = nlohmann::json::parse(result.out);
  CHECK_FALSE(document.contains("main"));
  CHECK_FALSE(document.at("application").contains("seconds"));
  CHECK(scene.litter() == "");
}

TEST_CASE("--fetch --all-runs fetches every run that has ended") {
  const BoardScene scene({.kind = each_kind()});
  const fs::path kept = scene.board.home() / "msprof/kept";
  Words words = {"collect",           "--config", scene.user.ini(), "--output",
                 scene.user.output(), "--fetch",  "--all-runs"};
  const RunResult none = run_msprof(words, scene.user.run_options());
  CHECK(none.exit_code == 4);
  CHECK(contains(none.err, "has no earlier run to fetch"));
  write_file(kept / "20260101_120000_1" / kBoardJob / "data/aicore.0", "first");
  write_file(kept / "20260102_120000_2" / kOtherBoardJob / "data/aicore.0", "second");
  // A run whose application left no capture.
  fs::create_directories(kept / "20260103_120000_3/tree");
  write_file(scene.board.home() / ".msprof/kept/20260104-120000-4" / kBoardJob / "data/aicore.0",
             "of an earlier version");
  words.emplace_back("--json");
  const RunResult result = run_msprof(words, scene.user.run_options());
  INFO(result.err << result.out);
  CHECK(result.exit_code == 4);
  CHECK(read_file(scene.user.in_job("data/aicore.0")) == "first");
  CHECK(read_file(scene.user.in_job("data/aicore.0", kOtherBoardJob)) == "second");
  CHECK(read_file(scene.user.in_job("data/aicore.0", std::string(kBoardJob) + "~2")) ==
        "of an earlier version");
  const auto document = nlohmann::json::parse(result.out);
  CHECK(document.at("schema") == "msprof.collect_left_runs/1");
  REQUIRE(document.at("runs").size() == 4);
  CHECK(document.at("runs")[0].at("run") == "20260101_120000_1");
  CHECK(document.at("runs")[0].at("exit_code") == 0);
  CHECK(document.at("runs")[2].at("exit_code") == 4);
  CHECK(scene.litter() == "");
  words = {"collect", "--config", scene.user.ini(), "--all-runs", "-m", "main"};
  CHECK(run_msprof(words, scene.user.run_options()).exit_code == 2);
}

TEST_CASE("An unreachable board is reported with the command to continue, which works") {
  SurvivalScene scene({.kind = each_kind()});
  const BoardCollecting first(scene.user, {"--survive", "--reconnect", "1"},
                              two_halves(scene.user));
  REQUIRE(scene.is_ready(first));
  scene.network.refuse(true);
  scene.network.cut_now();
  const RunResult lost = first.wait();
  INFO(lost.err);
  CHECK(lost.exit_code == 6);
  CHECK(contains(lost.err, "The run continues there"));
  CHECK(contains(lost.err, "msprof collect --attach " + scene.run_folder().filename().string() +
                               " --config " + scene.user.ini().string()));
  scene.network.refuse(false);
  scene.let_go();
  const RunResult result = scene.go_on({"--attach", scene.run_folder().filename().string()});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(lost.out + result.out == "first\nsecond\n");
  check_results(scene);
}

TEST_CASE("A restarted board keeps the recording, and the run is reported as interrupted") {
  SurvivalScene scene({.kind = each_kind()});
  const BoardCollecting first(scene.user, {"--survive", "--reconnect", "1"},
                              two_halves(scene.user));
  REQUIRE(scene.is_ready(first));
  const bool killed = GENERATE(true, false);
  if (killed) first.send(SIGKILL);
  scene.board.stop();
  first.wait();
  scene.board.start();
  const RunResult result = scene.go_on({GENERATE("--attach", "--fetch")});
  INFO(result.err);
  CHECK(result.exit_code == 6);
  CHECK(contains(result.err, "the run of main was interrupted"));
  CHECK(contains(result.err, "restarted"));
  CHECK(names_in(scene.user.output()) == Words{kBoardJob});
  CHECK(read_file(scene.user.in_job("data/aicore.0.m.1.1.1.0")) == "MSVP and records");
  CHECK(scene.litter() == "");
}

TEST_CASE("A restarted board is noticed by the waiting msprof") {
  SurvivalScene scene;
  const BoardCollecting run(scene.user, kSurvive, two_halves(scene.user));
  REQUIRE(scene.is_ready(run));
  scene.board.stop();
  scene.board.start();
  const RunResult result = run.wait();
  INFO(result.err);
  CHECK(result.exit_code == 6);
  CHECK(contains(result.err, "the run of main was interrupted"));
  CHECK(names_in(scene.user.output()) == Words{kBoardJob});
  CHECK(scene.litter() == "");
}

TEST_CASE("The time limit reaches a run that another msprof started") {
  const LimitedScene limited(each_kind(), kAmple);
  const RunResult result = limited.scene->go_on({"--attach"});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(read_file(limited.scene->user.in_job("data/last")) == "at TERM");
  CHECK(limited.scene->litter() == "");
}

TEST_CASE("Ctrl-C reaches a run that another msprof started") {
  const SurvivalScene scene({.kind = each_kind()});
  const BoardCollecting first(scene.user, kSurvive,
                              {"job", kBoardJob, "on-int", "write", "JOB/data/last", "at INT",
                               "end", "ready", scene.user.at("ready"), "hang"});
  REQUIRE(scene.is_ready(first));
  first.send(SIGKILL);
  first.wait();
  const BoardUser& user = scene.user;
  const TempFolder folder;
  const std::string script = "exec \"$@\" 2>" + (folder / "err").string();
  Words words = {"-c",       script,
                 "sh",       msprof_path(),
                 "collect",  "--attach",
                 "--config", user.ini().string(),
                 "--output", user.output().string()};
  RunningProgram second("/bin/sh", words, user.run_options());
  REQUIRE(eventually([&] {
    return fs::exists(folder / "err") && contains(read_file(folder / "err"), "continuing");
  }));
  REQUIRE(eventually([&] { return fs::exists(scene.run_folder() / "survive/present"); }));
  second.send(SIGINT);
  const RunResult result = second.wait();
  INFO(read_file(folder / "err"));
  CHECK(result.exit_code == 130);
  CHECK(read_file(scene.user.in_job("data/last")) == "at INT");
  CHECK(scene.litter() == "");
}

TEST_CASE("The time limit applies without a connection") {
  const LimitedScene limited(BoardKind::openssh, "0");
  SurvivalScene& scene = *limited.scene;
  // The board's time limit also uses one-second sleeps.
  REQUIRE(eventually([&] { return fs::exists(scene.run_folder() / "survive/end"); }));
  shorten_wait_for_lost_run(scene.board);
  REQUIRE(scene.is_kept());
  const RunResult result = scene.go_on({"--attach"});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(contains(result.err, "for the " + limited.limit + " s of --timeout"));
  CHECK(read_file(scene.user.in_job("data/last")) == "at TERM");
  CHECK(scene.litter() == "");
}

TEST_CASE("A run that fills the board's disk without a connection is fetched with its exit") {
  if (!SmallDisk::is_available_or_skip()) return;
  const SmallDisk disk(2 * application_bytes() + (12 << 20));
  SurvivalScene scene({.kind = each_kind(), .home = disk.path() / "home"});
  const BoardCollecting first(
      scene.user, {"--survive", "--reconnect", "0"},
      {"job", kBoardJob, "ready", scene.user.at("ready"), "await", scene.user.at("go"), "fill",
       "JOB/data/full", "complain", std::string(2000, 'x'), "exit", "3"});
  REQUIRE(scene.is_ready(first));
  first.send(SIGKILL);
  first.wait();
  shorten_wait_for_lost_run(scene.board);
  scene.let_go();
  REQUIRE(scene.is_kept());
  const RunResult result = scene.go_on({"--attach"});
  INFO(result.err);
  CHECK(result.exit_code == 7);
  CHECK(contains(result.err, "main exited with code 3"));
  CHECK(fs::file_size(scene.user.in_job("data/full")) > (4 << 20));
  CHECK(scene.litter() == "");
}

TEST_CASE("Options that conflict with a surviving run are refused") {
  const SurvivalScene scene;
  const auto refusal = [&](const Words& words) {
    const RunResult result = scene.go_on(words);
    INFO(result.err);
    CHECK(result.exit_code == 2);
    return result.err;
  };
  CHECK(contains(refusal({"--attach", "-m", "main"}), "-m applies only when a run is started"));
  CHECK(contains(refusal({"--attach", "--fetch"}), "give only one of them"));
  CHECK(contains(refusal({"-m", "main", "--survive", "--tty"}), "remove --tty"));
  CHECK(contains(refusal({"-m", "main", "--survive", "--cann"}), "on boards only"));
  const RunResult here =
      run_msprof({"collect", "-m", "main", "--survive"}, scene.user.run_options());
  CHECK(here.exit_code == 2);
  CHECK(contains(here.err, "a board is required"));
}

TEST_CASE("With --survive an application that cannot be started is reported") {
  const SurvivalScene scene;
  const fs::path main = scene.user.project() / "main";
  const bool foreign = GENERATE(true, false);
  if (foreign) {
    write_file(main, "#!/no/such/interpreter\n");
  } else {
    fs::remove(main);
    write_file(main, "#!/bin/sh\nprintf started\nexit 127\n");
  }
  fs::permissions(main, fs::perms::owner_all);
  const RunResult result = scene.user.collect({"--survive"}, {});
  INFO(result.err);
  CHECK(result.exit_code == 7);
  CHECK(contains(result.err, foreign ? "interpreter or loader" : "exited with code 127"));
  CHECK(litter_on(scene.board) == "");
}

}  // namespace msprof::test
