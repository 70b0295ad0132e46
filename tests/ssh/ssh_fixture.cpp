#include "ssh_fixture.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <stdexcept>

#include "support/eventually.hpp"
#include "support/files.hpp"
#include "support/run_program.hpp"

extern char** environ;

namespace msprof::test {

namespace fs = std::filesystem;

namespace {

// The user who runs the tests may have an agent with keys.
struct NoAgent {
  NoAgent() { ::unsetenv("SSH_AUTH_SOCK"); }
};
const NoAgent kNoAgent;

}  // namespace

SshLogin login_to(const BoardServer& board) {
  SshLogin login;
  login.host = BoardServer::host();
  login.port = board.port();
  login.user = BoardServer::user();
  login.connect_timeout_seconds = kAmpleSeconds;
  login.ssh_folder = board.client_home() / ".ssh";
  login.password.first = [text = board.password()]() -> std::optional<Secret> {
    return Secret(std::string(text));
  };
  return login;
}

SshLogin login_through(const BoardServer& board, std::uint16_t port) {
  SshLogin login = login_to(board);
  login.port = port;
  login.host_key = HostKeyPolicy::off;
  return login;
}

std::string thrown_message(Exit code, const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    INFO(error.what());
    CHECK(static_cast<int>(error.code()) == static_cast<int>(code));
    return error.what();
  }
  FAIL("no error was thrown");
  return {};
}

std::string lost_by(const std::function<void()>& action) {
  try {
    action();
  } catch (const ConnectionLost& lost) {
    return lost.what();
  }
  FAIL("the connection was not lost");
  return {};
}

std::string login_refusal(const SshLogin& login) {
  return thrown_message(Exit::board_unreachable, [&] { SshConnection::open(login); });
}

CommandEnd wait_for_end(SshCommand& command) {
  const HangDeadline deadline;
  for (;;) {
    if (const auto end = command.wait(std::chrono::seconds(5))) return *end;
    if (deadline.is_over()) throw std::runtime_error("it never ended");
  }
}

Ran run(SshConnection& connection, const std::string& command, std::string_view input) {
  Ran ran;
  const auto started = connection.start(
      command, [&](std::string_view bytes) { ran.out += bytes; },
      [&](std::string_view bytes) { ran.err += bytes; });
  const HangDeadline deadline;
  while (!input.empty()) {
    const std::size_t taken = started->write(input);
    input.remove_prefix(taken);
    if (taken > 0) continue;
    if (const auto end = started->wait(std::chrono::seconds(5))) {
      ran.end = *end;
      return ran;
    }
    if (deadline.is_over()) throw std::runtime_error("it takes no input");
  }
  started->close_input();
  ran.end = wait_for_end(*started);
  return ran;
}

void reconfigure(BoardServer& board, const std::string& sshd_options) {
  const fs::path config = board.tools().parent_path() / "etc/sshd_config";
  board.stop();
  write_file(config, sshd_options + "\n" + read_file(config));
  board.start();
}

std::string tool(const std::string& shell_command) {
  const RunResult result = run_program("/bin/sh", {"-c", shell_command});
  if (result.exit_code != 0) throw std::runtime_error(shell_command + ": " + result.err);
  return result.out;
}

std::string pattern(std::size_t size) {
  std::string text;
  text.reserve(size + 16);
  for (std::uint64_t i = 0; text.size() < size; ++i) {
    const std::uint64_t mixed = i * 0x9e3779b97f4a7c15U;
    text.append(reinterpret_cast<const char*>(&mixed), sizeof mixed);
  }
  text.resize(size);
  return text;
}

Agent::Agent() {
  const std::string socket = folder_ / "socket";
  std::string program = "ssh-agent";
  std::string words[] = {"ssh-agent", "-D", "-a", socket};
  char* pointers[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  const int code = ::posix_spawnp(&pid_, program.c_str(), &actions, nullptr, pointers, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (code != 0) throw std::runtime_error("ssh-agent cannot be started");
  if (!eventually([&] { return fs::exists(socket); })) {
    throw std::runtime_error("ssh-agent does not start");
  }
  variable_.emplace("SSH_AUTH_SOCK", socket);
}

Agent::~Agent() {
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void Agent::add(const fs::path& key) const {
  tool("ssh-add -q '" + key.string() + "'");
}

}  // namespace msprof::test
