#include <catch2/catch.hpp>
#include <chrono>

#include "ssh_fixture.hpp"
#include "support/eventually.hpp"
#include "support/network_proxy.hpp"

using namespace msprof;
using namespace msprof::test;

namespace {

using std::chrono::milliseconds;

// Sends a keepalive after half a second; the server has 3 s to answer.
constexpr SshPatience kPatience{.ask_seconds = 0.5, .stuck_seconds = 3.5};

// A silent command on a board with no other user.
struct Quiet {
  explicit Quiet(BoardKind kind) : board({.kind = kind}), proxy(board.port()) {
    SshLogin login = login_through(board, proxy.port());
    login.patience = kPatience;
    connection = SshConnection::open(login);
    // Longer than the time limit for a silent server.
    sleep = connection->start("sleep 4.5", ignore, ignore);
  }
  void look() {
    if (ended || !lost.empty()) return;
    try {
      ended = sleep->wait(milliseconds(50)).has_value();
    } catch (const ConnectionLost& error) {
      lost = error.what();
    }
  }
  BoardServer board;
  CutProxy proxy;
  std::unique_ptr<SshConnection> connection;
  std::unique_ptr<SshCommand> sleep;
  bool ended = false;
  std::string lost;
};

}  // namespace

TEST_CASE("A stuck server whose TCP still answers counts as lost; quiet commands do not") {
  Quiet openssh(BoardKind::openssh);
  Quiet dropbear(BoardKind::dropbear);
  Quiet stuck(BoardKind::openssh);
  stuck.proxy.freeze(true);
  const HangDeadline deadline;
  const auto waits = [](const Quiet& one) { return !one.ended && one.lost.empty(); };
  while (waits(openssh) || waits(dropbear) || waits(stuck)) {
    for (Quiet* one : {&openssh, &dropbear, &stuck}) one->look();
    if (deadline.is_over()) FAIL("it takes too long");
  }
  CHECK(openssh.lost.empty());
  CHECK(openssh.ended);
  CHECK(dropbear.lost.empty());
  CHECK(dropbear.ended);
  CHECK_FALSE(stuck.ended);
  CHECK(contains(stuck.lost, "has not responded for 3.5 s"));
}
