// collect --watch of runs on this machine, at a terminal and without one.
#include <signal.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include "support/eventually.hpp"
#include "support/lines.hpp"
#include "support/run_program.hpp"
#include "support/temp_folder.hpp"
#include "support/typed_terminal.hpp"
#include "watch/watched_project.hpp"

namespace msprof::test {

namespace {

using Words = std::vector<std::string>;

struct HereScene {
  HereScene() {
    write_watched_project(folder / "project");
    variables = {{"XDG_CACHE_HOME", (folder / "cache").string()},
                 {"XDG_CONFIG_HOME", (folder / "config").string()},
                 {"TERM", "xterm"},
                 {"NO_COLOR", ""}};
  }

  std::string end_file() const { return folder / "end"; }
  void end() const { write_file(end_file(), ""); }
  Words words(const Words& options, const std::string& mutter = "") const {
    Words words = {"collect", "-m", (folder / "project" / "main").string(), "--output",
                   (folder / "out").string()};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", end_file(), mutter});
    return words;
  }
  std::unique_ptr<TypedTerminal> at_terminal(int columns, int rows,
                                             const std::string& mutter = "") const {
    return std::make_unique<TypedTerminal>(
        msprof_path(), words({"--watch"}, mutter),
        TerminalOptions{
            .variables = variables, .stdout_is_file = false, .columns = columns, .rows = rows});
  }

  TempFolder folder;
  std::vector<std::pair<std::string, std::string>> variables;
};

// The scrolling region is the whole terminal again.
bool is_whole_again(const std::string& screen) {
  return screen.rfind("\033[r") > screen.rfind("\033[1;") && contains(screen, "\033[r");
}

}  // namespace

TEST_CASE("--watch draws a run at the bottom of the terminal while its output scrolls above") {
  const HereScene scene;
  const auto terminal = scene.at_terminal(80, 24, "a line of the application");
  REQUIRE(terminal->wait_for("executions/s"));
  REQUIRE(terminal->wait_for("slowest layers so far"));
  REQUIRE(terminal->wait_for(" conv1 "));
  REQUIRE(terminal->wait_for("2.00 ms"));
  REQUIRE(terminal->wait_for(" free"));
  REQUIRE(terminal->wait_for("a line of the application", 3));
  CHECK(contains(terminal->screen(), "\033[1m-- main on this machine, "));
  CHECK(contains(terminal->screen(), "\033[1;"));
  scene.end();
  const RunResult run = terminal->wait();
  INFO(run.err);
  CHECK(run.exit_code == 0);
  CHECK(is_whole_again(run.err));
  CHECK(contains(run.err, "main exited with code 0"));
  CHECK(std::filesystem::exists(scene.folder / "out" / kWatchedJob / "data"));
}

TEST_CASE("Ctrl-C, once or again and again, leaves a whole terminal") {
  const HereScene scene;
  const auto terminal = scene.at_terminal(40, 30);
  REQUIRE(terminal->wait_for("executions/s"));
  SECTION("once") {
    terminal->type("\x03");
    CHECK(terminal->wait().exit_code == 130);
  }
  SECTION("again and again") {
    for (int i = 0; i < 3; ++i) terminal->send(SIGINT);
    CHECK(terminal->wait().exit_code == 130);
  }
  INFO(terminal->screen());
  CHECK(is_whole_again(terminal->screen()));
  CHECK(terminal->is_as_usual());
}

TEST_CASE("--watch knows NO_COLOR, dumb terminals, small ones and -q") {
  HereScene scene;
  const auto sequences_of = [&](int rows, const Words& options) {
    TypedTerminal terminal(
        msprof_path(), scene.words(options),
        {.variables = scene.variables, .stdout_is_file = false, .columns = 80, .rows = rows});
    terminal.wait_for("application has begun");
    if (rows == 24 && scene.variables.back().second == "1") terminal.wait_for("executions/s");
    scene.end();
    return terminal.wait().err;
  };
  SECTION("no colour") {
    scene.variables.back().second = "1";
    const std::string screen = sequences_of(24, {"--watch"});
    CHECK(contains(screen, "-- main on this machine"));
    CHECK_FALSE(contains(screen, "\033[1m"));
  }
  SECTION("dumb") {
    scene.variables[2].second = "dumb";
    CHECK_FALSE(contains(sequences_of(24, {"--watch"}), "\033[1;"));
  }
  SECTION("small") {
    CHECK_FALSE(contains(sequences_of(8, {"--watch"}), "\033[1;"));
  }
  SECTION("-q") {
    CHECK_FALSE(contains(sequences_of(24, {"--watch", "-q"}), "\033[1;"));
  }
}

TEST_CASE("Off a terminal --watch says a line every ten seconds") {
  const HereScene scene;
  const std::filesystem::path err = scene.folder / "err";
  Words words = scene.words({"--watch"});
  words.insert(words.begin(), {"-c", R"(exec "$@" 2>"$0")", err.string(), msprof_path()});
  RunningProgram running("/bin/sh", words,
                         {.folder = scene.folder.path(), .variables = scene.variables});
  const auto said = [&] { return std::filesystem::exists(err) ? read_file(err) : ""; };
  CHECK(eventually([&] { return contains(said(), "executions/s") || running.has_ended(); }));
  scene.end();
  CHECK(running.wait().exit_code == 0);
  const std::string text = said();
  INFO(text);
  // Later on a machine that is busy.
  std::smatch found;
  REQUIRE(std::regex_search(text, found, std::regex("([0-9]+) s: (.*executions/s.*)\n")));
  CHECK(std::stoi(found[1]) >= 10);
  const std::string line = found[2];
  CHECK(contains(line, "slowest layer conv1 (100.0%, mean 2.00 ms)"));
  CHECK(contains(line, "3 files"));
  CHECK_FALSE(contains(text, "\033"));
}

TEST_CASE("--watch needs an application that msprof starts") {
  const RunResult attached = run_msprof({"collect", "--pid", "1", "--watch"});
  CHECK(attached.exit_code == 2);
  CHECK(contains(attached.err, "--watch"));
  const RunResult cleaning =
      run_msprof({"collect", "--host", "b@127.0.0.1", "--clean-board", "--watch"});
  CHECK(cleaning.exit_code == 2);
  CHECK(contains(cleaning.err, "--watch"));
}

}  // namespace msprof::test
