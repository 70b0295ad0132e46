// How an application on a board ends, or why it does not start: msprof's messages, the fetched
// results, and what is left behind.
#include <signal.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "board/collect_board_fixture.hpp"
#include "support/files.hpp"
#include "support/typed_terminal.hpp"

namespace msprof::test {

namespace fs = std::filesystem;

namespace {

// Header of a program for an uncommon machine.
std::string foreign_program() {
  std::string head(
      "\x7f"
      "ELF\x02\x01\x01",
      7);
  head.resize(16);
  head += std::string("\x02\x00\xf7\x00\x01\x00\x00\x00", 8);  // executable, EM_BPF
  head.resize(4096);
  return head;
}

void put_program(const BoardUser& user, const std::string& bytes) {
  fs::remove(user.project() / "main");
  write_file(user.project() / "main", bytes);
  fs::permissions(user.project() / "main", fs::perms::owner_all);
}

// The application with a missing loader.
std::string program_without_loader(const BoardUser& user) {
  std::string bytes = read_file(user.project() / "main");
  const auto at = bytes.find("/ld-linux");
  if (at != std::string::npos) bytes.replace(at, 4, "/no-");
  return bytes;
}

// Runs with increasing time limits until the application reaches "ready"; the first limit is enough
// on most machines.
RunResult timed_out(const BoardScene& scene, const Words& application) {
  RunResult result;
  for (const char* limit : {"2", "8", "32"}) {
    fs::remove_all(scene.user.output() / kBoardJob);
    result = scene.user.collect({"--timeout", limit}, application);
    if (fs::exists(scene.user.at("ready"))) break;
  }
  return result;
}

}  // namespace

TEST_CASE("A failing application is reported with its code or signal, and its data is fetched") {
  const BoardScene scene({.kind = each_kind()});
  const RunResult failed =
      scene.user.collect({}, {"job", kBoardJob, "say", "out", "complain", "err", "exit", "7"});
  INFO(failed.err);
  CHECK(failed.exit_code == 7);
  CHECK(failed.out == "out\n");
  CHECK(contains(failed.err, "err\n"));
  CHECK(contains(failed.err, "main exited with code 7"));
  CHECK(scene.arrived() == kOnlyJob);
  CHECK(read_file(scene.user.in_job("data/aicore.0.m.1.1.1.0")) == "MSVP and records");
  const RunResult crashed = scene.user.collect({}, {"job", kOtherBoardJob, "raise", "11"});
  INFO(crashed.err);
  CHECK(crashed.exit_code == 7);
  CHECK(contains(crashed.err, "main was killed by SIGSEGV"));
  CHECK(scene.arrived() == Words{kBoardJob, kOtherBoardJob});
  CHECK(scene.litter() == "");
}

TEST_CASE("A missing or non-executable application is reported before anything is sent") {
  BoardScene scene;
  fs::remove(scene.user.project() / "main");
  scene.user.remember_project();
  const RunResult missing = scene.user.collect({}, {});
  INFO(missing.err);
  CHECK(missing.exit_code == 4);
  CHECK(contains(missing.err, "cannot run 'main'"));
  write_file(scene.user.project() / "main", "#!/bin/sh\n");
  scene.user.remember_project();
  const RunResult plain = scene.user.collect({}, {});
  INFO(plain.err);
  CHECK(plain.exit_code == 4);
  CHECK(contains(plain.err, "not executable"));
  CHECK(contains(plain.err, "chmod +x"));
  CHECK_FALSE(fs::exists(scene.board.home() / "msprof"));
  CHECK(scene.litter() == "");
}

TEST_CASE("A missing or non-executable file in --remote-dir is reported") {
  const BoardScene scene({.kind = each_kind()});
  const fs::path there = scene.board.home() / "app";
  write_file(there / "plain", "#!/bin/sh\n");
  const std::string before = fingerprint(there);
  const auto run = [&](const std::string& main, const std::string& folder) {
    return run_msprof({"collect", "--config", scene.user.ini(), "--output", scene.user.output(),
                       "--no-upload", "--remote-dir", folder, "-m", main},
                      scene.user.run_options());
  };
  const RunResult missing = run("main", there);
  INFO(missing.err);
  CHECK(missing.exit_code == 4);
  CHECK(contains(missing.err, "there is no file main in it"));
  const RunResult plain = run("plain", there);
  INFO(plain.err);
  CHECK(plain.exit_code == 4);
  CHECK(contains(plain.err, "plain in it is not executable"));
  const RunResult nowhere = run("main", scene.board.home() / "nowhere");
  INFO(nowhere.err);
  CHECK(nowhere.exit_code == 4);
  CHECK(contains(nowhere.err, "nowhere"));
  CHECK(contains(nowhere.err, "no such folder"));
  CHECK(scene.arrived().empty());
  CHECK(fingerprint(there) == before);
  CHECK(scene.litter() == "");
}

TEST_CASE("A program for another machine is refused with both machines, before it is sent") {
  // Without od(1), the board cannot read the header of its own programs.
  BoardScene scene(GENERATE(BoardOptions{.kind = BoardKind::openssh},
                            BoardOptions{.kind = BoardKind::dropbear, .without = {"od"}}));
  put_program(scene.user, foreign_program());
  scene.user.remember_project();
  const RunResult result = scene.user.collect({}, {});
  INFO(result.err);
  CHECK(result.exit_code == 7);
  CHECK(contains(result.err, "main cannot run on board@127.0.0.1"));
  CHECK(contains(result.err, "machine 247"));
  CHECK(contains(result.err, "cross compiler"));
  CHECK(scene.arrived().empty());
  CHECK_FALSE(fs::exists(scene.board.home() / "msprof/cache"));
  CHECK(scene.litter() == "");
}

TEST_CASE("A program that cannot run on the board is reported") {
  BoardScene scene({.kind = each_kind()});
  const std::string without_loader = program_without_loader(scene.user);
  SECTION("a script whose interpreter is missing") {
    put_program(scene.user, "#!/nowhere/interpreter\n");
    scene.user.remember_project();
    const RunResult result = scene.user.collect({}, {});
    INFO(result.err);
    CHECK(result.exit_code == 7);
    CHECK(contains(result.err, "cannot run main: the interpreter or loader"));
  }
  SECTION("a program whose loader is missing") {
    put_program(scene.user, without_loader);
    scene.user.remember_project();
    const RunResult result = scene.user.collect({}, {});
    INFO(result.err);
    CHECK(result.exit_code == 7);
    CHECK(contains(result.err, "cannot run main: the interpreter or loader"));
  }
  CHECK(scene.arrived().empty());
  CHECK(scene.litter() == "");
}

TEST_CASE("--timeout stops an application with TERM, which is a success, and its data is fetched") {
  const BoardScene scene({.kind = each_kind()});
  const RunResult result =
      timed_out(scene, {"job", kBoardJob, "on-term", "write", "JOB/data/last", "at TERM", "end",
                        "ready", scene.user.at("ready"), "hang"});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(contains(result.err, "main ran for the "));
  CHECK(contains(result.err, "(exit code 0)"));
  CHECK_FALSE(contains(result.err, "error:"));
  CHECK(scene.arrived() == kOnlyJob);
  CHECK(read_file(scene.user.in_job("data/last")) == "at TERM");
  CHECK(scene.litter() == "");
}

TEST_CASE("An application without a handler dies of TERM after --timeout, which is a success") {
  const BoardScene scene({.kind = each_kind()});
  const RunResult result =
      timed_out(scene, {"job", kBoardJob, "ready", scene.user.at("ready"), "hang"});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(contains(result.err, "(SIGTERM)"));
  CHECK(scene.arrived() == kOnlyJob);
  CHECK(scene.litter() == "");
}

TEST_CASE("An application that ignores TERM is killed, and what it recorded arrives") {
  const BoardScene scene({.kind = BoardKind::dropbear});
  const RunResult result =
      timed_out(scene, {"job", kBoardJob, "ignore-ends", "child", scene.user.at("child"), "ready",
                        scene.user.at("ready"), "hang"});
  INFO(result.err);
  CHECK(result.exit_code == 7);
  CHECK(contains(result.err, "main was killed by SIGKILL after the time limit of "));
  CHECK(scene.arrived() == kOnlyJob);
  CHECK(fs::exists(scene.user.in_job("data/aicore.0.m.1.1.1.0")));
  CHECK(scene.litter() == "");
}

TEST_CASE("Ctrl-C reaches the application as SIGINT, and its last file is fetched") {
  const BoardScene scene({.kind = each_kind()});
  const BoardCollecting run(scene.user, {},
                            {"job", kBoardJob, "on-int", "write", "JOB/data/last", "at INT", "exit",
                             "3", "end", "ready", scene.user.at("ready"), "hang"});
  REQUIRE(eventually([&] { return fs::exists(scene.user.at("ready")) || run.has_ended(); }));
  run.send(SIGINT);
  const RunResult result = run.wait();
  INFO(result.err);
  CHECK(result.exit_code == 130);
  CHECK(contains(result.err, "stopping main with its recording kept"));
  CHECK(contains(result.err, "main exited with code 3 after the interrupt"));
  CHECK(scene.arrived() == kOnlyJob);
  CHECK(read_file(scene.user.in_job("data/last")) == "at INT");
  CHECK(scene.litter() == "");
}

TEST_CASE("Closing the terminal stops the application, and the fetched data is imported") {
  const BoardScene scene({.kind = each_kind()});
  Words words =
      scene.user.words({"--all"}, {"job", kBoardJob, "on-term", "write", "JOB/data/last", "at TERM",
                                   "end", "ready", scene.user.at("ready"), "hang"});
  *std::find(words.begin(), words.end(), "main") = (scene.user.project() / "main").string();
  TypedTerminal terminal(msprof_path(), words, {.variables = scene.board.client_variables()});
  REQUIRE(eventually([&] { return fs::exists(scene.user.at("ready")); }));
  CHECK(terminal.hang_up().exit_code == 130);
  CHECK(scene.arrived() == kOnlyJob);
  CHECK(read_file(scene.user.in_job("data/last")) == "at TERM");
  CHECK(fs::exists(scene.user.in_job("sqlite/msprof.db")));
  CHECK(scene.litter() == "");
}

TEST_CASE("A second Ctrl-C kills an application that ignores the first, and its data is fetched") {
  const BoardScene scene({.kind = each_kind()});
  const BoardCollecting run(
      scene.user, {}, {"job", kBoardJob, "ignore-ends", "ready", scene.user.at("ready"), "hang"});
  REQUIRE(eventually([&] { return fs::exists(scene.user.at("ready")) || run.has_ended(); }));
  run.send(SIGINT);
  REQUIRE(eventually([&] {
    return contains(run.err(), "stopping main with its recording kept") || run.has_ended();
  }));
  run.send(SIGINT);
  const RunResult result = run.wait();
  INFO(result.err);
  CHECK(result.exit_code == 130);
  CHECK(contains(result.err, "main was killed by SIGKILL after the interrupt"));
  CHECK(scene.arrived() == kOnlyJob);
  CHECK(scene.litter() == "");
}

TEST_CASE("Daemons that hold the application's streams are stopped and counted") {
  const BoardScene scene({.kind = each_kind()});
  const RunResult result =
      scene.user.collect({}, {"job", kBoardJob, "child", scene.user.at("child"), "daemon",
                              scene.user.at("daemon"), "say", "done"});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(result.out == "done\n");
  CHECK(contains(result.err, "main left 2 processes running; they were stopped"));
  CHECK(scene.arrived() == kOnlyJob);
  CHECK(scene.litter() == "");
}

TEST_CASE("All of stdin reaches the application, byte for byte") {
  const BoardScene scene({.kind = each_kind()});
  std::string input;
  for (unsigned i = 0; i < 300'000; ++i) input += static_cast<char>(i * i % 251);
  const BoardCollecting run(scene.user, {}, {"job", kBoardJob, "echo-stdin"}, input);
  const RunResult result = run.wait();
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK((result.out == input));
  CHECK(scene.arrived() == kOnlyJob);
  CHECK(scene.litter() == "");
}

TEST_CASE("Arguments are passed unchanged, and too many for a board are an error") {
  const BoardScene scene({.kind = each_kind()});
  const std::string odd = "it's \"odd\" $HOME `id` \\ * \n\x01 ü";
  const RunResult good = scene.user.collect({}, {"job", kBoardJob, "say", odd, "say", ""});
  INFO(good.err);
  CHECK(good.exit_code == 0);
  CHECK(good.out == odd + "\n\n");
  Words many;
  for (int i = 0; i < 1000; ++i) {
    many.push_back("say");
    many.push_back("word " + std::to_string(i));
  }
  const RunResult result = scene.user.collect({}, many);
  INFO(result.err);
  CHECK(result.exit_code == 2);
  CHECK(contains(result.err, "more than a board accepts"));
  CHECK(contains(result.err, "shorter arguments"));
  CHECK(result.out == "");
  CHECK(scene.arrived() == kOnlyJob);
  CHECK(scene.litter() == "");
}

}  // namespace msprof::test
