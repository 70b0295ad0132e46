// --tty: the application runs on a terminal of the board. It ends in the same way as without --tty.
#include <signal.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "board/collect_board_fixture.hpp"
#include "board/collect_views.hpp"
#include "support/files.hpp"
#include "support/typed_terminal.hpp"

namespace msprof::test {

namespace fs = std::filesystem;

namespace {

// Runs msprof collect with stdin, stdout and stderr on a terminal.
std::unique_ptr<TypedTerminal> at_terminal(const BoardScene& scene, const Words& options,
                                           const Words& application,
                                           const std::string& main = "main") {
  Words words = {"collect",        "-m",       scene.user.project() / main, "--config",
                 scene.user.ini(), "--output", scene.user.output()};
  words.insert(words.end(), options.begin(), options.end());
  words.push_back("--");
  words.insert(words.end(), application.begin(), application.end());
  return std::make_unique<TypedTerminal>(
      msprof_path(), words,
      TerminalOptions{.variables = scene.board.client_variables(), .stdout_is_file = false});
}

void check_ends(const BoardScene& scene, const std::string& tty) {
  const auto run_to_end = [&](const Words& application) {
    const RunResult run = scene.user.collect({tty}, application);
    UNSCOPED_INFO(run.out << run.err);
    CHECK_FALSE(contains(run.out, "@msprof"));
    CHECK(run.exit_code == 7);
    return run.err;
  };
  CHECK(contains(run_to_end({"exit", "7"}), "main exited with code 7"));
  CHECK(contains(run_to_end({"exit", "127"}), "main exited with code 127"));
  CHECK(contains(run_to_end({"say", "x", "raise", "11"}), "main was killed by SIGSEGV"));
  const RunResult left = scene.user.collect(
      {tty},
      {"job", kBoardJob, "child", scene.user.at("child"), "daemon", scene.user.at("daemon")});
  CHECK(left.exit_code == 0);
  CHECK(contains(left.err, "main left 2 processes running; they were stopped"));

  write_file(scene.user.project() / "main", "#!/nowhere/interpreter\n");
  CHECK(contains(run_to_end({}), "cannot run main: the interpreter or loader"));
  CHECK(scene.litter().find("processes") == std::string::npos);
}

}  // namespace

TEST_CASE("With stdin, stdout and stderr on a terminal the application gets one on the board") {
  const BoardScene scene({.kind = each_kind()});
  const auto terminal = at_terminal(scene, {},
                                    {"job", kBoardJob, "tty", "mutter", "no flush", "on-int",
                                     "complain", "at INT", "end", "hang"});
  REQUIRE(terminal->wait_for("terminals: yes yes yes"));
  REQUIRE(terminal->wait_for("no flush"));
  CHECK_FALSE(terminal->echoes());
  terminal->type("\x03");
  const RunResult run = terminal->wait();
  INFO(run.err);
  CHECK(run.exit_code == 130);
  CHECK(contains(run.err, "at INT"));
  CHECK(terminal->is_as_usual());
  CHECK(scene.arrived() == kOnlyJob);
  CHECK(scene.litter() == "");
}

TEST_CASE("--tty is not the default with --json or --password-stdin") {
  const BoardScene scene({.kind = each_kind()});
  const auto terminal = at_terminal(scene, {"--json"}, {"job", kBoardJob, "tty", "say", "out"});
  CHECK(contains(terminal->wait().err, "terminals: no no no"));
  const RunResult help = run_msprof({"collect", "--help-board"});
  CHECK(contains(help.out, "--tty"));
  CHECK(contains(help.out, "--no-tty"));
}

TEST_CASE("Without a terminal, and with --no-tty, the streams stay separate") {
  const BoardScene scene({.kind = each_kind()});
  const Words application = {"job", kBoardJob, "tty", "say", "out", "complain", "err"};
  const RunResult plain = scene.user.collect({}, application);
  INFO(plain.err);
  CHECK(plain.out == "terminals: no no no\nout\n");
  CHECK(contains(plain.err, "err\n"));
  const auto terminal = at_terminal(scene, {"--no-tty"}, application);
  CHECK(contains(terminal->wait().err, "terminals: no no no"));

  // --tty provides a terminal even without a local one; stderr is part of its stream.
  const RunResult asked = scene.user.collect({"--tty"}, application);
  INFO(asked.err);
  CHECK(asked.exit_code == 0);
  CHECK(asked.out == "terminals: yes yes yes\r\nout\r\nerr\r\n");
  CHECK_FALSE(contains(asked.err, "err\n"));
  CHECK(scene.litter() == "");
}

TEST_CASE("Ctrl-C works the same with and without a terminal on the board") {
  const BoardScene scene({.kind = each_kind()});
  const std::string tty = GENERATE("--tty", "--no-tty");
  INFO(tty);
  const auto terminal = at_terminal(scene, {tty},
                                    {"job", kBoardJob, "on-int", "write", "JOB/data/last", "at INT",
                                     "exit", "3", "end", "say", "ready", "hang"});
  REQUIRE(terminal->wait_for("ready"));
  terminal->type("\x03");
  const RunResult run = terminal->wait();
  INFO(run.err);
  CHECK(run.exit_code == 130);
  CHECK(contains(run.err, "stopping main with its recording kept"));
  CHECK(contains(run.err, "main exited with code 3 after the interrupt"));
  CHECK(read_file(scene.user.in_job("data/last")) == "at INT");
  CHECK(terminal->is_as_usual());
  CHECK(scene.arrived() == kOnlyJob);
  CHECK(scene.litter() == "");
}

TEST_CASE("The terminal is restored however msprof ends") {
  BoardScene scene;
  const auto terminal = at_terminal(
      scene, {"--reconnect", "0"},
      {"job", kBoardJob, "ignore-ends", "child", scene.user.at("child"), "say", "ready", "hang"});
  REQUIRE(terminal->wait_for("ready"));
  REQUIRE(eventually([&] { return !terminal->echoes(); }));
  SECTION("killed at the second Ctrl-C") {
    terminal->type("\x03");
    REQUIRE(terminal->wait_for("stopping main with its recording kept"));
    terminal->type("\x03");
    const RunResult run = terminal->wait();
    CHECK(run.exit_code == 130);
    CHECK(contains(run.err, "main was killed by SIGKILL after the interrupt"));
    CHECK(scene.litter() == "");
  }
  SECTION("at once, by the third of three signals") {
    terminal->send(SIGINT);
    REQUIRE(terminal->wait_for("stopping main with its recording kept"));
    for (const int number : {SIGSTOP, SIGINT, SIGTERM, SIGCONT}) terminal->send(number);
    CHECK(terminal->wait().exit_code == 130);
  }
  SECTION("the connection is gone") {
    scene.board.stop();
    CHECK(terminal->wait().exit_code == 6);
  }
  CHECK(terminal->is_as_usual());
}

TEST_CASE("The end of stdin is the same with and without a terminal on the board") {
  const BoardScene scene({.kind = each_kind()});
  const std::string tty = GENERATE("--tty", "--no-tty");
  INFO(tty);
  SECTION("typed") {
    const auto terminal = at_terminal(
        scene, {tty}, {"job", kBoardJob, "say", "ready", "echo-stdin", "say", "that was all"});
    REQUIRE(terminal->wait_for("ready"));
    terminal->type(tty == "--tty" ? "a line\r" : "a line\n");
    REQUIRE(terminal->wait_for("a line"));
    terminal->type("\x04");
    const RunResult run = terminal->wait();
    INFO(run.err);
    CHECK(run.exit_code == 0);
    CHECK(contains(run.err, "that was all"));
  }
  SECTION("of a file, with a whole last line or without") {
    const std::vector<std::string> inputs = {"one\ntwo", "one\ntwo\n", ""};
    const std::string input = GENERATE_COPY(from_range(sample_for_case(inputs, 2)));
    const BoardCollecting collecting(
        scene.user, {tty}, {"job", kBoardJob, "echo-stdin", "say", "that was all"}, input);
    const RunResult run = collecting.wait();
    INFO(run.out << run.err);
    CHECK(run.exit_code == 0);
    CHECK(contains(run.out, input.empty() ? "" : "two"));
    // If stdin was empty, the application must not read a line.
    CHECK((input.empty() || contains(run.out, "that was all")));
  }
  CHECK(scene.litter() == "");
}

TEST_CASE("With a terminal of the board it is known how the application ended") {
  const BoardScene scene({.kind = each_kind()});
  check_ends(scene, "--tty");
}

TEST_CASE("Without a terminal of the board it is known how the application ended") {
  const BoardScene scene({.kind = each_kind()});
  check_ends(scene, "--no-tty");
}

TEST_CASE("The board's terminal has the size of the user's, also when that changes") {
  const BoardScene scene({.kind = each_kind()});
  write_file(scene.user.project() / "size.sh",
             "#!/bin/sh\nstty size\nwhile [ \"$(stty size)\" != '30 111' ]; do sleep 0.02; done\n"
             "stty size\n");
  fs::permissions(scene.user.project() / "size.sh", fs::perms::owner_all);
  const auto terminal = at_terminal(scene, {}, {}, "size.sh");
  REQUIRE(terminal->wait_for("24 80"));
  terminal->resize(111, 30);
  const RunResult run = terminal->wait();
  INFO(run.err);
  CHECK(contains(run.err, "30 111"));
  CHECK(contains(run.err, "size.sh exited with code 0"));
}

TEST_CASE("A board that provides no terminal is used without one, with a message") {
  const BoardScene scene;
  const fs::path keys = scene.board.tools().parent_path() / "etc/authorized_keys";
  write_file(keys, "no-pty " + read_file(keys));
  const RunResult run = scene.user.collect({"--tty"}, {"job", kBoardJob, "tty", "echo-stdin"});
  INFO(run.err);
  CHECK(run.exit_code == 0);
  CHECK(contains(run.err, "[no_board_terminal]"));
  CHECK(run.out == "terminals: no no no\n");
  CHECK(scene.litter() == "");
}

TEST_CASE("--tty is refused where it cannot work") {
  const BoardScene scene;
  const RunResult json = scene.user.collect({"--tty", "--json"}, {"job", kBoardJob});
  CHECK(json.exit_code == 2);
  CHECK(parse_document(json).at("error_id") == "tty_with_json");
  CHECK(scene.user.collect({"--tty", "--no-tty"}, {}).exit_code == 2);
  const RunResult here = run_msprof({"collect", "-m", "main", "--tty"}, scene.user.run_options());
  CHECK(here.exit_code == 2);
  CHECK(contains(here.err, "--tty needs a board"));
  CHECK(scene.arrived().empty());
}

}  // namespace msprof::test
