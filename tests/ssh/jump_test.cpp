// Hosts reached through jump hosts: real servers on the loopback as jump hosts and boards.
#include <catch2/catch.hpp>
#include <utility>
#include <vector>

#include "ssh/run_hosts.hpp"
#include "ssh_fixture.hpp"
#include "support/eventually.hpp"
#include "support/network_proxy.hpp"
#include "support/sample.hpp"

using namespace msprof;
using namespace msprof::test;

namespace {

SshLogin jump_to(const BoardServer& server) {
  SshLogin login = login_to(server);
  login.role = "jump host";
  return login;
}

SshLogin over(SshLogin login, const std::vector<SshLogin>& jumps) {
  login.jumps = jumps;
  return login;
}

// Kinds of the jump host and the board.
using JumpKinds = std::pair<BoardKind, BoardKind>;

JumpKinds each_jump() {
  std::vector<JumpKinds> kinds;
  for (const BoardKind jump : kBothServers) {
    for (const BoardKind board : kBothServers) kinds.emplace_back(jump, board);
  }
  return GENERATE_COPY(from_range(sample(kinds, 2)));
}

}  // namespace

TEST_CASE("Commands and files work through a jump host") {
  const auto [jump_kind, kind] = each_jump();
  const BoardServer gate({.kind = jump_kind, .password = "gate;1"});
  const BoardServer board({.kind = kind});
  const SshLogin login = over(login_to(board), {jump_to(gate)});
  CHECK(login.way() == gate.address());
  const auto connection = SshConnection::open(login);
  CHECK(connection->login_method() == "password");
  CHECK(run(*connection, "echo here; echo there >&2; exit 3").end.exit_code == 3);
  CHECK(board.connections() >= 1);
  CHECK(gate.connections() == 1);
  // Several commands at once; dropbear needs a session for each.
  std::string first;
  const auto one = connection->start("read word; echo \"got $word\"",
                                     [&](std::string_view text) { first += text; }, {});
  CHECK(run(*connection, "echo two").out == "two\n");
  CHECK(one->write("word\n") == 5);
  CHECK(wait_for_end(*one).exit_code == 0);
  CHECK(first == "got word\n");
  CHECK(gate.connections() == 1);
  if (kind == BoardKind::openssh) {
    const auto files = connection->sftp();
    REQUIRE(files);
    CHECK_FALSE(files->list("/").empty());
  }
}

TEST_CASE("A stream is complete through a jump host, in both directions at once") {
  const auto [jump_kind, kind] = each_jump();
  const BoardServer gate({.kind = jump_kind});
  const BoardServer board({.kind = kind});
  const auto connection = SshConnection::open(over(login_to(board), {jump_to(gate)}));
  // More than all windows and buffers in between can hold.
  const std::string bytes = pattern(5 << 20);
  CHECK(run(*connection, "cat", bytes).out == bytes);
}

TEST_CASE("Two jump hosts form a chain, and closing it closes all") {
  const BoardServer first({.password = "first;1"});
  const BoardServer second({.kind = BoardKind::dropbear, .password = "second;1"});
  const BoardServer board;
  {
    const auto connection =
        SshConnection::open(over(login_to(board), {jump_to(first), jump_to(second)}));
    CHECK(run(*connection, "echo here").out == "here\n");
    const std::string bytes = pattern(2 << 20);
    CHECK(run(*connection, "cat", bytes).out == bytes);
  }
  CHECK(eventually(
      [&] { return first.connections() + second.connections() + board.connections() == 0; }));
}

TEST_CASE("A failure on the way reports the jump host and the cause") {
  const BoardServer gate({.password = "gate;1"});
  const BoardServer board;
  const SshLogin login = login_to(board);
  const auto refused = [&](const SshLogin& jump) {
    const std::string text = login_refusal(over(login, {jump}));
    UNSCOPED_INFO(text);
    CHECK(
        contains(text, "connecting to " + board.address() + ", jump host 1 of 1: " + jump.name()));
    return text;
  };
  SshLogin jump = jump_to(gate);
  const ReservedPort closed;
  jump.port = closed.number();
  CHECK(contains(refused(jump), "connection refused"));

  const SilentServer silent;
  jump.port = silent.port();
  jump.connect_timeout_seconds = 0.5;
  CHECK(contains(refused(jump), "0.5 s"));

  jump = jump_to(gate);
  jump.password.first = [] { return Secret("wrong;1"); };
  const std::string text = refused(jump);
  CHECK(contains(text, "login refused; tried: password; the jump host offers"));
  CHECK_FALSE(contains(text, "wrong;1"));

  jump = jump_to(gate);
  gate.forget_host_key();
  CHECK(contains(refused(jump), "unknown host key"));
  CHECK(contains(refused(jump), "if it is the jump host's"));
  CHECK_FALSE(contains(board.log(), "Connection from"));

  // The second of two jump hosts.
  jump.host_key = HostKeyPolicy::off;
  SshLogin other = jump;
  other.port = closed.number();
  const std::string second = login_refusal(over(login, {jump, other}));
  INFO(second);
  CHECK(contains(second, "jump host 2 of 2: " + other.name()));
  CHECK(contains(second, "the jump host " + jump.name() + " cannot connect to 127.0.0.1 port"));
}

TEST_CASE("A board unreachable from the jump host is distinguished from an unreachable jump host") {
  BoardServer gate;
  const BoardServer board;
  const SshLogin jump = jump_to(gate);
  SshLogin login = over(login_to(board), {jump});
  const ReservedPort closed;
  login.port = closed.number();
  std::string text = login_refusal(login);
  INFO(text);
  CHECK(contains(text, login.name() + ": the jump host " + jump.name() + " cannot connect to"));
  CHECK(contains(text, "Connection refused"));

  const SilentServer silent;
  login.port = silent.port();
  // If the jump host takes longer than the limit, the silence is not the board's: a longer limit is
  // tried.
  for (const double limit : {1.0, 8.0, 64.0}) {
    login.connect_timeout_seconds = limit;
    text = login_refusal(login);
    if (!contains(text, "through the jump host")) break;
  }
  INFO(text);
  CHECK(contains(text, login.name() + ": no answer within "));
  CHECK(contains(text, " s from port"));

  login = over(login_to(board), {jump});
  login.password.first = [] { return Secret("wrong;1"); };
  text = login_refusal(login);
  CHECK(text.find(board.address() + ": login refused") == 0);
  CHECK(contains(text, "the board offers"));

  login = over(login_to(board), {jump});
  reconfigure(gate, "AllowTcpForwarding no");
  text = login_refusal(login);
  CHECK(contains(text, "does not allow forwarding"));
}

TEST_CASE("A connection lost with its jump host is reported with its name and restored") {
  const bool has_two = GENERATE(false, true);
  BoardServer first;
  BoardServer second;
  const BoardServer board;
  std::vector<SshLogin> jumps = {jump_to(first)};
  if (has_two) jumps.push_back(jump_to(second));
  const SshLogin login = over(login_to(board), jumps);
  auto connection = SshConnection::open(login);
  std::string out;
  const auto command = connection->start("echo up; exec sleep 1000",
                                         [&](std::string_view bytes) { out += bytes; }, {});
  while (out != "up\n") REQUIRE_FALSE(command->wait(std::chrono::milliseconds(100)));
  // The second jump host if there are two, else the first.
  BoardServer& gone = has_two ? second : first;
  gone.stop();
  std::string text = lost_by([&] { wait_for_end(*command); });
  INFO(text);
  CHECK(text.find(board.address() + ": the connection was lost: ") == 0);
  CHECK(contains(text, "the jump host " + gone.address()));
  connection.reset();
  text = login_refusal(login);
  CHECK(contains(text, has_two ? "the jump host " + first.address() + " cannot connect to"
                               : gone.address() + ": connection refused"));
  CHECK(contains(text, gone.address()));
  gone.start();
  connection = SshConnection::open(login);
  CHECK(run(*connection, "echo again").out == "again\n");
  first.drop_connections();
  text = lost_by([&] { run(*connection, "exec sleep 1000"); });
  CHECK(contains(text, "the jump host " + first.address()));
}

TEST_CASE("A connection closed by the board is not attributed to the jump host") {
  const BoardServer gate;
  BoardServer board;
  const auto connection = SshConnection::open(over(login_to(board), {jump_to(gate)}));
  std::string out;
  const auto command = connection->start("echo up; exec sleep 1000",
                                         [&](std::string_view bytes) { out += bytes; }, {});
  while (out != "up\n") REQUIRE_FALSE(command->wait(std::chrono::milliseconds(100)));
  board.stop();
  const std::string text = lost_by([&] { wait_for_end(*command); });
  INFO(text);
  CHECK(contains(text, board.address() + ": the connection was lost: the board closed it"));
  CHECK_FALSE(contains(text, "jump host"));
}

TEST_CASE("A jump host that stops responding while connecting to a board times out") {
  const BoardServer gate;
  const BoardServer board;
  NetworkProxy proxy(gate.port(), {}, std::nullopt);
  SshLogin jump = jump_to(gate);
  jump.port = proxy.port();
  jump.host_key = HostKeyPolicy::off;
  SshLogin login = over(login_to(board), {jump});
  login.connect_timeout_seconds = 1;
  // Freezes once the jump host has accepted the login.
  login.jumps[0].on_step = [&](LoginStep step) {
    if (step == LoginStep::logged_in) proxy.freeze(true);
  };
  const std::string text = login_refusal(login);
  INFO(text);
  CHECK(contains(text, "no answer within 1 s through the jump host " + jump.name()));
}

TEST_CASE("The accepted key of a jump host is also kept for the run") {
  BoardServer gate({.password = "gate;1"});
  const BoardServer board;
  SshLogin jump = jump_to(gate);
  jump.host_key = HostKeyPolicy::accept_new;
  jump.known_hosts = {"/dev/null"};
  int asked = 0;
  jump.password.first = [&, source = jump.password.first] {
    ++asked;
    return source();
  };
  SshLogin login = over(login_to(board), {jump});
  login.run_hosts = std::make_shared<RunHosts>();
  CHECK(SshConnection::open(login) != nullptr);
  const std::string accepted = gate.host_key_fingerprint();
  gate.change_host_key();
  const std::string text = login_refusal(login);
  INFO(text);
  CHECK(contains(text, "jump host 1 of 1: " + gate.address()));
  CHECK(contains(text, "accepted was " + accepted));
  CHECK(contains(text, "presented was " + gate.host_key_fingerprint()));
  CHECK(asked == 1);
}
