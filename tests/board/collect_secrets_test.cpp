// The password of a board: where it comes from, and where it must never appear.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "board/collect_board_fixture.hpp"
#include "board/collect_views.hpp"
#include "support/files.hpp"
#include "support/typed_terminal.hpp"

namespace msprof::test {

namespace fs = std::filesystem;

namespace {

// A password that no other test uses, so that all processes can be searched; contains characters
// that ini files, shells and JSON treat specially.
std::string odd_password() {
  return " se;c #re%t=\"$HOME`'\\ \xc3\xa4" + std::to_string(::getpid());
}

BoardOptions by_password(BoardKind kind) {
  return {.kind = kind, .password = odd_password(), .key_login = false};
}

std::string ini_without_password(const BoardServer& board) {
  return "[ssh_config]\nip = 127.0.0.1\nusername = board\nport = " + std::to_string(board.port()) +
         "\nconnect_timeout = " + kAmple + "\n";
}

// Ini files strip blanks around a value.
std::string ini_password(const std::string& password) {
  return "pwd = " + password + "\n";
}

RunResult run_with_variable(const BoardUser& user, const std::string& value,
                            const Words& application) {
  RunOptions options = user.run_options();
  options.variables.emplace_back("MSPROF_SSH_PASSWORD", value);
  return run_msprof(user.words({}, application), options);
}

RunResult run_with_stdin(const BoardUser& user, const std::string& input) {
  return BoardCollecting(user, {"--password-stdin"}, {"job", kBoardJob, "echo-stdin"}, input)
      .wait();
}

}  // namespace

TEST_CASE("The password comes by stdin, before the variable, before the ini") {
  const BoardScene scene(by_password(each_kind()));
  const std::string right = scene.board.password();
  const std::string none = ini_without_password(scene.board);
  const Words job = {"job", kBoardJob};
  // A wrong password is ignored in a source of lower priority, but used in one of higher priority.
  configure(scene.user, none + "pwd = wrong\n");
  CHECK(scene.user.collect({}, job).exit_code == 6);
  CHECK(run_with_variable(scene.user, right, job).exit_code == 0);
  RunOptions options = scene.user.run_options();
  options.variables.emplace_back("MSPROF_SSH_PASSWORD", "wrong, too");
  CHECK(run_msprof(scene.user.words({}, job), options).exit_code == 6);
  const RunResult by_stdin = run_with_stdin(scene.user, right + "\nfor the application\n");
  INFO(by_stdin.err);
  CHECK(by_stdin.exit_code == 0);
  CHECK(by_stdin.out == "for the application\n");
  CHECK(run_with_stdin(scene.user, right + "\r\n").exit_code == 0);
  configure(scene.user, none);
  const RunResult none_at_all = scene.user.collect({}, job);
  CHECK(none_at_all.exit_code == 6);
  CHECK(contains(none_at_all.err, "--password-stdin"));
  const RunResult wrong = run_with_stdin(scene.user, "wrong\n");
  CHECK(wrong.exit_code == 6);
  const RunResult empty = run_with_stdin(scene.user, "");
  CHECK(empty.exit_code == 2);
  CHECK(contains(empty.err, "--password-stdin"));
  CHECK(scene.litter() == "");
}

TEST_CASE("A password with every special character of ini files is read unchanged") {
  const bool is_long = GENERATE(false, true);
  const bool is_vendors = GENERATE(false, true);
  const std::string password =
      is_long ? std::string(300, 'x')
              : "a ;b #c %d =e [f] \"g\" '" + std::to_string(::getpid()) + "\\n";
  const BoardScene scene({.password = password, .key_login = false});
  const std::string text =
      is_vendors ? "\xef\xbb\xbf[SSH_CONFIG]\r\n  BOARD_IP=127.0.0.1\r\n\tUSER = board\r\n"
                   "   PASSWORD = " +
                       password + "\r\n PORT = " + std::to_string(scene.board.port()) + "\r\n"
                 : ini_without_password(scene.board) + ini_password(password);
  configure(scene.user, text);
  const RunResult run = scene.user.collect({"-v"}, {"job", kBoardJob});
  INFO(run.err);
  CHECK(run.exit_code == 0);
  CHECK_FALSE(contains(run.out + run.err, password));
  CHECK(scene.litter() == "");
}

TEST_CASE("On a terminal the password prompt does not echo") {
  const BoardScene scene(by_password(each_kind()));
  configure(scene.user, ini_without_password(scene.board));
  Words words = {"collect",  "-v",
                 "-m",       scene.user.project() / "main",
                 "--config", scene.user.ini(),
                 "--output", scene.user.output(),
                 "--",       "job",
                 kBoardJob};
  TypedTerminal terminal(msprof_path(), words, {.variables = scene.board.client_variables()});
  REQUIRE(terminal.wait_for("password for " + scene.board.address()));
  CHECK_FALSE(terminal.echoes());
  SECTION("the right one") {
    terminal.type(scene.board.password() + "\n");
    const RunResult run = terminal.wait();
    INFO(run.err);
    CHECK(run.exit_code == 0);
    CHECK(scene.arrived() == Words{kBoardJob});
  }
  SECTION("a wrong one first") {
    terminal.type("wrong;one\n");
    REQUIRE(terminal.wait_for("refused by the board; password for " + scene.board.address()));
    CHECK_FALSE(terminal.echoes());
    terminal.type(scene.board.password() + "\n");
    const RunResult run = terminal.wait();
    INFO(run.err);
    CHECK(run.exit_code == 0);
    CHECK_FALSE(contains(run.err, "wrong;one"));
    CHECK(scene.arrived() == Words{kBoardJob});
  }
  SECTION("three wrong ones") {
    terminal.type("wrong;one\n");
    for (const int refusals : {1, 2}) {
      REQUIRE(terminal.wait_for("refused by the board; ", refusals));
      terminal.type("wrong;one\n");
    }
    const RunResult run = terminal.wait();
    CHECK(run.exit_code == 6);
    CHECK(contains(run.err, "login refused; tried: password (3 times); the board offers"));
    CHECK_FALSE(contains(run.err, "wrong;one"));
    CHECK(scene.arrived().empty());
  }
  SECTION("Ctrl-C") {
    terminal.type("\x03");
    CHECK(terminal.wait().exit_code == 130);
    CHECK(scene.arrived().empty());
  }
  CHECK(terminal.echoes());
  CHECK_FALSE(contains(terminal.screen(), scene.board.password()));
  CHECK(scene.litter() == "");
}

TEST_CASE("On a terminal the passphrase of a key is requested, again if mistyped") {
  const BoardScene scene({.kind = each_kind()});
  configure(scene.user, ini_without_password(scene.board));
  const std::string passphrase = "pass phrase " + std::to_string(::getpid());
  const std::string key = scene.user.at("locked");
  fs::copy_file(scene.board.client_key(), key);
  const auto lock = [&](const std::string& file) {
    REQUIRE(run_program("/usr/bin/env",
                        {"ssh-keygen", "-q", "-p", "-P", "", "-N", passphrase, "-f", file})
                .exit_code == 0);
  };
  lock(key);
  const auto start = [&](const std::string& file) {
    const Words words = {
        "collect", "-v",  "-m",       scene.user.project() / "main", "--config", scene.user.ini(),
        "--key",   file,  "--output", scene.user.output(),           "--",       "sleep",
        "0",       "job", kBoardJob};
    return std::make_unique<TypedTerminal>(
        msprof_path(), words, TerminalOptions{.variables = scene.board.client_variables()});
  };
  const std::string question = "passphrase of the key " + key + ": ";
  SECTION("the right one, the second time") {
    const auto terminal = start(key);
    REQUIRE(terminal->wait_for(question));
    CHECK_FALSE(terminal->echoes());
    terminal->type("mistyped\n");
    REQUIRE(terminal->wait_for("wrong passphrase; " + question));
    terminal->type(passphrase + "\n");
    const RunResult run = terminal->wait();
    INFO(run.err);
    CHECK(run.exit_code == 0);
    CHECK(contains(run.err, "logged in with key " + key));
    CHECK_FALSE(contains(run.err, passphrase));
    CHECK_FALSE(contains(run.err, "mistyped"));
    CHECK(scene.arrived() == Words{kBoardJob});
    for (const fs::path& folder :
         {scene.user.output(), scene.board.home(), scene.board.client_home()}) {
      CHECK(files_with(folder, passphrase).empty());
    }
  }
  SECTION("none: the password is the next way in") {
    const auto terminal = start(key);
    REQUIRE(terminal->wait_for(question));
    terminal->type("\n");
    REQUIRE(terminal->wait_for("password for " + scene.board.address()));
    terminal->type(scene.board.password() + "\n");
    CHECK(terminal->wait().exit_code == 0);
  }
  SECTION("nobody is asked about a key that the board does not take") {
    const std::string other = scene.user.at("other");
    REQUIRE(
        run_program("/usr/bin/env", {"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", other})
            .exit_code == 0);
    lock(other);
    const auto terminal = start(other);
    REQUIRE(terminal->wait_for("password for " + scene.board.address()));
    terminal->type("\x04");
    const RunResult run = terminal->wait();
    CHECK(run.exit_code == 6);
    CHECK_FALSE(contains(run.err, "passphrase of the key"));
    CHECK(contains(run.err, "tried: key " + other + "; the board offers"));
  }
  CHECK(scene.litter() == "");
}

TEST_CASE("The password is in no argument, no environment, no message and no file") {
  const std::string source = GENERATE("ini", "variable", "stdin");
  const BoardKind kind = each_kind();
  INFO(source);
  // Without surrounding blanks, so that the ini file preserves it.
  const std::string password = "se;c#ret" + std::to_string(::getpid());
  const BoardScene scene({.kind = kind, .password = password, .key_login = false});
  const fs::path project = scene.user.project();
  write_file(project / "show.sh",
             "#!/bin/sh\n./main job " + std::string(kBoardJob) +
                 "\nenv >environment\ncat /proc/*/cmdline 2>/dev/null | tr '\\000' ' ' >arguments\n"
                 "echo up\n: >\"$1\"\nwhile ! [ -e \"$1.go\" ]; do sleep 0.01; done\n");
  fs::permissions(project / "show.sh", fs::perms::owner_all);
  configure(scene.user, ini_without_password(scene.board) +
                            (source == "ini" ? ini_password(password) : std::string()));
  fs::create_directories(scene.user.at("tmp"));
  RunOptions options = scene.user.run_options();
  options.variables.emplace_back("TMPDIR", scene.user.at("tmp"));
  if (source == "variable") options.variables.emplace_back("MSPROF_SSH_PASSWORD", password);
  const std::string up = scene.user.at("up");
  const std::string input = scene.user.at("input");
  write_file(input, source == "stdin" ? password + "\n" : "");
  Words words = {"-c",       R"(exec "$@" <"$0")",
                 input,      msprof_path(),
                 "collect",  "-v",
                 "-m",       "show.sh",
                 "--config", scene.user.ini(),
                 "--output", scene.user.output(),
                 "--keep"};
  if (source == "stdin") words.push_back("--password-stdin");
  words.insert(words.end(), {"--", up});
  RunningProgram running("/bin/sh", words, options);
  REQUIRE(eventually([&] { return fs::exists(up) || running.has_ended(); }));
  CHECK_FALSE(running.has_ended());
  // During the run, no process of this machine, which is also the board, may show the password.
  CHECK(processes_with(password).empty());
  CHECK(files_with(scene.board.home(), password).empty());
  CHECK(files_with(scene.user.at("tmp"), password).empty());
  write_file(up + ".go", "");
  const RunResult run = running.wait();
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  CHECK(contains(run.out, "up\n"));
  CHECK_FALSE(contains(run.out + run.err, password));
  const fs::path files = scene.user.output() / (std::string(kBoardJob) + ".files");
  CHECK(contains(read_file(files / "environment"), "HOME="));
  CHECK(contains(read_file(files / "arguments"), "show.sh"));
  CHECK_FALSE(contains(read_file(files / "environment"), "MSPROF_SSH_PASSWORD"));
  CHECK(files_with(scene.user.output(), password).empty());
  CHECK(files_with(scene.board.home(), password).empty());
  CHECK(files_with(scene.board.client_home(), password).empty());
  CHECK(names_in(scene.user.at("tmp")).empty());
  CHECK(litter_on(scene.board, 1) == "");
}

TEST_CASE("A local application does not get the board's password") {
  const BoardScene scene;
  const std::string password = "se;c#ret" + std::to_string(::getpid());
  RunOptions options = scene.user.run_options();
  options.variables.emplace_back("MSPROF_SSH_PASSWORD", password);
  options.variables.emplace_back("XDG_CACHE_HOME", scene.user.at("cache"));
  const RunResult run = run_msprof({"collect", "-m", "main", "--output", scene.user.output(), "--",
                                    "env", "MSPROF_SSH_PASSWORD", "job", kBoardJob},
                                   options);
  CHECK(run.exit_code == 0);
  CHECK(run.out == "(unset)\n");
  const RunResult by_hand =
      scene.user.collect({"--env", "MSPROF_SSH_PASSWORD=" + password}, {"job", kBoardJob});
  CHECK(by_hand.exit_code == 2);
  CHECK(contains(by_hand.err, "--env"));
  CHECK_FALSE(contains(by_hand.err, password));
}

}  // namespace msprof::test
