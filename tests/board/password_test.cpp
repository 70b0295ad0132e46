// Where a board's password comes from, and where it must not be visible.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>

#include "base/error.hpp"
#include "board/session/config.hpp"
#include "support/run_program.hpp"
#include "support/typed_terminal.hpp"

using namespace msprof;
using namespace msprof::test;

namespace {

constexpr const char* kVariable = "MSPROF_SSH_PASSWORD";
constexpr const char* kQuestion = "password for root@10.0.0.1: ";
using Words = std::vector<std::string>;
const Words kAsk = {"ask", "root"};

// Sets the variable; removes it at the end.
class PasswordVariable {
 public:
  explicit PasswordVariable(const char* value) { ::setenv(kVariable, value, 1); }
  ~PasswordVariable() { ::unsetenv(kVariable); }
  PasswordVariable(const PasswordVariable&) = delete;
  PasswordVariable& operator=(const PasswordVariable&) = delete;
};

// Read end of a pipe that holds `text` and has no writer.
class Pipe {
 public:
  explicit Pipe(const std::string& text) {
    REQUIRE(::pipe2(ends_, O_CLOEXEC) == 0);
    // Space for the whole text: there is no reader yet.
    REQUIRE(::fcntl(ends_[1], F_SETPIPE_SZ, 1 << 20) > 0);
    REQUIRE(::write(ends_[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    ::close(ends_[1]);
  }
  ~Pipe() { ::close(ends_[0]); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  int fd() const { return ends_[0]; }

 private:
  int ends_[2] = {-1, -1};
};

std::string read_line(const std::string& text) {
  const Pipe pipe(text);
  return read_password_line(pipe.fd()).reveal();
}

BoardConfig config_with(const std::string& password) {
  BoardConfig config;
  config.login.user = "root";
  config.login.host = "10.0.0.1";
  config.password = Secret(std::string(password));
  return config;
}

Secret secret(const std::string& text) {
  return Secret(std::string(text));
}

}  // namespace

TEST_CASE("the password comes from --password-stdin, then the variable, then the file") {
  const PasswordVariable first("of the variable");
  const auto given = password_source(secret("given"), config_with("of the file"));
  CHECK(given.first()->reveal() == "given");
  CHECK(std::getenv(kVariable) == nullptr);

  const PasswordVariable second("of the variable");
  const auto variable = password_source(std::nullopt, config_with("of the file"));
  CHECK(std::getenv(kVariable) == nullptr);
  CHECK(variable.first()->reveal() == "of the variable");
  CHECK(variable.first()->reveal() == "of the variable");

  const auto file = password_source(std::nullopt, config_with("of the file"));
  CHECK(file.first()->reveal() == "of the file");

  // These sources cannot be mistyped, so there is no second attempt.
  for (const SecretSource& source : {given, variable, file}) CHECK_FALSE(source.again);
}

TEST_CASE("an empty variable is none, and goes too") {
  const PasswordVariable empty("");
  const auto source = password_source(std::nullopt, config_with("of the file"));
  CHECK(std::getenv(kVariable) == nullptr);
  CHECK(source.first()->reveal() == "of the file");
  CHECK_FALSE(take_password_variable());
}

TEST_CASE("the variable's bytes are gone from what the process shows") {
  using Variables = std::vector<std::pair<std::string, std::string>>;
  const auto take = [](const Variables& variables) {
    return run_program(LOGIN_HELPER, {"take"}, {.variables = variables}).out;
  };
  CHECK(take({{kVariable, "hunter2-s3cret"}}) == "'hunter2-s3cret'\n");
  CHECK(take({{kVariable, "hunter2-s3cret"}, {"A", "b"}, {kVariable, "hunter2-s3cret-2"}}) ==
        "'hunter2-s3cret'\n");
  CHECK(take({{"MSPROF_SSH_PASSWORD_FILE", "hunter2-s3cret"}}) == "none\n");
  // The helper reports exposed passwords.
  CHECK(take({{kVariable, "hunter2-s3cret"}, {"OTHER", "hunter2-s3cret"}}) ==
        "'hunter2-s3cret' exposed\n");
}

TEST_CASE("--password-stdin takes the first line to the byte") {
  CHECK(read_line("a ;b#c%d=e \n") == "a ;b#c%d=e ");
  CHECK(read_line("  blanks around  \nmore") == "  blanks around  ");
  CHECK(read_line("of windows\r\n") == "of windows");
  CHECK(read_line("without an end") == "without an end");
  CHECK(read_line("\xE5\xAF\x86\n") == "\xE5\xAF\x86");
  CHECK(read_line(std::string(60'000, 'x') + "\n").size() == 60'000);
}

TEST_CASE("--password-stdin leaves the rest of stdin to who comes next") {
  const Pipe pipe("s3cret\nfirst line\nsecond line\n");
  CHECK(read_password_line(pipe.fd()).reveal() == "s3cret");
  char rest[64] = {};
  const ssize_t size = ::read(pipe.fd(), rest, sizeof rest);
  CHECK(std::string(rest, static_cast<std::size_t>(size)) == "first line\nsecond line\n");

  const auto result = run_program(
      "/bin/bash", {"-c", "printf 's3cret\\nfor the application\\n' | " LOGIN_HELPER " line"});
  CHECK(result.out == "'s3cret'\nfor the application\n");
}

TEST_CASE("--password-stdin waits for a writer that takes its time") {
  const auto result = run_program(
      "/bin/bash",
      {"-c", "(printf s3; sleep 0.1; printf 'cret\\n'; printf rest) | " LOGIN_HELPER " line"});
  CHECK(result.out == "'s3cret'\nrest");
}

TEST_CASE("a stdin without a password is refused with a sentence that has none of it") {
  const auto refused = [](const std::string& text, const std::string& part) {
    try {
      read_line(text);
      FAIL_CHECK("taken");
    } catch (const Error& error) {
      INFO(error.what());
      CHECK(error.code() == Exit::usage);
      CHECK(std::string(error.what()).find(part) != std::string::npos);
      CHECK(std::string(error.what()).find("hunter2") == std::string::npos);
    }
  };
  refused("", "empty");
  refused("\n", "empty");
  refused("\r\nhunter2\n", "empty");
  refused(std::string("hunter2\0x\n", 10), "NUL");
  refused("hunter2" + std::string(70'000, 'x') + "\n", "64 KB");
}

TEST_CASE("--password-stdin refuses a terminal, which would show what is typed") {
  TypedTerminal terminal(LOGIN_HELPER, {"line"});
  const RunResult result = terminal.wait();
  CHECK(result.exit_code == 2);
  CHECK(result.err.find("--password-stdin") != std::string::npos);
}

TEST_CASE("the question is asked once, on the terminal, and the answer is not shown") {
  // stdin is a terminal or a file for the application; with or without /dev/tty.
  const TerminalOptions options = GENERATE(TerminalOptions{}, TerminalOptions{.stdin_is_it = false},
                                           TerminalOptions{.controlling = false});
  TypedTerminal terminal(LOGIN_HELPER, kAsk, options);
  REQUIRE(terminal.wait_for(kQuestion));
  CHECK_FALSE(terminal.echoes());
  terminal.type("hunter2 ;x\n");
  const RunResult result = terminal.wait();
  CHECK(result.out == "'hunter2 ;x'|'hunter2 ;x'\n");
  CHECK(result.err == std::string(kQuestion) + "\r\n");
  CHECK(terminal.echoes());
}

TEST_CASE("what was typed can be typed again, and the last answer is the one that is remembered") {
  const std::string passphrase = "passphrase of the key /home/me/key: ";
  const bool is_key = GENERATE(false, true);
  const Words words = is_key ? Words{"unlock", "/home/me/key"} : Words{"retry", "root"};
  TypedTerminal terminal(LOGIN_HELPER, words);
  REQUIRE(terminal.wait_for(is_key ? passphrase : kQuestion));
  terminal.type("mistyped\n");
  REQUIRE(terminal.wait_for(is_key ? "wrong passphrase; " + passphrase
                                   : std::string("refused by the board; ") + kQuestion));
  CHECK_FALSE(terminal.echoes());
  terminal.type("right\n");
  const RunResult result = terminal.wait();
  CHECK(result.out == "'mistyped'|'right'|'right'\n");
  CHECK_FALSE(result.err.find("mistyped") != std::string::npos);
  CHECK(terminal.echoes());
}

TEST_CASE("a question ended by a signal leaves the terminal as it was") {
  const int how = GENERATE(0, 1, 2);
  TypedTerminal terminal(LOGIN_HELPER, kAsk);
  REQUIRE(terminal.wait_for(kQuestion));
  terminal.type("hunt");
  if (how == 0) terminal.type("\x03");
  if (how == 1) terminal.send(SIGTERM);
  if (how == 2) {
    // Both signals at once: the second would end a program immediately, but the terminal is
    // restored first.
    for (const int number : {SIGSTOP, SIGTERM, SIGINT, SIGCONT}) terminal.send(number);
  }
  const RunResult result = terminal.wait();
  CHECK(result.exit_code == 130);
  CHECK(result.out.empty());
  CHECK(result.err.find("hunt") == std::string::npos);
  CHECK(terminal.echoes());
}

TEST_CASE("Ctrl-Z and Ctrl-\\ do not leave a silent terminal behind") {
  TypedTerminal terminal(LOGIN_HELPER, kAsk);
  REQUIRE(terminal.wait_for(kQuestion));
  terminal.type("\x1a\x1cx\n");
  const RunResult result = terminal.wait();
  CHECK(result.exit_code == 0);
  CHECK(result.out == "'\x1a\x1cx'|'\x1a\x1cx'\n");
  CHECK(terminal.echoes());
}

TEST_CASE("an end of file instead of an answer is no password") {
  TypedTerminal terminal(LOGIN_HELPER, kAsk);
  REQUIRE(terminal.wait_for(kQuestion));
  terminal.type("\x04");
  REQUIRE(terminal.wait_for(std::string(kQuestion) + "\r\n" + kQuestion));
  terminal.type("\x04");
  const RunResult result = terminal.wait();
  CHECK(result.out == "none|none\n");
  CHECK(terminal.echoes());
}

TEST_CASE("nobody is asked where stderr is no terminal") {
  const RunResult result = run_program(LOGIN_HELPER, kAsk);
  CHECK(result.exit_code == 0);
  CHECK(result.out == "none|none\n");
  CHECK(result.err.empty());
}
