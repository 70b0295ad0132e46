// collect --watch for runs on this machine, with and without a terminal.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include "collect/local_host.hpp"
#include "support/eventually.hpp"
#include "support/lines.hpp"
#include "support/run_program.hpp"
#include "support/temp_folder.hpp"
#include "support/typed_terminal.hpp"
#include "watch/live_view.hpp"
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

// Redirects stderr of this process to a file during its lifetime.
class StderrFile {
 public:
  explicit StderrFile(std::filesystem::path path)
      : path_(std::move(path)), saved_(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)) {
    const int fd = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ::dup2(fd, STDERR_FILENO);
    ::close(fd);
  }
  ~StderrFile() {
    ::dup2(saved_, STDERR_FILENO);
    ::close(saved_);
  }
  StderrFile(const StderrFile&) = delete;
  StderrFile& operator=(const StderrFile&) = delete;
  std::string text() const { return read_file(path_); }

 private:
  std::filesystem::path path_;
  int saved_;
};

// Returns true if the scrolling region is the whole terminal again.
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

TEST_CASE("Ctrl-C, once or repeatedly, restores the terminal") {
  const HereScene scene;
  const auto terminal = scene.at_terminal(40, 30);
  REQUIRE(terminal->wait_for("executions/s"));
  SECTION("pressed once") {
    terminal->type("\x03");
    CHECK(terminal->wait().exit_code == 130);
  }
  SECTION("pressed repeatedly") {
    for (int i = 0; i < 3; ++i) terminal->send(SIGINT);
    CHECK(terminal->wait().exit_code == 130);
  }
  INFO(terminal->screen());
  CHECK(is_whole_again(terminal->screen()));
  CHECK(terminal->is_as_usual());
}

TEST_CASE("--watch handles NO_COLOR, dumb and small terminals and -q") {
  HereScene scene;
  const auto count_sequences = [&](int rows, const Words& options) {
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
    const std::string screen = count_sequences(24, {"--watch"});
    CHECK(contains(screen, "-- main on this machine"));
    CHECK_FALSE(contains(screen, "\033[1m"));
  }
  SECTION("dumb") {
    scene.variables[2].second = "dumb";
    CHECK_FALSE(contains(count_sequences(24, {"--watch"}), "\033[1;"));
  }
  SECTION("small") {
    CHECK_FALSE(contains(count_sequences(8, {"--watch"}), "\033[1;"));
  }
  SECTION("-q") {
    CHECK_FALSE(contains(count_sequences(24, {"--watch", "-q"}), "\033[1;"));
  }
}

TEST_CASE("Without a terminal --watch prints a line at each interval") {
  const HereScene scene;
  const std::filesystem::path output = scene.folder / "output";
  const std::filesystem::path json = scene.folder / "acl.json";
  write_file(json, R"({"profiler": {"output": ")" + output.string() + "\"}}");
  RunningProgram application(
      "/bin/sh", {"main", scene.end_file(), ""},
      {.folder = scene.folder / "project", .variables = {{"MSPROF_ACL_JSON", json.string()}}});
  const std::filesystem::path capture = output / kWatchedJob / "data" / "aicore.0.m.1.1.1.0";
  REQUIRE(eventually([&] { return std::filesystem::exists(capture); }));

  constexpr std::chrono::milliseconds kInterval{1500};
  const LocalHost host(scene.folder / "runs");
  watch::LiveView view({}, kInterval);
  StderrFile err(scene.folder / "err");
  const auto begin = std::chrono::steady_clock::now();
  view.begin(host, "main", std::make_unique<LocalPeek>(output));
  REQUIRE(eventually([&] {
    view.tick();
    return contains(err.text(), "executions/s");
  }));
  CHECK(std::chrono::steady_clock::now() - begin >= kInterval);
  view.finish();
  scene.end();
  CHECK(application.wait().exit_code == 0);
  const std::string text = err.text();
  INFO(text);
  CHECK(std::regex_search(text, std::regex("[0-9]+ s: .*executions/s.*\n")));
  CHECK(contains(text, "slowest layer conv1 (100.0%, mean 2.00 ms)"));
  CHECK(contains(text, "3 files"));
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
