// Several boards at the same time: marked lines, a summary, and the independence of the boards.
#include <signal.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "board/collect_board_fixture.hpp"
#include "board/collect_views.hpp"
#include "support/files.hpp"
#include "support/typed_terminal.hpp"

namespace msprof::test {

namespace fs = std::filesystem;

namespace {

// Two boards, and the user of the first, with a.ini and b.ini.
struct TwoBoards {
  explicit TwoBoards(const BoardOptions& options = {}) : a(options), b(options) {
    fs::copy_file(a.user.ini(), ini("a"));
    fs::copy_file(b.user.ini(), ini("b"));
  }

  std::string ini(const std::string& name) const { return a.user.at(name + ".ini"); }
  void configure_with(const std::string& more) const {
    for (const auto& [name, board] : {std::pair{"a", &a.board}, std::pair{"b", &b.board}}) {
      write_file(ini(name), "[ssh_config]\nip = 127.0.0.1\nusername = board\nport = " +
                                std::to_string(board->port()) + "\nconnect_timeout = " + kAmple +
                                "\n" + more);
      fs::permissions(ini(name), fs::perms::owner_read | fs::perms::owner_write);
    }
  }
  Words words(const Words& options, const Words& application) const {
    Words words = {"collect", "-m",         "main",       "--config", ini("a"),       "--config",
                   ini("b"),  "--host-key", "accept-new", "--output", a.user.output()};
    words.insert(words.end(), options.begin(), options.end());
    if (application.empty()) return words;
    words.push_back("--");
    words.insert(words.end(), application.begin(), application.end());
    return words;
  }
  RunResult collect(const Words& options, const Words& application) const {
    return run_msprof(words(options, application), a.user.run_options());
  }
  Words arrived(const std::string& board) const { return names_in(a.user.output() / board); }
  std::string litter() const { return a.litter() + litter_on(b.board); }

  BoardScene a;
  BoardScene b;
};

// Counts lines without the mark of a board; only the summary may have such lines.
std::size_t unmarked_lines(const std::string& text) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    if (!line.starts_with("a: ") && !line.starts_with("b: ")) ++count;
    at = end + 1;
  }
  return count;
}

}  // namespace

TEST_CASE("Two boards run concurrently, with marked lines, separate captures and a summary table") {
  const TwoBoards two({.kind = each_kind()});
  const RunResult run = two.collect({}, {"job", kBoardJob, "say", "hello", "complain", "careful"});
  INFO(run.err << run.out);
  CHECK(run.exit_code == 0);
  CHECK(contains(run.out, "a: hello\n"));
  CHECK(contains(run.out, "b: hello\n"));
  CHECK(unmarked_lines(run.out) == 0);
  for (const std::string mark : {"a: ", "b: "}) {
    CHECK(contains(run.err, mark + "careful\n"));
    CHECK(contains(run.err, mark + "running "));
    CHECK(contains(run.err, mark + "main exited with code 0"));
  }
  CHECK(two.arrived("a") == kOnlyJob);
  CHECK(two.arrived("b") == kOnlyJob);
  CHECK(contains(run.err, "Board"));
  CHECK(contains(run.err, "Exit code"));
  CHECK(contains(run.err, "next: msprof compare " +
                              (two.a.user.output() / "a" / kBoardJob).string() + " " +
                              (two.a.user.output() / "b" / kBoardJob).string()));
  const auto record =
      nlohmann::json::parse(read_file(two.a.user.output() / "b" / kBoardJob / "run.json"));
  CHECK(record.at("host") == two.b.board.address());
  CHECK(record.at("options").at("--config") == two.ini("b"));
  CHECK(two.litter() == "");
}

TEST_CASE("Boards run at the same time, not one after the other") {
  const TwoBoards two;
  BoardCollecting running(two.a.user, {"--config", two.ini("b"), "--host-key", "accept-new"},
                          {"job", kBoardJob, "on-int", "end", "hang"});
  const auto run_on = [](const BoardServer& board) {
    return eventually([&] {
      for (const BoardProcess& one : board.processes())
        if (contains(one.command, "hang")) return true;
      return false;
    });
  };
  CHECK(run_on(two.a.board));
  CHECK(run_on(two.b.board));
  // Ctrl-C reaches both boards: their recordings are fetched.
  running.send(SIGINT);
  const RunResult run = running.wait();
  INFO(run.err);
  CHECK(run.exit_code == 130);
  CHECK(contains(run.err, "interrupted"));
  for (const auto& folder_of : names_in(two.a.user.output()))
    CHECK(names_in(two.a.user.output() / folder_of) == kOnlyJob);
  CHECK(names_in(two.a.user.output()).size() == 2);
  CHECK(two.litter() == "");
}

TEST_CASE("A second Ctrl-C kills applications that do not end") {
  const TwoBoards two;
  BoardCollecting running(two.a.user, {"--config", two.ini("b"), "--host-key", "accept-new"},
                          {"job", kBoardJob, "ignore-ends", "say", "deaf", "hang"});
  REQUIRE(eventually([&] {
    std::size_t hanging = 0;
    for (const BoardServer* board : {&two.a.board, &two.b.board})
      for (const BoardProcess& one : board->processes())
        if (contains(one.command, "hang")) {
          ++hanging;
          break;
        }
    return hanging == 2;
  }));
  running.send(SIGINT);
  REQUIRE(eventually([&] {
    const std::string err = running.err();
    const auto first = err.find("stopping main with its recording kept");
    return first != std::string::npos &&
           err.find("stopping main with its recording kept", first + 1) != std::string::npos;
  }));
  running.send(SIGINT);
  const RunResult run = running.wait();
  INFO(run.err);
  CHECK(run.exit_code == 130);
  CHECK(contains(run.err, "SIGKILL"));
  CHECK(two.litter() == "");
}

TEST_CASE("If msprof is killed, its runs on all boards end, and their data is fetched") {
  const TwoBoards two({.kind = each_kind()});
  BoardCollecting running(two.a.user, {"--config", two.ini("b"), "--host-key", "accept-new"},
                          {"job", kBoardJob, "hang"});
  REQUIRE(eventually([&] {
    const std::string err = running.err();
    return contains(err, "board: running ") && contains(err, "b: running ");
  }));
  const auto runs_on = [](const BoardServer& board) {
    for (const BoardProcess& one : board.processes())
      if (contains(one.command, "hang")) return true;
    return false;
  };
  REQUIRE(eventually([&] { return runs_on(two.a.board) && runs_on(two.b.board); }));
  running.send(SIGKILL);
  CHECK(running.wait().exit_code == -1);
  for (const std::string board : {"board", "b"}) {
    CHECK(eventually([&] { return names_in(two.a.user.output() / board) == kOnlyJob; }));
  }
  CHECK(litter_on(two.a.board) + litter_on(two.b.board) == "");
}

TEST_CASE("A failing board does not affect the others, and the most severe exit code is returned") {
  TwoBoards two;
  two.b.board.stop();
  const RunResult away = two.collect({"--json"}, {"job", kBoardJob});
  INFO(away.err);
  CHECK(away.exit_code == 6);
  const auto document = parse_document(away);
  CHECK(document.at("schema") == "msprof.collect_boards/1");
  CHECK(document.at("exit_code") == 6);
  REQUIRE(document.at("boards").size() == 2);
  CHECK(document.at("boards")[0].at("name") == "a");
  CHECK(document.at("boards")[0].at("exit_code") == 0);
  CHECK(document.at("boards")[0].at("captures").size() == 1);
  CHECK(document.at("boards")[1].at("exit_code") == 6);
  CHECK(document.at("boards")[1].contains("error"));
  CHECK(contains(away.err, "b: error: "));
  CHECK(two.arrived("a") == kOnlyJob);
  CHECK(two.arrived("b").empty());

  two.b.board.start();
  two.a.user.remember_project();
  const RunResult failing = two.collect({}, {"job", kOtherBoardJob, "exit", "3"});
  INFO(failing.err);
  CHECK(failing.exit_code == 7);
  CHECK(contains(failing.err, "exit code 3"));
  CHECK(two.arrived("b") == Words{kOtherBoardJob});
  CHECK(two.litter() == "");
}

TEST_CASE("A board given twice, and options for one board only, are usage errors") {
  const TwoBoards two;
  const auto usage = [&](const Words& options, const std::string& part) {
    const RunResult run = two.collect(options, {"job", kBoardJob});
    INFO(run.err);
    CHECK(run.exit_code == 2);
    CHECK(contains(run.err, part));
  };
  usage({"--config", two.ini("a")}, "is given twice");
  usage({"--host", two.a.board.address()}, "--config");
  usage({"--tty"}, "--tty");
  usage({"--cann", "--dynamic", "on"}, "--dynamic");
  usage({"--repeat", "0"}, "--repeat");
  usage({"--warm-up", "1"}, "--repeat");
  const std::string host = two.a.board.address();
  const RunResult twice =
      run_msprof({"collect", "-m", "main", "--host", host + "," + host}, two.a.user.run_options());
  CHECK(twice.exit_code == 2);
  CHECK(contains(twice.err, "is given twice"));
  const RunResult empty =
      run_msprof({"collect", "-m", "main", "--host", host + ","}, two.a.user.run_options());
  CHECK(empty.exit_code == 2);
  CHECK(names_in(two.a.user.output()).empty());
  CHECK_FALSE(fs::exists(two.a.board.home() / "msprof"));
}

TEST_CASE("Hosts can share one ini file, and boards with equal file names are distinguished") {
  const TwoBoards two;
  write_file(two.ini("shared"),
             "[ssh_config]\nusername = board\nip = 192.0.2.1\nconnect_timeout = " + kAmple + "\n");
  RunOptions options = two.a.user.run_options();
  options.variables.emplace_back("MSPROF_SSH_PASSWORD", two.a.board.password());
  const auto port = [](const BoardServer& board) { return std::to_string(board.port()); };
  const RunResult hosts = run_msprof(
      {"collect", "-m", "main", "--config", two.ini("shared"), "--host",
       "127.0.0.1:" + port(two.a.board) + ",127.0.0.1:" + port(two.b.board), "--host-key",
       "accept-new", "--output", two.a.user.output(), "--", "job", kBoardJob},
      options);
  INFO(hosts.err);
  CHECK(hosts.exit_code == 0);
  for (const BoardServer* board : {&two.a.board, &two.b.board}) {
    CHECK(contains(hosts.err, "127.0.0.1:" + port(*board) + ": running"));
    CHECK(two.arrived("127.0.0.1_" + port(*board)) == kOnlyJob);
  }
  const RunResult alike = run_msprof(
      {"collect", "-m", "main", "--config", two.a.user.ini(), "--config", two.b.user.ini(),
       "--host-key", "accept-new", "--output", two.a.user.output(), "--", "job", kOtherBoardJob},
      options);
  INFO(alike.err);
  CHECK(alike.exit_code == 0);
  CHECK(two.arrived("127.0.0.1_" + port(two.b.board)) == Words{kBoardJob, kOtherBoardJob});
}

TEST_CASE("Passwords are read one per line and board, or from the variable, and stay secret") {
  const std::string secret = "s;e c#ret" + std::to_string(::getpid());
  const TwoBoards two({.password = secret, .key_login = false});
  two.configure_with("");
  const Words application = {"job", kBoardJob, "say", "up", "on-int", "end", "hang"};
  TempFolder folder;
  write_file(folder / "in", secret + "\n" + secret + "\nfor the application\n");
  Words words = {"-c", R"(exec "$@" <"$0/in" >"$0/out" 2>"$0/err")", folder.path().string(),
                 msprof_path()};
  for (std::string& word : two.words({"--password-stdin"}, application)) words.push_back(word);
  RunningProgram program("/bin/sh", words, two.a.user.run_options());
  REQUIRE(eventually([&] {
    const std::string out = fs::exists(folder / "out") ? read_file(folder / "out") : "";
    return contains(out, "a: up") && contains(out, "b: up");
  }));
  CHECK(processes_with(secret).empty());
  program.send(SIGINT);
  CHECK(program.wait().exit_code == 130);
  CHECK_FALSE(contains(read_file(folder / "err") + read_file(folder / "out"), secret));
  CHECK(files_with(two.a.user.output(), secret).empty());
  CHECK(files_with(two.b.board.home(), secret).empty());

  RunOptions options = two.a.user.run_options();
  options.variables.emplace_back("MSPROF_SSH_PASSWORD", secret);
  const RunResult variable =
      run_msprof(two.words({}, {"job", kOtherBoardJob, "env", "MSPROF_SSH_PASSWORD"}), options);
  INFO(variable.err);
  CHECK(variable.exit_code == 0);
  CHECK_FALSE(contains(variable.out, secret));
  CHECK(two.litter() == "");
}

TEST_CASE("On a terminal all passwords are requested before the start, with the board's name") {
  const TwoBoards two({.kind = each_kind(), .key_login = false});
  two.configure_with("");
  TerminalOptions options;
  options.variables = two.a.board.client_variables();
  Words words = two.words({}, {"job", kBoardJob, "say", "done"});
  words[2] = (two.a.user.project() / "main").string();
  TypedTerminal terminal(msprof_path(), words, options);
  REQUIRE(terminal.wait_for("password for " + two.a.board.address()));
  CHECK_FALSE(terminal.echoes());
  terminal.type("blue;kite#7\n");
  REQUIRE(terminal.wait_for("password for " + two.b.board.address()));
  CHECK_FALSE(contains(terminal.screen(), "running"));
  terminal.type("mistyped\n");
  REQUIRE(terminal.wait_for("password for " + two.b.board.address(), 2));
  terminal.type("blue;kite#7\n");
  const RunResult run = terminal.wait();
  INFO(run.err);
  CHECK(run.exit_code == 0);
  CHECK(contains(run.out, "a: done\n"));
  CHECK(contains(run.out, "b: done\n"));
  CHECK_FALSE(contains(run.err, "kite#7"));
  CHECK(terminal.is_as_usual());
  CHECK(two.litter() == "");
}

TEST_CASE("Keys and results of one board are not sent to another") {
  const TwoBoards two;
  fs::copy_file(two.b.board.client_key(), two.a.user.project() / "key_of_b");
  write_file(two.ini("b"), "[ssh_config]\nip = 127.0.0.1\nusername = board\nport = " +
                               std::to_string(two.b.board.port()) +
                               "\nkey = " + (two.a.user.project() / "key_of_b").string() +
                               "\nconnect_timeout = " + kAmple + "\n");
  fs::permissions(two.ini("b"), fs::perms::owner_read | fs::perms::owner_write);
  fs::permissions(two.a.user.project() / "key_of_b",
                  fs::perms::owner_read | fs::perms::owner_write);
  Words words = two.words({}, {"job", kBoardJob});
  // Without --output, results go to the project itself, where the second run finds the first run's
  // results.
  words.erase(words.begin() + 9, words.begin() + 11);
  words.insert(words.begin() + 1, "--keep");
  for (int turn = 0; turn < 2; ++turn) {
    const RunResult run = run_msprof(words, two.a.user.run_options());
    INFO(run.err);
    CHECK(run.exit_code == 0);
  }
  CHECK(names_in(two.a.user.project() / "a") == Words{kBoardJob, std::string(kBoardJob) + "~2"});
  for (const BoardServer* board : {&two.a.board, &two.b.board}) {
    for (const auto& entry : fs::recursive_directory_iterator(board->home() / "msprof")) {
      INFO(entry.path());
      CHECK(entry.path().filename() != "key_of_b");
      CHECK(entry.path().filename() != "a");
      CHECK(entry.path().filename() != "b");
    }
  }
}

TEST_CASE("--clean-board cleans several boards") {
  const TwoBoards two;
  CHECK(two.collect({}, {"job", kBoardJob}).exit_code == 0);
  CHECK(fs::exists(two.b.board.home() / "msprof"));
  const RunResult run =
      run_msprof({"collect", "--config", two.ini("a"), "--config", two.ini("b"), "--clean-board"},
                 two.a.user.run_options());
  INFO(run.err);
  CHECK(run.exit_code == 0);
  CHECK_FALSE(fs::exists(two.a.board.home() / "msprof"));
  CHECK_FALSE(fs::exists(two.b.board.home() / "msprof"));
}

}  // namespace msprof::test
