#include <signal.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "base/interrupt.hpp"
#include "ssh_fixture.hpp"
#include "support/eventually.hpp"
#include "support/files.hpp"
#include "support/network_proxy.hpp"

using namespace msprof;
using namespace msprof::test;

namespace {

using std::chrono::milliseconds;

// Waits until `condition` holds, and handles input for `command` meanwhile.
void wait_until(SshCommand& command, const std::function<bool()>& condition) {
  const HangDeadline deadline;
  while (!condition()) {
    if (command.wait(milliseconds(100)) && !condition()) FAIL("the command ended");
    if (deadline.is_over()) FAIL("it never came");
  }
}

}  // namespace

TEST_CASE("A command returns its exit code, and stdout and stderr separately") {
  for (const BoardKind kind : kBothServers) {
    const BoardServer board({.kind = kind});
    const auto connection = SshConnection::open(login_to(board));
    const Ran ran = run(*connection, "printf 'out\\n'; printf 'err\\n' >&2; exit 7");
    CHECK(ran.out == "out\n");
    CHECK(ran.err == "err\n");
    CHECK(ran.end.exit_code == 7);
    CHECK(ran.end.signal.empty());
    CHECK(run(*connection, "true").end.exit_code == 0);
    CHECK(run(*connection, "no-such-program-here").end.exit_code == 127);
  }
}

TEST_CASE("A command killed by a signal reports the signal and no exit code") {
  for (const BoardKind kind : kBothServers) {
    const BoardServer board({.kind = kind});
    const auto connection = SshConnection::open(login_to(board));
    for (const std::string name : {"SEGV", "TERM", "KILL", "ABRT"}) {
      const Ran ran = run(*connection, "kill -" + name + " $$");
      CHECK(ran.end.signal == name);
      CHECK_FALSE(ran.end.exit_code.has_value());
    }
  }
}

TEST_CASE("A command can be stopped from a second channel of the same connection") {
  for (const BoardKind kind : kBothServers) {
    const BoardServer board({.kind = kind});
    const auto connection = SshConnection::open(login_to(board));
    std::string pid;
    const auto command = connection->start(
        "echo $$; exec sleep 1000", [&](std::string_view bytes) { pid += bytes; }, ignore);
    wait_until(*command, [&] { return contains(pid, "\n"); });
    CHECK(run(*connection, "kill " + pid).end.exit_code == 0);
    CHECK(wait_for_end(*command).signal == "TERM");
  }
}

TEST_CASE("A command can start at the moment another one ends") {
  // dropbear would confuse the end of one command with that of the other, and exit.
  for (const BoardKind kind : kBothServers) {
    const BoardServer board({.kind = kind});
    const DelayProxy proxy(board.port(), milliseconds(10));
    const auto connection = SshConnection::open(login_through(board, proxy.port()));
    for (int i = 10; i < 40; ++i) {
      const auto ending = connection->start("sleep 0.0" + std::to_string(i), ignore, ignore);
      const Ran ran = run(*connection, "echo started");
      CHECK(ran.out == "started\n");
      CHECK(ran.end.exit_code == 0);
      CHECK(wait_for_end(*ending).exit_code == 0);
    }
    // One connection per concurrent process; they are reused.
    CHECK(board.connections() == (kind == BoardKind::dropbear ? 2 : 1));
  }
}

TEST_CASE("A second concurrent process needs neither the password nor the host key again") {
  const BoardServer board({.kind = BoardKind::dropbear});
  board.forget_host_key();
  SshLogin login = login_to(board);
  login.host_key = HostKeyPolicy::accept_new;
  int asked = 0;
  login.password.first = [&]() -> std::optional<Secret> {
    ++asked;
    return Secret(std::string(board.password()));
  };
  const auto connection = SshConnection::open(login);
  const auto command = connection->start("exec sleep 1000", ignore, ignore);
  // Asks only once even if the host key is not saved.
  write_file(board.known_hosts(), "");
  CHECK(run(*connection, "echo here").out == "here\n");
  CHECK(asked == 1);
  CHECK(read_file(board.known_hosts()).empty());
}

TEST_CASE("A second concurrent process also starts after Ctrl-C and without a second login") {
  const BoardServer board({.kind = BoardKind::dropbear});
  CutProxy proxy(board.port());
  const auto connection = SshConnection::open(login_through(board, proxy.port()));
  const auto command = connection->start("exec sleep 1000", ignore, ignore);
  interrupt::install();
  ::raise(SIGINT);
  CHECK(run(*connection, "echo here").out == "here\n");
  CHECK(interrupt::count() == 1);
  interrupt::acknowledge();
  CHECK(proxy.connections() == 2);
  const auto third = connection->start("exec sleep 1000", ignore, ignore);
  proxy.refuse(true);
  CHECK(run(*connection, "echo still").out == "still\n");
  CHECK(proxy.connections() == 2);
}

TEST_CASE("Waiting for an endless command returns at the time limit") {
  const BoardServer board;
  const auto connection = SshConnection::open(login_to(board));
  const auto command = connection->start("exec sleep 1000", ignore, ignore);
  CHECK_FALSE(command->wait(milliseconds(0)).has_value());
  CHECK_FALSE(command->wait(milliseconds(300)).has_value());
  CHECK_FALSE(command->reported_end().has_value());
}

TEST_CASE("Every byte is transferred unchanged, on both streams and on stdin") {
  for (const BoardKind kind : kBothServers) {
    const BoardServer board({.kind = kind});
    const auto connection = SshConnection::open(login_to(board));
    std::string bytes;
    for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
    bytes += "\r\n\n\r\x04\x03";
    const Ran ran = run(*connection, "tee /dev/stderr", bytes);
    CHECK(ran.out == bytes);
    CHECK(ran.err == bytes);
  }
}

TEST_CASE("Thirty commands one after another run on one connection") {
  for (const BoardKind kind : kBothServers) {
    const BoardServer board({.kind = kind});
    const auto connection = SshConnection::open(login_to(board));
    for (int i = 0; i < 30; ++i) {
      const Ran ran = run(*connection, "echo " + std::to_string(i) + "; exit " + std::to_string(i));
      CHECK(ran.out == std::to_string(i) + "\n");
      CHECK(ran.end.exit_code == i);
    }
    CHECK(board.connections() == 1);
  }
}

TEST_CASE("Waiting for one command also delivers output of another") {
  const BoardServer board;
  const auto connection = SshConnection::open(login_to(board));
  std::string first;
  std::string second;
  const auto slow = connection->start(
      "read line; echo \"slow $line\"", [&](std::string_view bytes) { first += bytes; }, ignore);
  const auto quick = connection->start(
      "echo quick; echo err >&2; exit 3", [&](std::string_view bytes) { second += bytes; },
      [&](std::string_view bytes) { second += bytes; });
  // Waits only for the slow command.
  while (second.size() < 10) CHECK_FALSE(slow->wait(milliseconds(50)).has_value());
  CHECK(contains(second, "quick\n"));
  CHECK(contains(second, "err\n"));
  CHECK(slow->write("down\n") == 5);
  CHECK(wait_for_end(*slow).exit_code == 0);
  CHECK(first == "slow down\n");
  CHECK(wait_for_end(*quick).exit_code == 3);
}

TEST_CASE("The exit of a process is reported while its children hold its streams") {
  // dropbear reports the exit only together with the end of the streams.
  const BoardServer board;
  const auto connection = SshConnection::open(login_to(board));
  const auto command = connection->start("sleep 1000 & exit 5", ignore, ignore);
  wait_until(*command, [&] { return command->reported_end().has_value(); });
  CHECK(command->reported_end()->exit_code == 5);
  CHECK_FALSE(command->wait(milliseconds(0)).has_value());
}

TEST_CASE("An abandoned command does not affect the connection") {
  for (const BoardKind kind : kBothServers) {
    const BoardServer board({.kind = kind});
    const auto connection = SshConnection::open(login_to(board));
    for (int i = 0; i < 12; ++i) {
      std::size_t seen = 0;
      const auto command = connection->start(
          "exec yes", [&](std::string_view bytes) { seen += bytes.size(); }, ignore);
      wait_until(*command, [&] { return seen > 1'000'000; });
    }
    CHECK(board.connections() <= 2);
    CHECK(run(*connection, "echo still here").out == "still here\n");
  }
}

TEST_CASE("More commands than the board allows cause a message, and the others continue") {
  BoardServer board;
  reconfigure(board, "MaxSessions 2");
  const auto connection = SshConnection::open(login_to(board));
  const auto first = connection->start("cat", ignore, ignore);
  const auto second = connection->start("cat", ignore, ignore);
  const std::string text = thrown_message(Exit::board_unreachable, [&] {
    wait_for_end(*connection->start("echo third", ignore, ignore));
  });
  INFO(text);
  CHECK(contains(text, board.address() + ": the board refuses to start a command"));
  first->close_input();
  CHECK(wait_for_end(*first).exit_code == 0);
  second->close_input();
  CHECK(wait_for_end(*second).exit_code == 0);
}

TEST_CASE("An exception of a sink is rethrown by wait, and the connection stays usable") {
  const BoardServer board;
  const auto connection = SshConnection::open(login_to(board));
  const auto command = connection->start(
      "echo one; cat",
      [](std::string_view) { throw Error(Exit::cannot_write, "the disk is full"); }, ignore);
  CHECK(thrown_message(Exit::cannot_write, [&] { wait_for_end(*command); }) == "the disk is full");
  CHECK(run(*connection, "echo here").out == "here\n");
  command->close_input();
  CHECK(wait_for_end(*command).exit_code == 0);
}

TEST_CASE("A sink may start and destroy commands") {
  const BoardServer board;
  const auto connection = SshConnection::open(login_to(board));
  std::string out;
  std::unique_ptr<SshCommand> other = connection->start("exec yes", ignore, ignore);
  const auto command = connection->start(
      "echo go",
      [&](std::string_view) {
        other = connection->start(
            "echo from within", [&](std::string_view bytes) { out += bytes; }, ignore);
      },
      ignore);
  CHECK(wait_for_end(*command).exit_code == 0);
  CHECK(wait_for_end(*other).exit_code == 0);
  CHECK(out == "from within\n");
}

TEST_CASE("A command that does not read accepts only a bounded amount") {
  for (const BoardKind kind : kBothServers) {
    const BoardServer board({.kind = kind});
    const auto connection = SshConnection::open(login_to(board));
    const auto command = connection->start("exec sleep 1000", ignore, ignore);
    const std::string block(1 << 20, 'x');
    std::size_t taken = 0;
    int quiet = 0;
    while (quiet < 5) {
      const std::size_t now = command->write(block);
      taken += now;
      quiet = now > 0 ? 0 : quiet + 1;
      if (now == 0) CHECK_FALSE(command->wait(milliseconds(50)).has_value());
    }
    CHECK(taken > 0);
    CHECK(taken < 8U << 20);
    CHECK(run(*connection, "echo here").out == "here\n");
  }
}

TEST_CASE("A command that ends without reading its input ends with data still unsent") {
  for (const BoardKind kind : kBothServers) {
    const BoardServer board({.kind = kind});
    const auto connection = SshConnection::open(login_to(board));
    const Ran ran = run(*connection, "exit 9", std::string(20 << 20, 'x'));
    CHECK(ran.end.exit_code == 9);
    CHECK(run(*connection, "echo here").out == "here\n");
  }
}

TEST_CASE("After a command ends, writes fail, and the end is remembered") {
  const BoardServer board;
  const auto connection = SshConnection::open(login_to(board));
  const auto command = connection->start("exit 2", ignore, ignore);
  CHECK(wait_for_end(*command).exit_code == 2);
  CHECK(command->write("late") == 0);
  command->close_input();
  CHECK(wait_for_end(*command).exit_code == 2);
  CHECK(command->reported_end()->exit_code == 2);
}

TEST_CASE("Signals neither end a wait nor break the connection") {
  const BoardServer board;
  const auto connection = SshConnection::open(login_to(board));
  interrupt::install();
  const interrupt::DeferSecondSignal deferred;
  const pthread_t self = ::pthread_self();
  std::thread other([self] {
    std::this_thread::sleep_for(milliseconds(20));
    ::pthread_kill(self, SIGINT);
  });
  const std::string input = pattern(20 << 20);
  const Ran ran = run(*connection, "cat; sleep 0.1", input);
  other.join();
  CHECK(interrupt::count() == 1);
  interrupt::acknowledge();
  CHECK(ran.out == input);
  CHECK(ran.end.exit_code == 0);
}

TEST_CASE("A long command line arrives whole") {
  for (const BoardKind kind : kBothServers) {
    const BoardServer board({.kind = kind});
    const auto connection = SshConnection::open(login_to(board));
    const std::string text(8'800, 'x');
    CHECK(run(*connection, "printf %s " + text).out == text);
  }
}
