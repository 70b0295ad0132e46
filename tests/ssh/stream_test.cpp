#include <catch2/catch.hpp>
#include <chrono>

#include "ssh_fixture.hpp"
#include "support/eventually.hpp"
#include "support/network_proxy.hpp"
#include "support/sample.hpp"

using namespace msprof;
using namespace msprof::test;

namespace {

using std::chrono::milliseconds;

}  // namespace

TEST_CASE("Megabytes through cat are unchanged, in both directions at once") {
  for (const BoardKind kind : {BoardKind::openssh, BoardKind::dropbear}) {
    const BoardServer board({.kind = kind});
    const auto connection = SshConnection::open(login_to(board));
    // Several times the size of the windows in both directions.
    const std::string input = pattern(tests_whole() ? 50 << 20 : 12 << 20);
    const Ran ran = run(*connection, "cat", input);
    CHECK(ran.end.exit_code == 0);
    CHECK(ran.out.size() == input.size());
    CHECK((ran.out == input));
  }
}

TEST_CASE("Rekeying within a stream loses no data") {
  BoardServer board;
  reconfigure(board, "RekeyLimit 1M");
  const auto connection = SshConnection::open(login_to(board));
  const std::string input = pattern(20 << 20);
  const Ran ran = run(*connection, "cat", input);
  CHECK(ran.end.exit_code == 0);
  CHECK((ran.out == input));
  CHECK(run(*connection, "echo here").out == "here\n");
}

TEST_CASE("Two concurrent streams are complete") {
  const BoardServer board;
  const auto connection = SshConnection::open(login_to(board));
  std::size_t first = 0;
  std::size_t second = 0;
  const std::string command = "head -c 20000000 /dev/zero";
  const auto one = connection->start(
      command, [&](std::string_view bytes) { first += bytes.size(); }, ignore);
  const auto two = connection->start(
      command, [&](std::string_view bytes) { second += bytes.size(); }, ignore);
  CHECK(wait_for_end(*one).exit_code == 0);
  CHECK(wait_for_end(*two).exit_code == 0);
  CHECK(first == 20'000'000);
  CHECK(second == 20'000'000);
}

TEST_CASE("A stream with high latency is complete") {
  const BoardServer board;
  const DelayProxy proxy(board.port(), milliseconds(20));
  const auto connection = SshConnection::open(login_through(board, proxy.port()));
  const std::string input = pattern(8 << 20);
  const Ran ran = run(*connection, "cat", input);
  CHECK((ran.out == input));
}

TEST_CASE("A connection lost during a command keeps the data received before") {
  for (const CutKind kind : {CutKind::reset, CutKind::close}) {
    const BoardServer board;
    CutProxy proxy(board.port());
    const auto connection = SshConnection::open(login_through(board, proxy.port()));
    std::string out;
    const auto command = connection->start(
        "echo before; exec sleep 1000", [&](std::string_view bytes) { out += bytes; }, ignore);
    while (out != "before\n") command->wait(milliseconds(100));
    proxy.cut_now(kind);
    const std::string text = lost_by([&] { wait_for_end(*command); });
    INFO(text);
    CHECK(
        contains(text, "127.0.0.1:" + std::to_string(proxy.port()) + ": the connection was lost"));
    // A lost connection stays lost: all operations fail.
    lost_by([&] { command->wait(milliseconds(0)); });
    lost_by([&] { command->write("x"); });
    lost_by([&] { connection->start("true", ignore, ignore); });
    lost_by([&] { connection->sftp(); });
  }
}

TEST_CASE("A connection lost during a stream is reported, up and down") {
  const BoardServer board;
  for (const Direction direction : {Direction::up, Direction::down}) {
    CutProxy proxy(board.port(), {.after_bytes = 3'000'000, .direction = direction});
    const auto connection = SshConnection::open(login_through(board, proxy.port()));
    const std::string input = pattern(20 << 20);
    const std::string text = lost_by([&] { run(*connection, "cat", input); });
    INFO(text);
    CHECK(contains(text, "the connection was lost"));
  }
}

TEST_CASE("A board whose server ends is reported as lost") {
  for (const BoardKind kind : {BoardKind::openssh, BoardKind::dropbear}) {
    BoardServer board({.kind = kind});
    const auto connection = SshConnection::open(login_to(board));
    const auto command = connection->start("exec sleep 1000", ignore, ignore);
    board.stop();
    lost_by([&] { wait_for_end(*command); });
  }
}

TEST_CASE("A command that outlives its connection object is lost, without a crash") {
  const BoardServer board;
  auto connection = SshConnection::open(login_to(board));
  const auto command = connection->start("exec sleep 1000", ignore, ignore);
  connection.reset();
  CHECK(contains(lost_by([&] { command->wait(milliseconds(10)); }), "was closed"));
  lost_by([&] { command->write("x"); });
  lost_by([&] { command->close_input(); });
  CHECK(eventually([&] { return board.connections() == 0; }));
}
